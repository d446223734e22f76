"""Ask a real Flink for the values of `functions.txt`, and write them to `functions.json`.

Run it in its own Python environment, never the product's:

    python3 -m venv F && F/bin/pip install apache-flink==2.2.0
    F/bin/python tests/compat/functions/record_functions.py

In `functions.txt`, `@zone NAME` sets the session time zone and `#` begins a heading. Recorded
answers stay; `--all` records all answers again, which takes a quarter of an hour.
"""

from __future__ import annotations

import datetime
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from functions_table import flink_ddl, flink_json
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.version import __version__

HERE = Path(__file__).parent
_AT_ONCE = 40


def plain(value: Any) -> Any:
    """Convert a Java value to JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (bytes, bytearray)):
        return "hex:" + bytes(value).hex()
    if type(value).__name__ == "Decimal":
        return format(value, "f")
    if not hasattr(value, "getClass"):
        return [plain(item) for item in value]
    name = value.getClass().getName()
    if name.startswith("["):
        return [plain(item) for item in value]
    if name == "org.apache.flink.types.Row":
        return {"row": [plain(value.getField(i)) for i in range(value.getArity())]}
    if "Map" in name:
        pairs = [[plain(e.getKey()), plain(e.getValue())] for e in value.entrySet()]
        return {"map": sorted(pairs, key=repr)}
    return value.toString()


class Flink:
    """A batch session over a table with one row."""

    def __init__(self, folder: str) -> None:
        Path(folder, "row.json").write_text(flink_json())
        self._env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self._env.get_config().set("parallelism.default", "1")
        self._env.execute_sql(flink_ddl(folder))
        self._java = self._env._j_tenv

    def answers(self, zone: str, expressions: list[str]) -> list[dict[str, Any]]:
        """Return one answer per expression: type and value, `fails`, or `error` for a refusal."""
        self._env.get_config().set("table.local-time-zone", zone)
        cases: list[dict[str, Any]] = [{"zone": zone, "sql": text} for text in expressions]
        accepted = [case for case in cases if self._describe(case)]
        for start in range(0, len(accepted), _AT_ONCE):
            self._evaluate(accepted[start : start + _AT_ONCE])
        return cases

    def _describe(self, case: dict[str, Any]) -> bool:
        try:
            schema = self._java.sqlQuery(f"SELECT {case['sql']} FROM t").getResolvedSchema()
        except Exception:
            case["error"] = True
            return False
        logical = schema.getColumnDataTypes().get(0).getLogicalType()
        case["type"] = logical.asSerializableString()
        return True

    def _evaluate(self, cases: list[dict[str, Any]]) -> None:
        """Evaluate cases in one query; if it fails, split it until the failing case is alone."""
        items = ", ".join(f"{case['sql']} AS c{i}" for i, case in enumerate(cases))
        try:
            found = self._java.executeSql(f"SELECT {items} FROM t").collect()
            row = found.next()
            values = [plain(row.getField(i)) for i in range(row.getArity())]
            found.close()
        except Exception:
            if len(cases) == 1:
                cases[0]["fails"] = True
                return
            middle = len(cases) // 2
            self._evaluate(cases[:middle])
            self._evaluate(cases[middle:])
            return
        for case, value in zip(cases, values, strict=True):
            case["value"] = value


def answered() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the recorded answers of this version of Flink."""
    file = HERE / "functions.json"
    recorded = json.loads(file.read_text()) if file.exists() else {"flink": None}
    if recorded["flink"] != __version__:
        return {}
    return {(case["zone"], case["sql"]): case for case in recorded["cases"]}


def main() -> None:
    """Ask for missing answers and write all answers."""
    zones: dict[str, list[str]] = {}
    zone = "UTC"
    for line in (HERE / "functions.txt").read_text().splitlines():
        if line.startswith("@zone "):
            zone = line.removeprefix("@zone ").strip()
        elif line.strip() and not line.startswith("#"):
            zones.setdefault(zone, []).append(line.strip())
    known = {} if "--all" in sys.argv else answered()
    with tempfile.TemporaryDirectory() as folder:
        flink = Flink(folder)
        for name, texts in zones.items():
            new = [text for text in texts if (name, text) not in known]
            known |= {(name, case["sql"]): case for case in flink.answers(name, new)}
    cases = [known[name, text] for name, texts in zones.items() for text in texts]
    recorded = {
        "flink": __version__,
        "recorded": datetime.date.today().isoformat(),
        "cases": cases,
    }
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in recorded["cases"])
    head = json.dumps({k: v for k, v in recorded.items() if k != "cases"})[:-1]
    (HERE / "functions.json").write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
    sys.stdout.write(f"{len(cases)} answers\n")


if __name__ == "__main__":
    main()
