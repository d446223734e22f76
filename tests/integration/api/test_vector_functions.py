"""Spark's functions of ML vectors. Jobs do not register them, because it takes a second."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
import time
import streamtable
from pyspark.errors import AnalysisException
from pyspark.ml.functions import array_to_vector
from pyspark.sql import functions as F

deadline = time.monotonic() + 60
with streamtable.connect() as session:
    frame = session.sql_query("SELECT 1 AS a").to_dataframe()
    while True:
        try:
            print(frame.select(array_to_vector(F.array(F.lit(1.5)))).first()[0])
            break
        except AnalysisException:
            assert time.monotonic() < deadline
            time.sleep(0.2)
"""


def test_a_job_does_not_register_vector_functions(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="UNRESOLVED_ROUTINE"):
        spark.range(1).select(array_to_vector(F.array(F.lit(1.5))))


def test_a_spark_program_can_use_vector_functions() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.returncode, run.stdout) == (0, "[1.5]\n"), run.stderr
