"""Where a ledger's events are kept: SQLite and PostgreSQL behind one small protocol. Nothing here knows what an event says.

- `base`: rows, heads, and the protocol (make, transaction, explain); `opening` picks a store by its address
- `sqlite`, `postgresql`: the two stores; `tables` and `transaction`: the SQL they share; `ddl`: the statements that make them
- `durable_file`: a SQLite file that is on disk when a commit returns, for any book of one process
- `interrupts`: blocks that let go of what they hold wherever an interrupt comes
- `decisions`: a stream's decisions, one table with a unique key
"""
