# SPDX-License-Identifier: Apache-2.0
"""Linearized simulations: against m.linearize(), numpy's eigenvalues and responses, files read back."""
from __future__ import annotations

import json

import numpy as np
import pytest

import calder
from conftest import ROOT

EXAMPLES = ROOT / "examples"
MODEL = """
calder: 1
gravity: [0, 0, -9.81]
bodies: {cart: {mass: 2}, pole: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.01], nodes: {tip: [0, 0, 1]}}}
joints:
  slide: {type: prismatic, axis: x, to: cart, dof: {damping: 1, stiffness: 30}}
  hinge: {type: revolute, axis: y, from: cart, to: pole, dof: {damping: 0.2, stiffness: 40}}
"""


def cart():
    return calder.Sim(calder.loads(MODEL))


def test_matrices_are_those_of_the_second_order_equations():
    sim = cart()
    s = sim.state_space(["force:slide", "force:hinge"], ["q:hinge", "pose:pole/tip.x"])
    assert s.states == ("q:slide", "q:hinge", "u:slide", "u:hinge")
    assert s.state_units == ("m", "rad", "m/s", "rad/s")
    linear = sim.linearize()
    assert linear.A == pytest.approx(s.A, rel=1e-9, abs=1e-9)
    assert linear.B == pytest.approx(s.B, rel=1e-12, abs=1e-12)
    assert s.C == pytest.approx(np.array([[0, 1, 0, 0], [1, 1, 0, 0]]), abs=1e-9)
    assert np.abs(s.rate).max() < 1e-14 and s.warning == ""


def test_poles_and_responses_are_those_of_numpy():
    s = cart().state_space(["force:slide"], ["q:hinge", "udot:slide"])
    order = lambda z: sorted(z, key=lambda v: (round(abs(v), 6), v.imag))  # noqa: E731
    assert order(s.poles()) == pytest.approx(order(np.linalg.eigvals(s.A)), rel=1e-10)
    for w in (0.5, 3.0):
        want = s.C @ np.linalg.solve(1j * w * np.eye(4) - s.A, s.B) + s.D
        assert s.response(w) == pytest.approx(want, rel=1e-12)
    assert s.response([[0.5, 1], [2, 3]]).shape == (2, 2, 2, 1)
    t, y = s.step("force:slide", 120.0, 81)
    assert t[-1] == 120 and y[0] == pytest.approx([0, s.D[1, 0]])
    assert y[-1] == pytest.approx((s.D - s.C @ np.linalg.solve(s.A, s.B))[:, 0], rel=1e-6, abs=1e-6)
    _, free = s.free([0.1, 0, 0, 0], 120.0)
    assert np.abs(free[-1]).max() < 1e-3


@pytest.mark.parametrize("model, inputs, outputs", [
    (None, ["force:slide", "force:hinge"], ["q:hinge", "udot:slide", "pose:pole/tip.x"]),
    ("wheel_slew", ["device:wheel_x.torque"], ["u:flight.wx", "deflection:left/tip.dz"]),
    ("stewart", ["force:leg1", "wrench:platform.fz"], ["pose:platform.z", "q:leg2"]),
])
def test_transfer_functions_have_the_response(model, inputs, outputs):
    """gain, zeros and poles, multiplied out, are C (s - A)^-1 B + D."""
    s = (cart() if model is None else calder.Sim(calder.load(EXAMPLES / f"{model}.yaml"))).state_space(inputs, outputs)
    for i, name in enumerate(s.inputs):
        for o, output in enumerate(s.outputs):
            if output.startswith("pose:platform") and not output.endswith(".z"):
                continue
            zeros, poles, gain = s.transfer(name, output)
            for w in (0.3, 2.0, 11.0, 70.0):
                value = complex(gain)
                for k, pole in enumerate(poles):
                    value *= (1j * w - zeros[k] if k < len(zeros) else 1) / (1j * w - pole)
                want = s.response(w)[o, i]
                assert abs(value - want) < 1e-7 * abs(want), (name, output, w)
    with pytest.raises(calder.Error, match="force:slid"):
        s.transfer("force:slid", s.outputs[0])


def test_devices_are_inputs_and_states():
    sim = calder.Sim(calder.load(EXAMPLES / "wheel_slew.yaml"))
    s = sim.state_space(["device:wheel_x.torque"], ["u:flight.wx"])
    assert "x:wheel_x" in s.states and s.input_units == ("N m",)
    assert s.B[s.states.index("x:wheel_x"), 0] == pytest.approx(1)


