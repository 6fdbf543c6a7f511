# SPDX-License-Identifier: Apache-2.0
"""Owners deleted before what they own, cycles of garbage, memory that another object gave."""
from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import numpy as np
from harness import EXAMPLES, Cases, calder, sim, two_bodies

CASES = Cases()


def churn() -> None:
    """Collects, and writes over what was released."""
    gc.collect()
    for size in (2, 8, 64, 512, 4096, 65536):
        np.full(size, np.nan)
        bytearray(b"\xee" * 8 * size)


def load(name: str = "double_pendulum") -> calder.Model:
    return calder.load(EXAMPLES / f"{name}.yaml")


VIEWS = {
    "q": lambda m, s: s.q, "slice of q": lambda m, s: s.q[1:], "element of u": lambda m, s: s.u["elbow"], "reshaped q": lambda m, s: s.q.reshape(2, 1),
    "memoryview": lambda m, s: np.asarray(memoryview(s.q)), "node": lambda m, s: s["lower/tip"].position, "pose": lambda m, s: s["lower"].pose.rotation,
    "forward": lambda m, s: m.forward(s), "mass matrix": lambda m, s: m.mass_matrix(s), "motion": lambda m, s: m.kinematics(s).position,
    "momentum": lambda m, s: m.momentum(s).linear, "gravity": lambda m, s: m.gravity_vector, "body": lambda m, s: m.bodies[1].com,
    "record": lambda m, s: calder.Sim(m, step=1e-2).record("q", 0.1)["q"], "sim.q": lambda m, s: calder.Sim(m, step=1e-2).run(0.1).q,
    "linear": lambda m, s: m.linearize(s).A, "impulse": lambda m, s: calder.Sim(m).lock("elbow").impulse,
    "balance": lambda m, s: calder.Sim(m).balance.linear, "integrated": lambda m, s: s.integrate([0.1, 0.1]).q,
}
for _what, _view in VIEWS.items():
    def _check(view: object = _view) -> None:
        m = load()
        a = view(m, m.state())
        expected = np.array(a)
        del m
        churn()
        assert np.array_equal(a, expected)

    _check.__name__ = f"{_what}_outlives_model_and_state"
    CASES.harmless(_check)


@CASES.harmless
def a_node_outlives_its_simulation() -> None:
    a = sim(step=1e-2)
    tip, state = a["lower/tip"], a.state
    a.run(0.1)
    expected = tip.position
    del a
    churn()
    assert np.array_equal(tip.position, expected) and np.isfinite(state.group.forward(state)).all()


@CASES.harmless
def a_group_outlives_its_model() -> None:
    chaser = load("docking").groups["chaser"]
    churn()
    assert np.isfinite(chaser.forward(chaser.state())).all()


@CASES.harmless
def states_after_a_change_outlive_the_simulation() -> None:
    a = calder.Sim(two_bodies(), step=1e-2)
    a.detach("elbow", "loose")
    loose = a.states["loose"]
    del a
    churn()
    assert np.isfinite(loose.group.forward(loose)).all()


@CASES.harmless
def states_after_a_change_end_with_close() -> None:
    a = calder.Sim(two_bodies(), step=1e-2)
    a.detach("elbow", "loose")
    loose, tip = a.states["loose"], a["lower/end"]
    q = loose.q
    a.close()
    for use in (lambda: loose.group.forward(loose), lambda: loose.copy(), lambda: tip.position, lambda: loose.normalize(),
                lambda: loose.integrate(np.zeros(6)), lambda: loose.difference(loose), lambda: loose.group.state()):
        try:
            use()
        except (calder.StaleError, calder.ClosedError):
            continue
        raise AssertionError("used after close")
    churn()
    assert np.isfinite(q).all()


@CASES.harmless
def cycles_of_callbacks_are_collected() -> None:
    for k in range(20):
        a = calder.Sim(two_bodies(), step=1e-2)
        a.control(lambda t, s, a=a: None)
        a.on(lambda t, a=a: a.lock("elbow"), at=0.02)
        a.add_device(type("Own", (calder.Device,), {"evaluate": lambda self, c, x, d, a=a: None})())
        a.owner = [a, a.model, a.state, a["lower/end"]]
        if k % 2:
            a.run(0.05)
        del a
        churn()


@CASES.harmless
def cycles_of_models_are_collected() -> None:
    for _ in range(20):
        m = load("flexible_arm")
        m.own = [m, m.state(), calder.Sim(m), m.linearize(m.state()), m.independent(m.state()), m.parallel(2)]
        del m
        churn()


@CASES.harmless
def results_outlive_their_file() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        sim(step=1e-2).record(["q", "energy"], 0.2).save(path)
        r = calder.open(path)
        q, t = r["q"], r.t
        path.unlink()
    expected = q.copy()
    del r
    churn()
    assert np.array_equal(q, expected) and len(t) == len(q)


@CASES.harmless
def results_cannot_be_written() -> None:
    r = sim(step=1e-2).record("q", 0.1)
    for a in (r.t, r["q"], r["q:elbow"]):
        try:
            a[0] = 1
        except ValueError:
            continue
        raise AssertionError("results were changed")


@CASES.harmless
def a_state_is_built_again() -> None:
    m = load()
    s = m.state()
    q = s.q
    s.__init__(m)
    churn()
    q[:] = 1.0
    assert np.isfinite(m.forward(s)).all()


@CASES.harmless
def a_simulation_is_built_again() -> None:
    a = sim(step=1e-2)
    q = a.q
    a.__init__(load(), step=1e-2)
    churn()
    q[:] = 3.0
    a.run(0.1)


@CASES.harmless
def a_builder_is_used_after_its_model() -> None:
    b = calder.Builder()
    b.body("a", mass=1, inertia=(1, 1, 1))
    b.joint("j", "revolute", to="a", axis="z")
    m = b.model()
    for use in (lambda: b.body("b", mass=1, inertia=(1, 1, 1)), lambda: b.joint("k", "revolute", to="a", axis="z"), lambda: b.node("a", "n"),
                lambda: b.group("g"), lambda: b.state("j", q=1.0), lambda: b.load(joint="j", effort=[1.0]), lambda: b.run(1.0),
                lambda: b.visual("a", "box", size=(1, 1, 1)), lambda: b.event("e", ("stop",), at=1.0)):
        try:
            use()
        except calder.Error:
            continue
        raise AssertionError("a finished model was changed")
    del b
    churn()
    assert np.array_equal(m.state().q, [0.0])
