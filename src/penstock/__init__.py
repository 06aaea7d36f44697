"""Continuous SPARQL queries over RDF streams.

    import penstock as ps

    ps.parse(text)                    # the syntax tree of a query, in any of six dialects
    ps.check(text)                    # its errors and warnings
    ps.translate(text, to="rspql")    # the same query in another dialect

    engine = ps.Engine()              # the embedded engine: streams and graphs in, continuous queries over them
    engine.stream("http://ex.org/toll", "toll.tnt")
    engine.register(text).to_df()

`import penstock` costs next to nothing: each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.api.engine import Engine
    from penstock.api.language import check, parse, translate
    from penstock.rdf.results import Evaluation
    from penstock.sources.spark.templates import triples
    from penstock.syntax.errors import Problem, QuerySyntaxError, TranslationError

__version__ = "0.1.0"

__all__ = [
    "Engine",
    "Evaluation",
    "Problem",
    "QuerySyntaxError",
    "TranslationError",
    "__version__",
    "check",
    "parse",
    "translate",
    "triples",
]

_HOMES = {
    "Engine": "penstock.api.engine",
    "Evaluation": "penstock.rdf.results",
    "check": "penstock.api.language",
    "parse": "penstock.api.language",
    "translate": "penstock.api.language",
    "triples": "penstock.sources.spark.templates",
    "Problem": "penstock.syntax.errors",
    "QuerySyntaxError": "penstock.syntax.errors",
    "TranslationError": "penstock.syntax.errors",
}


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module 'penstock' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
