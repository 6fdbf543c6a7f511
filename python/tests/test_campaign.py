# SPDX-License-Identifier: Apache-2.0
"""Campaigns: the same results as `calder sweep`."""
from __future__ import annotations

import subprocess

import numpy as np
import pytest

import calder

from conftest import EXAMPLES


@pytest.fixture
def plan_file(tmp_path):
    text = (EXAMPLES / "sweep/separation.yaml").read_text()
    text = text.replace("../separation.yaml", str(EXAMPLES / "separation.yaml")).replace("cases: 500", "cases: 6")
    text = text.replace("  speed:", '  early: {signal: "velocity:satellite.vz", at: 12.3 ms}\n  speed:')
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


def test_cases_have_the_bits_of_the_command_line(plan_file, tmp_path, command):
    subprocess.run([command, "sweep", str(plan_file), "-o", str(tmp_path / "theirs"), "-q"], check=True, capture_output=True)
    plan = calder.Plan(plan_file)
    cases = plan.run(folder=tmp_path / "ours", threads=2)
    assert len(cases) == 6 and plan.design == "latin-hypercube"
    assert (tmp_path / "ours/cases.csv").read_bytes() == (tmp_path / "theirs/cases.csv").read_bytes()
    frame = cases.to_pandas()
    assert frame.shape == (6, 2 + len(plan.parameters) + len(plan.outputs))
    assert np.array_equal(frame["speed"].to_numpy(), cases["speed"]) and np.all(cases["speed"] > 0.7)
    again = plan.run(folder=tmp_path / "ours")  # nothing is run again
    assert [c.outputs for c in again.cases] == [c.outputs for c in cases.cases]


def test_a_case_is_a_model(plan_file):
    plan = calder.Plan(plan_file)
    scale = plan.values(3)["mass"]
    assert plan.model(3).groups["main"].mass != plan.model().groups["main"].mass and 0.95 <= scale <= 1.05
    with pytest.raises(calder.ArgumentError):
        plan.values(6)
    seen = []
    assert plan.run_case(0, prepare=seen.append).status == "ok" and len(seen) == 1
