# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests: models of the examples and the command line."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

import calder

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def arm() -> calder.Model:
    """Two bodies on revolute joints: shoulder, elbow."""
    return calder.load(EXAMPLES / "double_pendulum.yaml")


@pytest.fixture(scope="session")
def command() -> str:
    """The command line `calder`."""
    path = os.environ.get("CALDER", str(ROOT / "build/release/bin/calder"))
    assert os.path.exists(path), f"build it first: ./dev build release calder_cli ({path})"
    return path


@pytest.fixture
def tetrahedron(tmp_path) -> Path:
    """A mesh of one corner of a cube, sides 1."""
    path = tmp_path / "corner.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    return path
