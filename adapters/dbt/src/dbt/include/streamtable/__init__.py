"""Macros of the adapter, which dbt loads from this folder."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)
