"""Capsules: one differing key of a proof with its records, to be compared again anywhere.

Input: a `Difference` of `runtime.proof`. `selection` finds the input records that decide about the
key, `file` stores them with the script and the records of the sink, and `replay` compares both
sides over these records. Output: a zip file, and the result of its replay. Next: the commands
`prove` and `replay`.
"""
