"""GROUP BY planning and the group aggregate operator."""
