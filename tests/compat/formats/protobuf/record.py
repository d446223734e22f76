"""Ask a real Flink for the answers: `python record.py VERSION CLASSPATH PROTOC`.

PYTHONPATH is `src:.`. CLASSPATH holds Flink's jars, `flink-protobuf` and `protobuf-java`. PROTOC is
the `protoc` of the same version as `protobuf-java`, such as Maven's `com.google.protobuf:protoc`.
Writes `flink-VERSION.json`, and `three.bin` and `two.bin`, protoc's descriptor sets.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from cases import HERE, all_cases
from tests.compat.asking import ask


def main() -> None:
    """Run every case through Flink's own classes."""
    version, classpath, compiler = sys.argv[1:]
    asked = [
        {
            "id": case.id,
            "message": case.message,
            "type": case.row_type,
            "options": case.options,
            "value": base64.b64encode(case.value).decode(),
        }
        for case in all_cases()
    ]
    with tempfile.TemporaryDirectory() as folder:
        runtime = next(jar for jar in classpath.split(":") if "/protobuf-java-" in jar)
        with zipfile.ZipFile(runtime) as jar:  # the .proto files that come with protobuf
            jar.extractall(folder)
        protoc = [compiler, f"-I{HERE}", f"-I{folder}"]
        for name in ("three", "two"):
            out = f"--descriptor_set_out={HERE / name}.bin"
            subprocess.run([*protoc, "--include_imports", out, f"{name}.proto"], check=True)
            subprocess.run([*protoc, f"--java_out={folder}", f"{name}.proto"], check=True)
        sources = [str(path) for path in (Path(folder) / "com" / "example").rglob("*.java")]
        subprocess.run(["javac", "-nowarn", "-cp", classpath, "-d", folder, *sources], check=True)
        target = HERE / f"flink-{version}.json"
        ask(HERE / "FlinkProtobuf.java", asked, version, f"{classpath}:{folder}", target)


if __name__ == "__main__":
    main()
