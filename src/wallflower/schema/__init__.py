"""What an owner declares, and nothing that is read from rows.

load, loads         a declaration file, checked (`reader`), through the one TOML front end (`parser`)
Declaration         what comes out (`declaration`), with its `domains` and `exact` numbers
draft               a first declaration of a data file, with every open question marked (`first_draft`)
json_schema         the JSON Schemas of a declaration and of a release (`json_schemas`)
"""

from wallflower.schema.declaration import Declaration
from wallflower.schema.first_draft import draft
from wallflower.schema.json_schemas import json_schema
from wallflower.schema.reader import load, loads

__all__ = ["Declaration", "draft", "json_schema", "load", "loads"]
