"""Scripts and records of the benchmarks."""
