"""JUnit against its schema and by a reader of it; GitLab, Checkstyle, the commands of GitHub and Azure, and the lines of pylint by their documented rules.

    readers.py JUNIT.xsd FOLDER      FOLDER has all.FORMAT and none.FORMAT
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import junitparser
import xmlschema

schema, folder = xmlschema.XMLSchema(sys.argv[1]), pathlib.Path(sys.argv[2])
findings = json.loads((folder / "all.json").read_text())
assert len(findings) > 5 and json.loads((folder / "none.json").read_text()) == []
seen_categories = {it["category"] for it in findings}
assert {"noise", "lint", "name", "io"} <= seen_categories, seen_categories

# JUnit: only errors are failures, as they alone fail a run without --error-on-warning.
for name, wanted in [("all", [it for it in findings if it["severity"] == "error"]), ("none", [])]:
    schema.validate(folder / f"{name}.junit")
    report = junitparser.JUnitXml.fromfile(str(folder / f"{name}.junit"))
    report.update_statistics()
    failures = [case for suite in report for case in suite if not case.is_passed]
    assert len(failures) == len(wanted) == report.failures, (name, len(failures), len(wanted))

# https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
for name, wanted in [("all", findings), ("none", [])]:
    report = json.loads((folder / f"{name}.gitlab").read_text())
    assert len(report) == len(wanted)
    assert len({it["fingerprint"] for it in report}) == len(report), "fingerprints are unique"
    for it in report:
        assert all(isinstance(it[key], str) and it[key] for key in ("description", "check_name", "fingerprint")), it
        assert it["severity"] in ("info", "minor", "major", "critical", "blocker"), it
        path = it["location"]["path"]
        assert not path.startswith(("/", "./")) and (folder / path).exists(), path
        assert it["location"]["positions"]["begin"]["line"] >= 1, it

# Checkstyle, as its readers take it: files with errors, each with these attributes.
for name, wanted in [("all", findings), ("none", [])]:
    root = ElementTree.parse(folder / f"{name}.checkstyle").getroot()
    assert root.tag == "checkstyle" and "version" in root.attrib
    errors = [(file.attrib["name"], error.attrib) for file in root.iter("file") for error in file.iter("error")]
    assert len(errors) == len(wanted)
    for file, error in errors:
        assert (folder / file).exists(), file
        assert error["severity"] in ("error", "warning", "info", "ignore") and int(error["line"]) >= 1, error
        assert error["message"] and error["source"], error

# https://docs.github.com/actions/reference/workflow-commands-for-github-actions
command = re.compile(r"::(error|warning|notice) ((?:[a-zA-Z]+=[^,:]*)(?:,[a-zA-Z]+=[^,:]*)*)::(.+)")
lines = (folder / "all.github").read_text().splitlines()
assert len(lines) == len(findings) and (folder / "none.github").read_text() == ""
for line, finding in zip(lines, findings, strict=True):
    parts = command.fullmatch(line)
    assert parts, line
    values = dict(it.split("=", 1) for it in parts[2].split(","))
    file = values["file"].replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    assert file == finding["filename"] and int(values["line"]) == finding["location"]["row"], line

# https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
command = re.compile(r"##vso\[task\.logissue ((?:[a-z]+=[^;\]]*;)+)\](.+)")
lines = (folder / "all.azure").read_text().splitlines()
assert len(lines) == len(findings) and (folder / "none.azure").read_text() == ""
for line, finding in zip(lines, findings, strict=True):
    parts = command.fullmatch(line)
    assert parts, line
    values = dict(it.split("=", 1) for it in parts[1].rstrip(";").split(";"))
    assert values["type"] == ("error" if finding["severity"] == "error" else "warning"), line
    file = values["sourcepath"].replace("%3B", ";").replace("%5D", "]").replace("%AZP25", "%")
    assert file == finding["filename"] and int(values["linenumber"]) == finding["location"]["row"], line
    assert int(values["columnnumber"]) == finding["location"]["column"] and values["code"] == finding["code"], line

# The parseable lines of pylint: `FILE:LINE: [CODE] MESSAGE`.
lines = (folder / "all.pylint").read_text().splitlines()
assert len(lines) == len(findings) and (folder / "none.pylint").read_text() == ""
for line, finding in zip(lines, findings, strict=True):
    parts = re.fullmatch(r"(.+?):(\d+): \[([a-z0-9-]+)\] (.+)", line)
    assert parts and parts[1] == finding["filename"] and int(parts[2]) == finding["location"]["row"], line
    assert parts[3] == finding["code"], line
