"""Where a checkpoint lies, who holds it, and how its files stay whole."""
