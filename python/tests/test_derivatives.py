# SPDX-License-Identifier: Apache-2.0
"""Derivatives: against differences of the package's own dynamics, and identities among them."""
from __future__ import annotations

import numpy as np
import pytest

import calder
from conftest import ROOT

MODELS = ["double_pendulum", "four_bar"]


def example(name):
    m = calder.load(ROOT / "examples" / f"{name}.yaml")
    s = m.state()
    s.u[:] = np.linspace(0.3, 0.9, m.nu)
    return m, s


def moved(m, s, j, h, speed):
    at = s.copy()
    if speed:
        at.u[j] += h
    else:
        step = np.zeros(m.nu)
        step[j] = h
        at = at.integrate(step)
    return at


def differences(m, s, f, speed, h=1e-4):
    columns = []
    for j in range(m.nu):
        a, b, c, d = (f(moved(m, s, j, k * h, speed)) for k in (1, -1, 2, -2))
        columns.append((8 * (a - b) - (c - d)) / (12 * h))
    return np.stack(columns, axis=-1)


def test_inverse_derivatives_are_those_of_inverse_dynamics():
    m, s = example("double_pendulum")
    udot = np.linspace(-1, 1, m.nu)
    dq, du, M = m.inverse_derivatives(s, udot)
    assert dq == pytest.approx(differences(m, s, lambda x: m.inverse(x, udot), False), rel=1e-8, abs=1e-8)
    assert du == pytest.approx(differences(m, s, lambda x: m.inverse(x, udot), True), rel=1e-8, abs=1e-8)
    assert pytest.approx(m.mass_matrix(s), rel=1e-13) == M


@pytest.mark.parametrize("name", MODELS)
def test_forward_derivatives_are_those_of_forward_dynamics(name):
    m, s = example(name)
    tau = np.linspace(1, 2, m.nu)
    dq, du, dtau, udot = m.forward_derivatives(s, tau)
    assert np.array_equal(udot, m.forward(s, tau))
    assert np.array_equal(dtau, dtau.T)
    if not m.nrows:
        assert dtau == pytest.approx(m.mass_inverse(s), rel=1e-12)
        assert dq == pytest.approx(differences(m, s, lambda x: m.forward(x, tau), False), rel=1e-8, abs=1e-8)
    assert dtau @ tau == pytest.approx(m.closed_solve(s, tau), rel=1e-10, abs=1e-12)
    assert du == pytest.approx(differences(m, s, lambda x: m.forward(x, tau), True), rel=1e-8, abs=1e-8)
    wrench = np.array([0.3, -0.2, 0.5, 1, 2, -1])  # udot is linear in it
    by_wrench = dtau @ m.jacobian(s, m.nodes[-1]).T @ wrench
    assert m.forward(s, tau, wrenches={m.nodes[-1]: wrench}) - udot == pytest.approx(by_wrench, rel=1e-10, abs=1e-11)


def test_regressor_gives_inverse_dynamics():
    m, s = example("double_pendulum")
    Y = m.regressor(s, np.ones(m.nu))
    rest = m.inverse(s, np.ones(m.nu)) - np.tensordot(Y, m.inertial_parameters(), 2)
    assert rest == pytest.approx(-m.elastic(s), abs=1e-12)


def test_accelerations_by_inertial_parameters():
    """A heavier arm, against differences of models with other masses at the center of mass."""
    text = "calder: 1\ngravity: [0, -9.81, 0]\nbodies:\n  upper: {mass: 2, com: [0.4, 0.1, 0], inertia: [0.1, 0.2, 0.2], nodes: {end: [1, 0, 0]}}\n"
    text += "  lower: {mass: %r, com: [0.3, 0, 0.1], inertia: [0.1, 0.1, 0.1]}\njoints:\n  a: {type: revolute, to: upper}\n"
    text += "  b: {type: spherical, from: upper/end, to: lower}\nstate: {a: {q: 0.3, u: 1}, b: {u: [0.2, 1, 2]}}\n"
    m = calder.loads(text % 3.0)
    s = m.state()
    d = m.forward_parameter_derivatives(s, [1, 0, 0, 0])
    c = np.array([0.3, 0, 0.1])
    point = c @ c * np.eye(3) - np.outer(c, c)
    p = [1, *c, point[0, 0], point[1, 1], point[2, 2], point[0, 1], point[0, 2], point[1, 2]]

    def forward(mass):
        other = calder.loads(text % mass)
        return other.forward(other.state(), [1, 0, 0, 0])

    want = (forward(3 + 1e-4) - forward(3 - 1e-4)) / 2e-4
    assert d[:, 1] @ p == pytest.approx(want, rel=1e-7, abs=1e-8)
    Y, minv = m.regressor(s, m.forward(s, [1, 0, 0, 0])), m.mass_inverse(s)
    assert d == pytest.approx(-np.tensordot(minv, Y, 1), rel=1e-12, abs=1e-12)


def test_momentum_node_and_energy():
    m, s = example("double_pendulum")
    node = m.nodes[-1]
    A, Adot = m.momentum_matrix(s)
    p = m.momentum(s)
    assert A @ s.u == pytest.approx(np.concatenate([p.angular_com, p.linear]), abs=1e-13)
    assert Adot.shape == (6, m.nu)
    J, Jdot = m.node_jacobian_rate(s, node)
    assert pytest.approx(m.jacobian(s, node), abs=1e-14) == J
    assert Jdot @ s.u == pytest.approx(m.node_bias(s, node), abs=1e-13)
    d = m.node_derivatives(s, node)
    assert d.velocity_dq == pytest.approx(differences(m, s, lambda x: m.node_velocity(x, node), False), abs=1e-9)
    dq, du = m.energy_gradient(s)
    assert du == pytest.approx(m.mass_mul(s, s.u), abs=1e-13)
    assert dq == pytest.approx(differences(m, s, lambda x: np.array(m.energy(x).total), False), abs=1e-8)
    assert m.derivatives_exact(s)


def test_failures_name_the_call():
    m, s = example("double_pendulum")
    s.u[0] = np.nan
    with pytest.raises(calder.NumericalError, match="derivatives of inverse dynamics.*not finite"):
        m.inverse_derivatives(s)


def test_second_derivatives_are_differences_of_the_first():
    m, s = example("double_pendulum")
    v = np.linspace(-1, 1, 3 * m.nu)
    h = 1e-5
    def at(k):
        x = s.copy()
        x = x.integrate(k * h * v[: m.nu])
        x.u[:] = s.u + k * h * v[m.nu : 2 * m.nu]
        return m.inverse_derivatives(x, k * h * v[2 * m.nu :]), m.forward_derivatives(x, k * h * v[2 * m.nu :])
    (i1, f1), (i0, f0) = at(1), at(-1)
    for got, a, b in zip(m.inverse_derivatives_along(s, v), i1, i0, strict=True):
        assert got == pytest.approx((a - b) / (2 * h), rel=1e-6, abs=1e-6)
    for got, a, b in zip(m.forward_derivatives_along(s, v), f1[:3], f0[:3], strict=True):
        assert got == pytest.approx((a - b) / (2 * h), rel=1e-6, abs=1e-5)
