"""`streamtable why`: the input records of a row of a sink, or the operator that drops its key.

Input: the plan of an INSERT and the key of a row. Output: lines or JSON. `batch` computes the rows
of the plan from the stored records, and carries the records from which each row comes. `key` reads
the key, `trace` follows its columns down the plan, `walk` counts the rows of the key at each
operator from the scans upwards. Nothing is written.
"""
