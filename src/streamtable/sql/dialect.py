"""Flink dialect of sqlglot: writes trees as SQL, for plans and messages.

sqlglot's parser is not used: `Flink.parse` calls our parser.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator, tokens
from sqlglot.dialects.dialect import Dialect

from streamtable.core.secrets import MASK, is_secret
from streamtable.sql import nodes
from streamtable.sql.lexer.words import BARE_FUNCTIONS, RESERVED
from streamtable.sql.parse import parse_query

_COLLECTIONS = ("ARRAY", "MAP")
_BETWEEN_ARGUMENTS = {
    "EXTRACT": (" FROM ",),
    "POSITION": (" IN ",),
    "OVERLAY": (" PLACING ", " FROM ", " FOR "),
}


class FlinkGenerator(generator.Generator):
    """Write trees of our parser as Flink SQL; parsing the text gives the same tree."""

    RESERVED_KEYWORDS: ClassVar[set[str]] = {word.lower() for word in RESERVED}
    NVL2_SUPPORTED = False
    TABLE_HINTS = True

    TRANSFORMS: ClassVar[dict[Any, Any]] = {
        **generator.Generator.TRANSFORMS,
        nodes.FlinkType: lambda _, node: node.this.sql(),
        nodes.FlinkCall: lambda self, node: self.call_sql(node),
        nodes.CallClause: lambda self, node: self.clause_sql(node),
        nodes.TemporalLiteral: lambda _, node: f"{node.args['to'].this.root.value} '{node.this}'",
        nodes.IntervalLiteral: lambda _, node: f"INTERVAL '{node.this}' {node.args['unit']}",
        nodes.HintNode: lambda self, node: self.hint_node_sql(node),
        nodes.HintOption: lambda _, node: hint_option_sql(node),
        nodes.TableFunction: lambda self, node: self.table_function_sql(node),
        nodes.TableArgument: lambda self, node: self.table_argument_sql(node),
        nodes.JoinGroup: lambda self, node: f"({self.sql(node, 'this')}{self.joins_sql(node)})",
        nodes.MatchRecognize: lambda self, node: self.match_recognize_sql(node),
        nodes.PatternVariable: lambda self, node: self.pattern_variable_sql(node),
        nodes.FinalCall: lambda self, node: f"FINAL {self.sql(node, 'this')}",
    }

    def call_sql(self, node: nodes.FlinkCall) -> str:
        """Write a call with its clauses."""
        name, arguments = node.name, node.expressions
        if not arguments and name in BARE_FUNCTIONS:
            return name
        if name == "IS_JSON":
            return f"{self.sql(arguments[0])} IS JSON {self.sql(arguments[1])}"
        inside = self._inside(name, [self.sql(argument) for argument in arguments], arguments)
        if name in _COLLECTIONS:
            return f"{name}[{inside}]"
        if node.args.get("distinct"):
            inside = f"DISTINCT {inside}"
        clauses = [self.sql(clause) for clause in node.args.get("clauses") or ()]
        text = f"{name}({' '.join([*([inside] if inside else []), *clauses])})"
        if order := node.args.get("order"):
            text += f" WITHIN GROUP ({self.sql(order).strip()})"
        if condition := node.args.get("filter"):
            text += f" FILTER (WHERE {self.sql(condition)})"
        if nulls := node.args.get("nulls"):
            text += f" {nulls} NULLS"
        return text

    def _inside(self, name: str, texts: list[str], arguments: list[exp.Expr]) -> str:
        """Write the text between the parentheses; some functions use keywords instead of commas."""
        if name == "TRIM" and len(texts) > 1:
            return f"{texts[0]} {texts[1]} FROM {texts[2]}"
        if name in ("FLOOR", "CEIL", "CEILING") and isinstance(arguments[-1], exp.Var):
            return " TO ".join(texts)
        if name in ("JSON_OBJECT", "JSON_OBJECTAGG"):
            pairs = zip(texts[::2], texts[1::2], strict=True)
            return ", ".join(f"KEY {key} VALUE {value}" for key, value in pairs)
        words = _BETWEEN_ARGUMENTS.get(name)
        if words is None:
            return ", ".join(texts)
        return texts[0] + "".join(a + b for a, b in zip(words, texts[1:], strict=False))

    def clause_sql(self, node: nodes.CallClause) -> str:
        """Write `RETURNING INT`, `WITHOUT WRAPPER`, `DEFAULT 1 ON EMPTY`."""
        value = self.sql(node, "expression")
        if node.name == "RETURNING":
            return f"RETURNING {value}"
        if node.name == "WRAPPER":
            return f"WITHOUT {node.name}" if value == "WITHOUT" else f"WITH {value} {node.name}"
        default = "" if isinstance(node.expression, exp.Var) else "DEFAULT "
        return f"{default}{value} {node.name}"

    def hint_node_sql(self, node: nodes.HintNode) -> str:
        """Write `OPTIONS('k'='v')`."""
        texts = [self.sql(part) for part in node.expressions]
        return f"{node.name}({', '.join(texts)})" if texts else node.name

    def hint_sql(self, expression: exp.Hint) -> str:
        """Write `/*+ ... */` after SELECT."""
        return f" /*+ {self.expressions(expression, flat=True)} */"

    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        """Write a table; hints and FOR SYSTEM_TIME precede the alias."""
        text = self.table_parts(expression)
        if hints := expression.args.get("hints"):
            text += f" /*+ {', '.join(self.sql(hint) for hint in hints)} */"
        if version := expression.args.get("version"):
            text += f" FOR SYSTEM_TIME AS OF {self.sql(version, 'expression')}"
        alias = self.sql(expression, "alias")
        return f"{text}{sep}{alias}" if alias else text

    def table_function_sql(self, node: nodes.TableFunction) -> str:
        """Write `[LATERAL] TABLE(f(...))`."""
        lateral = "LATERAL " if node.args.get("lateral") else ""
        alias = self.sql(node, "alias")
        return f"{lateral}TABLE({self.sql(node, 'this')})" + (f" AS {alias}" if alias else "")

    def joins_sql(self, node: nodes.JoinGroup) -> str:
        """Write the joins of a group, each with a space before it."""
        return "".join(self.sql(join) for join in node.args["joins"])

    def table_argument_sql(self, node: nodes.TableArgument) -> str:
        """Write `TABLE t PARTITION BY (a, b) ORDER BY (a, b)`."""
        text = f"TABLE {self.sql(node, 'this')}"
        if keys := node.args.get("partition_by"):
            text += f" PARTITION BY ({self._listed(keys)})"
        if order := node.args.get("order"):
            text += f" ORDER BY ({self._listed(order.expressions)})"
        return text

    def match_recognize_sql(self, node: nodes.MatchRecognize) -> str:
        """Write `t MATCH_RECOGNIZE (...) AS m`."""
        clauses = []
        if keys := node.args.get("partition_by"):
            clauses.append(f"PARTITION BY {self._listed(keys)}")
        if order := node.args.get("order"):
            clauses.append(self.sql(order).strip())
        if measures := node.args.get("measures"):
            clauses.append(f"MEASURES {self._listed(measures)}")
        if skip := node.args.get("skip"):
            text = f"{skip.this} {self.sql(skip, 'variable')}".rstrip()
            clauses.append(f"AFTER MATCH SKIP {text}")
        pattern = " ".join(self.sql(variable) for variable in node.args["pattern"])
        clauses.append(f"PATTERN ({pattern})")
        if within := node.args.get("within"):
            clauses.append(f"WITHIN {self.sql(within)}")
        defined = (
            f"{self.sql(alias, 'alias')} AS {self.sql(alias, 'this')}"
            for alias in node.args["define"]
        )
        clauses.append(f"DEFINE {', '.join(defined)}")
        alias = self.sql(node, "alias")
        text = f"{self.sql(node, 'this')} MATCH_RECOGNIZE ({' '.join(clauses)})"
        return f"{text} AS {alias}" if alias else text

    def pattern_variable_sql(self, node: nodes.PatternVariable) -> str:
        """Write `A{1,2}?`."""
        least, most = node.args["minimum"], node.args.get("maximum")
        counts = f"{{{least},{'' if most is None else most}}}"
        sign = "" if (least, most) == (1, 1) and not node.args.get("reluctant") else counts
        return f"{self.sql(node, 'this')}{sign}{'?' if node.args.get('reluctant') else ''}"

    def _listed(self, items: list[exp.Expr]) -> str:
        return ", ".join(self.sql(item) for item in items)

    def not_sql(self, expression: exp.Not) -> str:
        """Write NOT in its usual position: `a IS NOT NULL`, `a NOT IN (...)`."""
        inside = expression.this
        left = inside.this if isinstance(inside, exp.Escape) else inside
        within = (exp.Is, exp.In, exp.Between, exp.Like, exp.SimilarTo)
        if not isinstance(left, within):
            return super().not_sql(expression)
        before = self.sql(left, "this")
        behind = self.sql(inside).removeprefix(before)
        if isinstance(inside, exp.Is):
            return f"{before} IS NOT{behind.removeprefix(' IS')}"
        return f"{before} NOT{behind}"

    def between_sql(self, expression: exp.Between) -> str:
        """Write BETWEEN, with SYMMETRIC if the query has it."""
        this, low, high = (self.sql(expression, name) for name in ("this", "low", "high"))
        symmetric = " SYMMETRIC" if expression.args.get("symmetric") else ""
        return f"{this} BETWEEN{symmetric} {low} AND {high}"

    def ordered_sql(self, expression: exp.Ordered) -> str:
        """Write a sort key, with NULLS FIRST or LAST only if the query has it."""
        text = self.sql(expression, "this") + (" DESC" if expression.args.get("desc") else "")
        match expression.args.get("nulls_first"):
            case None:
                return text
            case first:
                return f"{text} NULLS {'FIRST' if first else 'LAST'}"

    def hexstring_sql(
        self, expression: exp.HexString, binary_function_repr: str | None = None
    ) -> str:
        """Write `X'1F'`."""
        del binary_function_repr
        return f"X'{expression.this}'"


class Flink(Dialect):
    """Flink SQL: names in backticks, strings in single quotes; names are case-sensitive."""

    NORMALIZE_FUNCTIONS: bool | str = False

    class Tokenizer(tokens.Tokenizer):
        """Quotes that sqlglot writes."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]

    Generator = FlinkGenerator

    def parse(self, sql: str, **opts: Any) -> list[exp.Expr | None]:
        """Parse one query with our parser."""
        del opts
        return [parse_query(sql)]


def flink_sql(node: exp.Expr, *, quoted: bool = False) -> str:
    """Write a tree of our parser as Flink SQL on one line; secrets in hints are masked.

    Args:
        node: the tree.
        quoted: whether to quote all names with backticks, or only those that need it.
    """
    return node.sql(dialect=Flink, identify=quoted)


def hint_option_sql(node: nodes.HintOption) -> str:
    """Write `'k'='v'`, secrets masked."""
    value = MASK if is_secret(node.name) else node.expression.name
    return f"{_quoted(node.name)}={_quoted(value)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
