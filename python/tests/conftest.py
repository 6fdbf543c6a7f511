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
