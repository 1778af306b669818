"""A made-up hospital network that asks every area a question: rows by a seed, a declaration, a ledger, and scenes for the report.

One file an area, each with `show(folder, stage)`; `stage` is where it is shown, `made_up_values` is what is shown, and `table` puts it
on disk.
"""
