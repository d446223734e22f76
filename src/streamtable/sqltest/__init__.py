"""Unit tests of streaming SQL: a YAML file with input rows and the expected tables of a script.

`files` finds the test files, `document` reads them, and `bind` checks their tables, columns and
values against the script. `memory` runs the script on the test harness of operators, without Kafka
and without a streaming query. `compare` and `diff` compare the result. The next stages are
`streamtable test` and the pytest plugin, which show it.
"""
