"""Promises, what they add up to, and the book that keeps them. Convention: amounts are exact fractions, never floats.

- `guarantees`: promises as frozen values, each with a sentence for people; `price` says one before any row is read
- `accounts` (argument: `accounts.md`): which accounts a promise is booked in, and what limits them
- `accountants` (`accountants.md`): sums and conversions inside one query
- `ledger`: the file; its events are `books`, what a charge must pass `rules`, what a declaration may change `changes`,
  what can be wrong with the file `troubles`, and the plain words of `show` and `history` `statement`
- `release`: what leaves the owner's desk, and the wrapper for what must not
"""
