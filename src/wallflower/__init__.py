"""Wallflower."""
