"""Stage 1, script -> statements: parse text into frozen statements with places.

- `lexer` splits the text into tokens and statements.
- The parser is our own, with one class per layer: `expressions`, then `queries`, then `statements`.
  It returns values of `statements.model`. Their queries and expressions are sqlglot trees with a
  few additional nodes (`nodes`), each with its place (`place`).
- `dialect` writes a tree as Flink SQL.
- `parse` is the entry point.

The catalog reads the statements. Flink statements that streamtable lacks are refused here by name
(`statements.refused`).
"""
