"""Expression parser: types, literals, calls and operators, one layer per class."""
