"""Adoption of the sink topics that another engine has written with the same script."""
