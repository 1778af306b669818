"""In which context does a record stand out? Private contextual outlier release.

Ask: `Context`, or `Records` for several records at once. Utilities of one's own: `Utility`. A context is a set of declared values per column (`space`), in
one of four languages (`languages`); which are valid is decided exactly for every detector (`validity`); one is selected under the paper's output-constrained promise (`constrained`, `searches`) or
under full differential privacy for everyone but the asked-for record (`full`).
"""

from wallflower.explain.queries import Context
from wallflower.explain.records import Records
from wallflower.explain.utilities import Utility

__all__ = ["Context", "Records", "Utility"]
