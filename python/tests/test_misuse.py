# SPDX-License-Identifier: Apache-2.0
"""Whatever is done wrong raises an exception that says what, and never crashes; the cases are in misuse/."""
from __future__ import annotations

import functools
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import calder

HERE = Path(__file__).resolve().parent / "misuse"
sys.path.insert(0, str(HERE))
import harness  # noqa: E402

CASES = {name: importlib.import_module(name).CASES for name in harness.MODULES}


@functools.cache
def outcomes(module: str) -> dict[int, str]:
    """What came of each case of a module; after a crash the next process takes the rest."""
    found: dict[int, str] = {}
    environment = {**os.environ, "PYTHONPATH": str(Path(calder.__file__).parents[1])}
    while len(found) < len(CASES[module]):
        command = [sys.executable, "-X", "faulthandler", str(HERE / "harness.py"), module, str(len(found))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=3000, env=environment)
            output, error, code = done.stdout, done.stderr, str(done.returncode)
        except subprocess.TimeoutExpired as late:
            output, error, code = (late.stdout or b"").decode(), (late.stderr or b"").decode(), "timeout"
        begun = None
        for line in output.splitlines():
            if not line.startswith("{"):
                continue
            said = json.loads(line)
            begun = said.get("begin", begun)
            if "end" in said:
                found[said["end"]], begun = said["trouble"], None
        if begun is not None:
            found[begun] = f"crashed (exit {code}): {error[-3000:]}"
        elif code != "0":
            found[len(CASES[module]) - 1] = f"crashed at its end (exit {code}): {error[-3000:]}"
            break
    return found


@pytest.mark.parametrize("module, index", [(m, i) for m, cases in CASES.items() for i in range(len(cases))],
                         ids=[f"{m}-{case.name}" for m, cases in CASES.items() for case in cases])
def test_misuse(module, index):
    trouble = outcomes(module).get(index, "not run")
    if trouble:
        pytest.fail(trouble, pytrace=False)


def test_there_are_enough_cases():
    assert sum(map(len, CASES.values())) >= 200
