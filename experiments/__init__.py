"""The five papers' experiments, outside the wheel; wrong published variants live here and say NOT PRIVATE."""
