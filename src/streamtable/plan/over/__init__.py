"""OVER aggregates and their operators."""
