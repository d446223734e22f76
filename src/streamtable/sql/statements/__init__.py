"""Statement parser: frozen statement values, and the parser layers that create them."""
