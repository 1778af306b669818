"""The service: many people ask, one organisation answers.

The same declarations, the same ledger, the same `Session`, with a queue in front. `parser.load` reads SERVICE.toml,
`supervisor.Supervisor` runs it: a web process that opens no rows (`web`), workers that do (`worker`), ticks (`ticks`,
`queue`), people and roles (`people`, `authorisation`, `grants`), requests and decisions (`requests`).
"""
