"""Registration of a script's functions in Spark."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from streamtable.catalog.functions import PythonFunction, UserFunction
from streamtable.catalog.java_functions import JavaFunction
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.java_classes import local_jar
from streamtable.runtime.session.python_functions import register_python


def register(functions: Sequence[UserFunction], files: Sequence[str], spark: SparkSession) -> None:
    """Register every function under its Spark name.

    Args:
        functions: the functions that plans may call.
        files: directories, `.py` and `.zip` files that Python functions import.
        spark: the session that runs the plans.
    """
    in_python = [function for function in functions if isinstance(function, PythonFunction)]
    register_python(in_python, files, spark)
    in_java = [f for f in functions if isinstance(f, JavaFunction) and f.is_described]
    if in_java:
        _register_java(in_java, Bridge(spark))


def _register_java(functions: Sequence[JavaFunction], bridge: Bridge) -> None:
    jars = dict.fromkeys(jar for function in functions for jar in function.jars)
    bridge.add_jars([file.absolute() for file in map(local_jar, jars) if file is not None])
    for function in functions:
        for signature in function.signatures:
            bridge.java.userfunctions.UserFunctions.register(
                bridge.java_session,
                function.spark_name_of(signature),
                function.name,
                function.class_name,
                bridge.java_list(signature.parameters),
                signature.spread,
                bridge.java_list(signature.classes),
                function.is_table,
                signature.result.spark_sql(),
                function.deterministic,
            )
