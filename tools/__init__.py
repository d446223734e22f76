"""Tools of the Makefile: wheels, licences, version ranges."""
