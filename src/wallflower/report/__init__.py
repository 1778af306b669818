"""Pictures and pages for people: one visual language, no network, nothing that decides what may leave.

`figures` draws, `owner` writes the report that stays at the owner's desk. The extra `report` (matplotlib, jinja2) is
imported when a page is made.
"""
