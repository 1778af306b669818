"""Speed as ratios against named baselines in the same run, and as growth over sizes."""
