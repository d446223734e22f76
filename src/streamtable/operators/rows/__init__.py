"""Lowering of row operators: projections, filters, expansion, changelog normalization."""
