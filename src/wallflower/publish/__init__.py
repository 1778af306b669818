"""Publish a table in which outliers blend into the crowd: plain k-anonymity, checked exactly.

`PlainTable` is the question. Underneath: `space` says what near means, `checker` decides who is an outlier and whether a group
gives one away, `anonymise` forms groups, `sheet` writes the file, `attacks` tries to undo it.
"""

from wallflower.publish.queries import PlainTable

__all__ = ["PlainTable"]
