# SPDX-License-Identifier: Apache-2.0
"""The tutorials run and assert their own results; the blocks of docs/python.md run one after the other."""
from __future__ import annotations

import os
import re
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
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorial(name, tmp_path):
    run([str(ROOT / "examples/python" / name), str(tmp_path)], tmp_path)


@pytest.mark.parametrize("page", ["python.md"])
def test_blocks_of_the_page(page, tmp_path):
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "test").symlink_to(ROOT / "test")
    lines = "".join(f"# block {i + 1}\n{block}\n" for i, block in enumerate(blocks))
    (tmp_path / "blocks.py").write_text(lines)
    run(["blocks.py"], tmp_path)
