"""Lowering of Top-N."""
