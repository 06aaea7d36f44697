"""Statements as Spark SQL: corrections of sqlglot's output for Spark.

The trees are the same for every engine. Spark's text uses TRY_CAST wherever a cast may fail (in ANSI mode a bad cast
raises), keeps numbers beyond 64 bits as DECIMAL(38, 0), and makes no series that ends before it begins.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator


class PenstockSpark(Spark):
    class Generator(SparkGenerator):
        TYPE_MAPPING = {  # noqa: RUF012 (as sqlglot declares it)
            **SparkGenerator.TYPE_MAPPING,
            exp.DataType.Type.INT128: "DECIMAL(38, 0)",
        }
        TRANSFORMS = {  # noqa: RUF012
            **SparkGenerator.TRANSFORMS,
            exp.TryCast: lambda self, e: self.func("TRY_CAST", f"{self.sql(e, 'this')} AS {self.sql(e, 'to')}"),
            exp.Placeholder: lambda self, e: _parameter(e),
            exp.GenerateSeries: lambda self, e: _series(self, e),
        }

        def anonymous_sql(self, expression: exp.Anonymous) -> str:
            """TRY is for arithmetic: Spark has a form of each operator that returns NULL; lists are reduced."""
            match str(expression.this).upper(), expression.expressions:
                case "TRY", [tried]:
                    return self.sql(tried.transform(_tried))
                case "LIST_REDUCE", [reduced, function, initial]:
                    return self.func("AGGREGATE", reduced, initial, function)
            return super().anonymous_sql(expression)

        def cte_sql(self, expression: exp.CTE) -> str:
            """Spark itself decides what it computes once."""
            expression.set("materialized", None)
            return super().cte_sql(expression)


_TRIED: dict[type[exp.Expr], str] = {exp.Add: "TRY_ADD", exp.Sub: "TRY_SUBTRACT", exp.Mul: "TRY_MULTIPLY"}


def _tried(node: exp.Expr) -> exp.Expr:
    function = _TRIED.get(type(node))
    return node if function is None else exp.Anonymous(this=function, expressions=[node.this, node.args["expression"]])


def _parameter(placeholder: exp.Placeholder) -> str:
    return f"CAST(:{placeholder.name} AS BIGINT)"


def _series(generator: SparkGenerator, series: exp.GenerateSeries) -> str:
    start, end, step = (series.args.get(name) for name in ("start", "end", "step"))
    if series.args.get("is_end_exclusive"):
        end = exp.Paren(this=exp.Sub(this=end, expression=exp.Literal.number(1)))
    bounds = ", ".join(generator.sql(bound) for bound in (start, end, step) if bound is not None)
    first, last = generator.sql(start), generator.sql(end)
    return f"IF({first} > {last}, ARRAY(), SEQUENCE({bounds}))"


CHANGING: frozenset[str] = frozenset({"first", "last", "end", "horizon"})
"""The parameters that change each time a statement is run."""


class RepeatedSpark(PenstockSpark):
    """For statements that are run repeatedly: values that change are written as a text."""

    class Generator(PenstockSpark.Generator):
        TRANSFORMS = {  # noqa: RUF012
            **PenstockSpark.Generator.TRANSFORMS,
            exp.Placeholder: lambda self, e: at_run_time(f":{e.name}") if e.name in CHANGING else _parameter(e),
        }


def at_run_time(text: str) -> str:
    """The number in a text, as an expression.

    Numbers are part of the code that Spark generates for a statement, and Java compiles it again for each other number.
    A text is not, but Spark converts a plain cast of it in advance. It does not do so in a lambda.
    """
    return f"transform(array({text}), number -> CAST(number AS BIGINT))[0]"


def to_spark(tree: exp.Expr, *, pretty: bool = False, repeated: bool = False) -> str:
    return tree.sql(RepeatedSpark if repeated else PenstockSpark, pretty=pretty)