def test_deviation_and_independent_coordinates():
    sim = calder.Sim(calder.load(EXAMPLES / "four_bar.yaml"))
    s = sim.state_space(independent=["crank"])
    assert s.states == ("q:crank", "u:crank")
    assert np.all(sim.deviation(s) == 0)
    before = sim.q["crank"]
    sim.run(0.01)
    assert sim.deviation(s)[0] == pytest.approx(sim.q["crank"] - before)


def test_files(tmp_path):
    s = cart().state_space(["force:slide"], ["q:hinge"])
    s.save(tmp_path / "cart.json")
    assert json.loads((tmp_path / "cart.json").read_text())["A"] == s.A.tolist()
    s.save(tmp_path / "cart.mat")
    assert (tmp_path / "cart.mat").read_bytes()[:10] == b"MATLAB 5.0"
    with pytest.raises(calder.Error, match="ending"):
        s.save(tmp_path / "cart.txt")


def test_names_that_are_not_known():
    sim = cart()
    with pytest.raises(calder.Error, match="force:hinge"):
        sim.state_space(["force:hing"])
    with pytest.raises(calder.ArgumentError, match="list of names"):
        sim.state_space("force:hinge")
    with pytest.raises(calder.Error, match="did you mean 'force:hinge'"):
        sim.state_space(["force:hinge"]).step("force:slide", 1.0)


def test_trim_finds_equilibria_of_a_pendulum():
    found = {}
    for start in range(8):
        sim = calder.Sim(calder.load(EXAMPLES / "pendulum.yaml"))
        trim = sim.trim(start=start)
        angle = sim.q["hinge"]
        assert abs(np.sin(angle)) < 1e-9 and np.all(sim.u == 0) and trim.residual < 1e-8
        assert trim.stability == ("stable" if np.cos(angle) > 0 else "unstable")
        assert trim.growth == pytest.approx(0 if np.cos(angle) > 0 else np.sqrt(1.5 * 9.81), abs=1e-7)
        found[trim.stability] = found.get(trim.stability, 0) + 1
    assert set(found) == {"stable", "unstable"}


def test_trim_says_where_there_is_none():
    model = MODEL.replace("stiffness: 30", "") + "loads: [{joint: slide, effort: 3}]\n"
    sim = calder.Sim(calder.loads(model.replace("damping: 1, ", "damping: 1")))
    with pytest.raises(calder.NumericalError, match="u:slide still changes"):
        sim.trim()
    with pytest.raises(calder.ArgumentError):
        sim.trim(start=-1)


def test_series_are_written_with_one_index_more(tmp_path):
    sim = cart()
    spaces = []
    for t in (0.0, 0.2, 0.4):
        if t > 0:
            sim.run(until=t)
        spaces.append(sim.state_space(["force:slide"], ["q:hinge"]))
    calder.save_series(spaces, tmp_path / "along.json")
    read = json.loads((tmp_path / "along.json").read_text())
    assert read["time"] == [0.0, 0.2, 0.4]
    assert np.array(read["A"]) == pytest.approx(np.array([s.A for s in spaces]), rel=1e-15)
    with pytest.raises(calder.InputError, match="inputs"):
        calder.save_series([spaces[0], sim.state_space([], ["q:hinge"])], tmp_path / "x.json")


def test_paths_turn_back_at_limit_points():
    sim = calder.Sim(calder.load(EXAMPLES / "pendulum.yaml"))
    sim.trim()
    path = sim.trim_path("force:hinge", 0, 20)
    most = 9.81  # of the weight, N m
    assert path.value == pytest.approx(most * np.sin(path.q[:, 0]), abs=1e-7)
    assert sum(path.turns) == 1 and set(path.stability) == {"stable", "unstable"}
    assert path.value.max() > 0.99 * most and path.growth.max() > 3


def test_effective_masses_add_up():
    undamped = MODEL.replace("damping: 1, ", "").replace("damping: 0.2, ", "")
    frequency, mass = calder.Sim(calder.loads(undamped)).mode_masses(structural=True)
    assert frequency.shape == (2,) and mass.shape == (2, 6)
    assert mass[:, 0].sum() == pytest.approx(3.0)
