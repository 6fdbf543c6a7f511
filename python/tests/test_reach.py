# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: a planar arm against its closed form; limits, poses, and what is out of reach."""
from __future__ import annotations

import math

import numpy as np
import pytest

import calder

ARM = """
calder: 1
bodies:
  upper: {mass: 1, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}
  lower: {mass: 1, rod: {from: [0, 0, 0], to: [0.7, 0, 0]}, nodes: {tip: [0.7, 0, 0]}}
joints:
  shoulder: {type: revolute, to: upper, axis: z}
  elbow: {type: revolute, from: upper/end, to: lower, axis: z}
state: {shoulder: {q: 0.2}, elbow: {q: 0.4}}
"""


def arm():
    m = calder.loads(ARM)
    return m, m.state()


def test_a_planar_arm_has_its_closed_form():
    m, s = arm()
    found = m.reach(s, {"lower/tip": [0.9, 0.8, 0]})
    assert found.distance < 1e-9 and found.at_limit == 0
    assert s.q[1] == pytest.approx(math.acos((0.81 + 0.64 - 1.49) / 1.4), abs=1e-8)
    assert m.node_pose(s, "lower/tip").position == pytest.approx([0.9, 0.8, 0], abs=1e-9)


def test_a_pose_of_another_state_is_reached():
    m, s = arm()
    s.q[:] = 0.7, -1.1
    wanted = m.node_pose(s, "lower/tip")
    s.q[:] = 0.3, -0.5
    m.reach(s, {"lower/tip": wanted})
    assert s.q == pytest.approx([0.7, -1.1], abs=1e-8)


def test_components_that_do_not_count_and_frozen_joints():
    m, s = arm()
    m.reach(s, {"lower/tip": [math.nan, 0.8, math.nan]}, frozen=[False, True])
    assert s.q[1] == 0.4 and m.node_pose(s, "lower/tip").position[1] == pytest.approx(0.8, abs=1e-9)


def test_limits_hold_and_what_is_out_of_reach_raises():
    m, s = arm()
    with pytest.raises(calder.Error, match="node 'lower/tip' is not reached"):
        m.reach(s, {"lower/tip": [0.9, 0.8, 0]}, lower=[-np.inf, -0.5], upper=[np.inf, 0.5])
    assert s.q[1] == 0.5
    with pytest.raises(calder.Error):
        m.reach(s, {"lower/tip": [3, 4, 0]})
    with pytest.raises(calder.Error, match="shape"):
        m.reach(s, {"lower/tip": [3, 4]})
    with pytest.raises(calder.Error, match="lower/top"):
        m.reach(s, {"lower/top": [1, 0, 0]})
