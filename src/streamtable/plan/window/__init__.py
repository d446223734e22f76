"""Time windows and watermarks: table functions and operators."""
