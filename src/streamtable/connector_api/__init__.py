"""The interfaces of connectors and formats: the seam between the engine and external systems.

In: nothing of a connector. Out: protocols that `plan`, `operators` and `runtime` call, and that the
packages under `streamtable.connectors` or other packages implement. Optional methods have a default
that declines; a connector overrides the methods that it supports.

| Module | Content |
|---|---|
| `connector` | `ConnectorFactory`; `Readable`, `Lookable`, `Writable`: tables with these ends |
| `source` | `Source`: reads rows, names splits, reports lag and progress |
| `lookup` | `Lookup`: finds rows by key for lookup joins |
| `sink` | `Sink` and `Rollback`: write rows, check targets, roll back to a checkpoint |
| `format` | `Format`: bytes <-> columns |
| `preflight` | `Preflight`, `Resource`: what a job checks and creates before it starts |
| `registry` | finds connectors and formats by the entry points of installed packages |
"""
