# SPDX-License-Identifier: Apache-2.0
"""The tutorials run and assert their own results."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import calder

from conftest import ROOT

TUTORIALS = sorted(path.name for path in (ROOT / "examples/python").glob("*.py") if "sys.argv" in path.read_text())


def run(command: list[str], folder: Path) -> None:
    """A script with this package, in a folder of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(calder.__file__).parents[1]), "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorial(name, tmp_path):
    run([str(ROOT / "examples/python" / name), str(tmp_path)], tmp_path)
