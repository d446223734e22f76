"""The command line, the door of the project: `main` is the entry, one module per subcommand."""
