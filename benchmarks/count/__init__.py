"""Degrees, smooth bounds and noise of `count`."""
