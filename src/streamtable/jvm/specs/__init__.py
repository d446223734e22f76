"""Values that cross the bridge: readers and operators, in modules named after Java packages."""
