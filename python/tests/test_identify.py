# SPDX-License-Identifier: Apache-2.0
"""Identification through Python: a hidden payload and friction, rates of samples, what is refused."""
from __future__ import annotations

import numpy as np
import pytest

import calder

ARM = """
calder: 1
gravity: [0, 0, -9.81]
bodies:
  upper: {{mass: 3, com: [0.2, 0, 0], inertia: [0.1, 0.2, 0.2], nodes: {{end: [0.5, 0, 0]}}}}
  lower: {{mass: {mass}, com: [0.1, 0.02, 0], inertia: [0.01, 0.02, 0.025]}}
joints:
  yaw: {{type: universal, axis: z, axis2: y, to: upper}}
  elbow: {{type: revolute, axis: x, from: upper/end, to: lower}}
"""


def motion(seed, rows, nu=3):
    random = np.random.Generator(np.random.Philox(key=seed))
    return random.uniform(-1.2, 1.2, (rows, nu)), random.uniform(-2, 2, (rows, nu)), random.uniform(-9, 9, (rows, nu))


def forces(model, q, u, udot):
    state, tau = model.state(), []
    for i in range(len(q)):
        state.q[:], state.u[:] = q[i], u[i]
        tau.append(np.array(model.inverse(state, udot[i])))
    return np.array(tau)


NAMES = ("mass", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def values_of(model):
    return {f"{body}.{name}": x for body, row in zip(model.body_names, model.inertial_parameters()) for name, x in zip(NAMES, row)}


def check_combinations(found, truth):
    assert len(found.combinations) > 4
    for c in found.combinations:
        want = sum(factor * truth[name] for name, factor in c.factors.items())
        assert c.value == pytest.approx(want, abs=1e-5) and c.consistent == pytest.approx(want, abs=1e-4)


def test_a_hidden_payload_and_friction_are_found():
    truth, guess = calder.loads(ARM.format(mass=2.5)), calder.loads(ARM.format(mass=1))
    q, u, udot = motion(1, 80)
    tau = forces(truth, q, u, udot)
    tau[:, 2] += 0.7 * u[:, 2] + 0.3 * np.tanh(u[:, 2] / 0.01)
    found = calder.Identification(guess, bodies=["lower"], friction=["elbow"])
    found.add(q[:40], u[:40], udot[:40], tau[:40])
    found.add(q[40:], u[40:], udot[40:], tau[40:])
    assert found.solve() is found
    assert found.equations == 240 and found.condition < 100 and found.conflict < 1e-2
    check_combinations(found, values_of(truth) | {"elbow.viscous": 0.7, "elbow.coulomb": 0.3})
    assert found.parameters["lower.mass"].unit == "kg" and found.parameters["elbow.viscous"].determined
    assert found.parameters["elbow.viscous"].value == pytest.approx(0.7, abs=1e-5)
    assert found.parameters["elbow.coulomb"].value == pytest.approx(0.3, abs=1e-5)
    properties = found.body("lower")
    assert properties.mass == found.parameters["lower.mass"].value
    assert properties.mass * properties.com[1] == pytest.approx(found.parameters["lower.my"].value)
    assert np.linalg.eigvalsh(properties.inertia).min() > 0
    assert found.body("upper").mass == 3
    assert found.fits["elbow"].residual < 1e-5 * found.fits["elbow"].force < found.fits["elbow"].model
    q, u, udot = motion(2, 5)
    for i, want in enumerate(forces(truth, q, u, udot)):
        want[2] += 0.7 * u[i, 2] + 0.3 * np.tanh(u[i, 2] / 0.01)
        assert found.predict(q[i], u[i], udot[i]) == pytest.approx(want, abs=1e-4)


def test_combinations_have_factors():
    m = calder.loads(ARM.format(mass=2))
    q, u, udot = motion(3, 60)
    found = calder.Identification(m)
    found.add(q, u, udot, forces(m, q, u, udot))
    found.solve()
    values = {name: p.model for name, p in found.parameters.items()}
    for c in found.combinations:
        assert c.model == pytest.approx(sum(f * values[name] for name, f in c.factors.items()))
        assert c.value == pytest.approx(c.model, abs=1e-5) and c.consistent == pytest.approx(c.model, abs=1e-5)
        assert all(name in c.text for name in c.factors)
    assert found.at_limit == 0


def test_some_forces_are_enough():
    truth = calder.loads(ARM.format(mass=2.5))
    q, u, udot = motion(4, 60)
    tau = forces(truth, q, u, udot)
    tau[:, 0] = np.nan
    found = calder.Identification(calder.loads(ARM.format(mass=1)), bodies=["lower"])
    found.add(q, u, udot, tau, measured=[*truth.u_names[1:]])
    found.solve()
    assert found.equations == 120
    check_combinations(found, values_of(truth))


def test_rates_of_samples():
    t = np.linspace(0, 2, 401)
    x = np.stack([np.sin(3 * t), t**3], axis=1)
    smooth, rate, acceleration = calder.estimate_rates(t, x, 0.05)
    assert smooth == pytest.approx(x, abs=1e-7)
    assert rate[20:-20, 0] == pytest.approx(3 * np.cos(3 * t[20:-20]), abs=1e-5)
    assert acceleration[:, 1] == pytest.approx(6 * t, abs=1e-6)
    with pytest.raises(calder.ArgumentError):
        calder.estimate_rates(t[::-1], x)
    with pytest.raises(calder.ArgumentError):
        calder.estimate_rates(t[:-1], x)


def test_mistakes_are_said():
    m = calder.loads(ARM.format(mass=1))
    with pytest.raises(calder.ArgumentError, match="nothing is unknown"):
        calder.Identification(m, bodies=[])
    with pytest.raises(KeyError, match="lower"):
        calder.Identification(m, bodies=["lowr"])
    with pytest.raises(calder.ArgumentError, match="no speed 'elbw'"):
        calder.Identification(m, friction="elbw")
    found = calder.Identification(m)
    with pytest.raises(calder.ArgumentError, match="solve"):
        _ = found.parameters
    with pytest.raises(calder.ArgumentError, match="record more"):
        found.solve()
    with pytest.raises(calder.ArgumentError, match="udot"):
        found.add(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((1, 3)), np.zeros((2, 3)))
    with pytest.raises(calder.NumericalError):
        found.add(np.zeros(3), np.zeros(3), np.zeros(3), np.full(3, np.nan))
