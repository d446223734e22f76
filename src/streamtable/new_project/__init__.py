"""New projects: a folder with a script, its test file, a README and a CI file.

`create` fills the templates of this package. `streamtable new` calls it.
"""
