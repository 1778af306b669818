"""What has been spent: the book of one table, kept in a store. Convention: amounts are exact fractions, never floats.

- `book`: `Ledger`, the book that is opened, charged and answered
- `journal`: its events and what they add up to
- `admission`: what a charge must pass; `redeclaration`: what a declaration may change
- `statement`: the plain words of `show` and `history`; `ledger_errors`: what can be wrong with the book, and what to do
"""

from wallflower.ledger.book import Ledger

__all__ = ["Ledger"]
