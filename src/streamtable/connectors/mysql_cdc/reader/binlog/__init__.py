"""Read binlogs: the stream, its events, DDL statements and row images."""
