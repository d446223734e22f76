"""Values of MySQL: types, text of snapshots, character sets, JSON and spatial values."""
