"""Promises, and what they add up to. Convention: amounts are exact fractions, never floats.

- a file for each family (`dp`, `local_dp`, …): its numbers, its sentence, its account; `guarantee` is what all of them say
- `guarantees`: promises as frozen values, each with a sentence for people; `price` says one before any row is read
- `accounts` (argument: `accounts.md`): which accounts a promise is booked in, and what limits them
- `accountants` (`accountants.md`): sums and conversions inside one query
- `release`: what leaves the owner's desk, and the wrapper for what must not
"""
