"""A host program that has chosen a locale with a decimal comma gets the same numbers."""

import locale
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, locale, re, sys
if sys.argv[1] != "C":
    locale.setlocale(locale.LC_ALL, sys.argv[1])
    assert locale.localeconv()["decimal_point"] == ",", "not a comma locale"
import numpy
import reluflow

def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in sorted(value.items()) if key not in ("seconds", "run")}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, numpy.ndarray):
        return plain(value.tolist())
    return value

results = {}
for spec in ("gen:DS-PL2", "gen:DS-M2(0.1)", "gen:DS-HINT(20,1,0.1)", "gen:DS-MC3"):
    results[spec] = [plain(dict(reluflow.inspect(spec, leak=0.25))),
                     plain(dict(reluflow.maxmargin(spec, leak=0.25)))]
results["flow"] = plain(dict(reluflow.flow("gen:DS-PL2", scale=1.5e-3, width=6)))
print(re.sub(r"seconds=[^,)]*", "", json.dumps(results, default=str)))  # times differ from run to run
"""


def run(name, folder):
    environment = dict(os.environ, LOCPATH=str(folder))
    done = subprocess.run([sys.executable, "-c", PROGRAM, name], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_results_do_not_depend_on_the_locale(tmp_path):
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")],
                          capture_output=True)
    if made.returncode != 0:
        pytest.skip("skipped: localedef could not make de_DE (Debian: locales)")
    assert locale.localeconv()["decimal_point"] == "."
    plain = run("C", tmp_path)
    assert len(plain) > 1000
    assert run("de_DE.UTF-8", tmp_path) == plain
