"""`wallflower stream`: a sensor, an analyst and a corrector, apart or together."""

from wallflower.cli.stream.group import register

__all__ = ["register"]
