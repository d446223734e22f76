"""Batch answers: the rows that a query has after a given input, computed by Spark batch alone.

Input: a plan, and the stored changes of its scans as batch DataFrames. Output: a batch DataFrame
of the query's final rows. The operators are Spark's own (`groupBy`, joins, window functions), not
the stateful processors of a job, so that both can be compared. `answer` walks the plan; `refusals`
names operators whose result is not determined by the input. Next: `runtime`.

Every DataFrame has the row kind, which is always INSERT, then the fields of the node, then the
carried columns.
"""
