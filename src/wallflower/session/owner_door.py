"""The owner's door: looks at the rows that never leave the desk."""

from __future__ import annotations

from wallflower.engines.base import Source
from wallflower.privacy.release import OwnerOnly
from wallflower.schema.declaration import Declaration
from wallflower.session.pricing import price_of
from wallflower.session.queries import Attack, Query
from wallflower.session.series import dated


class Owner:
    """The owner's door: unprotected looks at the rows, wrapped so that no release can hold them."""

    def __init__(self, declaration: Declaration, source: Source) -> None:
        self._declaration = declaration
        self._source = source

    def report(self, query: Query) -> OwnerOnly:
        """What was possible and what is true, for `query`. NOT PRIVATE."""
        price = price_of(query, self._declaration)
        with self._source.rows(query.columns) as rows:
            asked = [("question", query.name), ("table", self._declaration.id), *price.settings.items()]
            return OwnerOnly({"price": price, "seen": dated(query).inspect(rows)}, question=asked)

    def attack(self, attack: Attack) -> OwnerOnly:
        """What `attack` finds with the rows in hand. NOT PRIVATE."""
        with self._source.rows(attack.columns) as rows:
            return OwnerOnly(attack.run(rows))

    def check(self) -> OwnerOnly:
        """What `outside` and `missing` would do to the rows. NOT PRIVATE."""
        from wallflower.engines import examine

        return OwnerOnly(examine(self._source, self._declaration))
