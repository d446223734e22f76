"""Lowering of sources: scans, VALUES, watermarks."""
