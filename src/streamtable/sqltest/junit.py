"""JUnit XML of outcomes, as CI systems read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from streamtable.sqltest.run import Outcome


def write_junit(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write one `testsuite` with a `testcase` per case.

    Raises:
        OSError: the file cannot be written.
    """
    failed = sum(bool(outcome.lines) for outcome in outcomes)
    suites = Element("testsuites")
    total = f"{sum(outcome.seconds for outcome in outcomes):.3f}"
    counts = {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0", "time": total}
    suite = SubElement(suites, "testsuite", {"name": "streamtable", **counts})
    for outcome in outcomes:
        names = {"classname": str(outcome.file), "name": outcome.case}
        case = SubElement(suite, "testcase", {**names, "time": f"{outcome.seconds:.3f}"})
        if outcome.lines:
            failure = SubElement(case, "failure", {"message": outcome.lines[0]})
            failure.text = "\n".join(outcome.lines)
    indent(suites)
    ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)
