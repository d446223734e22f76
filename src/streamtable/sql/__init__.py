"""Stage 1, script -> statements: text comes in, frozen statements with places go out to `catalog`.

`lexer` and `script` cut the text, a parser of our own in layers (listed in `forward`) turns the
tokens of one statement into a value of `statements`; queries and expressions in it are sqlglot's
trees with a few nodes of ours (`nodes`), each with its place (`place`). `dialect` writes a tree as
Flink SQL again. The door is `parse`. What Flink has and we lack is refused here by name.
"""
