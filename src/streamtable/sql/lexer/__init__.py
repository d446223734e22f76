"""Lexer: splits text into tokens, the first layer of the parser, with places in the script."""
