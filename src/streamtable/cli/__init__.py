"""Command line of streamtable: `main` is the entry point, with one module per subcommand."""
