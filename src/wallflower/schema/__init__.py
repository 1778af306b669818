"""What an owner declares, and nothing that is read from rows.

load, loads         a declaration file, checked (`reader`)
Declaration         what comes out (`declaration`), with its `domains` and `exact` numbers
"""

from wallflower.schema.declaration import Declaration
from wallflower.schema.reader import load, loads

__all__ = ["Declaration", "load", "loads"]
