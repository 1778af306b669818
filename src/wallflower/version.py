"""The version, said once: a leaf, so that anything may name it."""

__version__ = "0.2.0"
