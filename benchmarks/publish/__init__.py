"""Speed and quality of `publish` against named baselines."""
