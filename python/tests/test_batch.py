# SPDX-License-Identifier: Apache-2.0
"""Arrays of states: the same bits as one state at a time, shapes, failures, threads, memory."""
from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import calder

from conftest import EXAMPLES, ROOT

B = 23
MODELS = ["double_pendulum.yaml", "four_bar.yaml", "flexible_arm.yaml", "free_flying_arm.yaml"]


@pytest.fixture(params=MODELS)
def model(request) -> calder.Group:
    m = calder.load(EXAMPLES / request.param)
    return next(iter(m.groups.values()))


def draw(m, seed=1, count=B):
    """States near that of the file, speeds and forces."""
    r = np.random.default_rng(seed)
    states = []
    for _ in range(count):
        s = m.state()
        s.integrate(0.01 * r.normal(size=m.nu))
        s.u = 0.1 * r.normal(size=m.nu)
        states.append(s)
    q = np.array([s.q.copy() for s in states])
    return states, q, np.array([s.u.copy() for s in states]), r.normal(size=(count, m.nu)), r


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_algorithm_has_the_bits_of_single_calls(model, threads):
    states, q, u, tau, r = draw(model)
    udot, node = r.normal(size=(B, model.nu)), model.nodes[-1]
    udots, hybrid = model.forward(q, u, tau, threads=threads), model.hybrid(q, u, tau, threads=threads)
    torques, masses = model.inverse(q, u, udot, threads=threads), model.mass_matrix(q, threads=threads)
    forces = [f(q, u, threads=threads) for f in (model.bias, model.gravity, model.elastic)]
    energy, momentum = model.energy(q, u, threads=threads), model.momentum(q, u, threads=threads)
    J, motion = model.jacobian(q, node, threads=threads), model.kinematics(q, u, threads=threads)
    for i, s in enumerate(states):
        assert np.array_equal(udots[i], model.forward(s, tau[i]))
        assert all(np.array_equal(a[i], b) for a, b in zip(hybrid, model.hybrid(s, tau[i])))
        assert np.array_equal(torques[i], model.inverse(s, udot[i]))
        assert np.array_equal(masses[i], model.mass_matrix(s))
        assert all(np.array_equal(a[i], f(s)) for a, f in zip(forces, (model.bias, model.gravity, model.elastic)))
        assert energy.total[i] == model.energy(s).total and energy.kinetic[i] == model.energy(s).kinetic
        assert np.array_equal(momentum.linear[i], model.momentum(s).linear) and momentum.mass[i] == model.momentum(s).mass
        assert np.array_equal(momentum.angular_com[i], model.momentum(s).angular_com)
        assert np.array_equal(J[i], model.jacobian(s, node))
        one = model.kinematics(s)
        assert np.array_equal(motion.position[i], one.position) and np.array_equal(motion.rotation[i], one.rotation)
        assert np.array_equal(motion.velocity[i], one.velocity)


@pytest.mark.parametrize("method", ["rk4", "euler-cromer", "implicit", "implicit-midpoint"])
def test_rollouts_do_not_depend_on_threads_and_neighbors(model, method):
    _, q, u, tau, r = draw(model)
    steps = r.normal(size=(4, B, model.nu))
    alone = model.rollout(q, u, steps, step=1e-3, method=method, every=1)
    assert alone.q.shape == (4, B, model.nq) and np.allclose(alone.t, [1e-3, 2e-3, 3e-3, 4e-3])
    assert not alone.status.any() and np.isfinite(alone.q).all() and not np.array_equal(alone.q[0], alone.q[1])
    for threads in (2, 3):
        many = model.rollout(q, u, steps, step=1e-3, method=method, every=1, threads=threads)
        assert np.array_equal(many.q, alone.q) and np.array_equal(many.u, alone.u)
    for i in (0, B // 2, B - 1):
        one = model.rollout(q[i], u[i], steps[:, i : i + 1], step=1e-3, method=method)
        assert one.q.shape[-1] == model.nq and np.array_equal(one.q.ravel(), alone.q[-1, i])
    halves = model.rollout(*(lambda h: (h.q, h.u))(model.rollout(q, u, steps[:2], step=1e-3, method=method)), steps[2:],
                           step=1e-3, method=method, t=2e-3)
    np.testing.assert_allclose(halves.q, alone.q[-1], rtol=0, atol=1e-9)


def test_shapes_are_broadcast(arm):
    _, q, u, tau, _ = draw(arm)
    assert np.array_equal(arm.forward(q, u, tau[0]), arm.forward(q, u, np.tile(tau[0], (B, 1))))
    assert np.array_equal(arm.forward(q, None, tau), arm.forward(q, np.zeros((B, 2)), tau))
    assert np.array_equal(arm.forward(q[0], u, tau), arm.forward(np.tile(q[0], (B, 1)), u, tau))
    assert arm.forward(q[0], u[0], tau[0]).shape == (2,)
    assert arm.forward(q[:1], u[0]).shape == (1, 2)
    assert arm.forward(np.empty((0, 2))).shape == (0, 2)
    assert arm.forward(q, u, tau=tau).shape == (B, 2) and arm.forward(q, tau=tau).shape == (B, 2)
    first = arm.rollout(q[0], u[0], np.zeros((5, B, 2)), step=1e-3)  # one start for all
    assert first.q.shape == (B, 2) and np.array_equal(first.q[0], first.q[-1])


def test_strides_are_taken_as_they_are(arm):
    _, q, u, tau, _ = draw(arm)
    expected = arm.forward(q, u, tau)
    both = np.hstack([q, u])
    assert np.array_equal(arm.forward(both[:, :2], both[:, 2:], tau), expected)
    assert np.array_equal(arm.forward(q[::-1], u[::-1], tau[::-1])[::-1], expected)
    assert np.array_equal(arm.forward(np.asfortranarray(q), u, tau), expected)
    assert np.array_equal(arm.forward(q.tolist(), u, tau), expected)
    assert np.array_equal(arm.forward(q.astype(">f8"), u, tau), expected)
    packed = np.empty(B, np.dtype({"names": ["x"], "formats": [(np.float64, 2)], "offsets": [4], "itemsize": 20}))
    packed["x"] = q
    assert np.array_equal(arm.forward(packed["x"], u, tau), expected)


def test_results_go_to_out(arm):
    _, q, u, tau, _ = draw(arm)
    out = np.full((B, 2), np.nan)
    assert arm.forward(q, u, tau, out=out) is out and np.array_equal(out, arm.forward(q, u, tau))
    for wrong in (np.empty((B, 3)), np.empty((B, 2), np.float32), np.empty((B, 4))[:, ::2], [[0, 0]] * B):
        with pytest.raises(calder.ArgumentError):
            arm.forward(q, u, tau, out=wrong)


@pytest.mark.parametrize("arguments", [
    (np.zeros((3, 3)),), (np.zeros((3, 2)), np.zeros((4, 2))), (np.zeros((3, 2)), np.zeros((3, 1))),
    (np.zeros((2, 3, 2)),), ("xy",), (np.zeros((3, 2)), None, np.zeros((3, 2), complex)), ([[1, 2], [3]],),
    (np.array([[object(), 1]]),), (np.zeros((3, 2)), {"a": 1}),
])
def test_wrong_arrays_are_refused(arm, arguments):
    with pytest.raises(calder.ArgumentError):
        arm.forward(*arguments)


def test_wrong_options_are_refused(arm):
    q, s = np.zeros((3, 2)), arm.state()
    for threads in (-1, 1000, "2", True, 1.5):
        with pytest.raises(calder.ArgumentError, match="threads"):
            arm.forward(q, threads=threads)
    with pytest.raises(calder.ArgumentError, match="different numbers of states"):
        arm.forward(q, np.zeros((4, 2)))
    with pytest.raises(calder.ArgumentError, match="a State has its own"):
        arm.forward(s, np.zeros(2), np.zeros(2))
    for options in ({"threads": 2}, {"t": 0.0}, {"status": np.zeros(3, np.int32)}):
        with pytest.raises(calder.ArgumentError, match="a State has its own"):
            arm.forward(s, **options)
    assert np.array_equal(arm.forward(s, tau=[1.0, 2.0]), arm.forward(s, [1.0, 2.0]))
    for status in (np.zeros(3), np.zeros(2, np.int32), [0, 0, 0]):
        with pytest.raises(calder.ArgumentError, match="status"):
            arm.forward(q, status=status)
    for options in ({"steps": 0}, {}, {"steps": 2, "every": 3}, {"steps": 2, "every": -1}, {"steps": 1, "method": "dopri5"},
                    {"steps": 1, "step": 0.0}, {"steps": 1, "step": np.nan}):
        with pytest.raises(calder.Error):
            arm.rollout(q, **{"step": 1e-3, **options})
    with pytest.raises(calder.ArgumentError, match="steps"):
        arm.rollout(q, None, np.zeros((4, 3, 2)), step=1e-3, steps=5)
    with pytest.raises(calder.Error, match="did you mean 'rk4'"):
        arm.rollout(q, step=1e-3, steps=1, method="rk5")
    with pytest.raises(calder.Error):
        arm.jacobian(q, "nowhere")


def test_a_state_that_fails_is_flagged_and_the_others_continue(arm):
    _, q, u, tau, _ = draw(arm)
    expected = arm.forward(q, u, tau)
    broken, status = q.copy(), np.full(B, 9, np.int32)
    broken[7, 1] = np.nan
    for threads in (1, 2):
        udot = arm.forward(broken, u, tau, status=status, threads=threads)
        assert np.isnan(udot[7]).all() and status[7] > 0 and status.sum() == status[7]
        assert np.array_equal(np.delete(udot, 7, 0), np.delete(expected, 7, 0))
    assert calder.status_text(int(status[7])) == "a number is not finite"
    r = arm.rollout(broken, u, tau, step=1e-3, steps=2, every=1)
    assert np.isnan(r.q[:, 7]).all() and r.status[7] > 0 and np.isfinite(np.delete(r.q, 7, 1)).all()
    with pytest.raises(calder.NumericalError, match="not finite"):  # one state by itself
        arm.forward(broken[7], u[7])


def test_wrenches_and_prescribed_dofs(arm):
    states, q, u, tau, r = draw(arm)
    node = arm.nodes[-1]
    f = r.normal(size=(B, 6))
    got = arm.forward(q, u, tau, wrenches={node: f}, prescribed=[1, 0], udot=r.normal(size=2) * 0 + 0.5, threads=2)
    listed = arm.forward(q, u, tau, wrenches=[calder.Wrench(node, f[0, :3], f[0, 3:], local=True)] * 9)
    for i, s in enumerate(states):
        one = arm.forward(s, tau[i], wrenches={node: f[i]}, prescribed=[1, 0], udot=[0.5, 0.5])
        assert np.array_equal(got[i], one) and got[i, 0] == 0.5
        nine = [calder.Wrench(node, tuple(f[0, :3]), tuple(f[0, 3:]), local=True)] * 9
        assert np.array_equal(listed[i], arm.forward(s, tau[i], wrenches=nine))
    pushed = arm.rollout(q, u, tau, step=1e-3, wrenches={node: r.normal(size=(3, B, 6))})
    assert not np.array_equal(pushed.q, arm.rollout(q, u, tau, step=1e-3, steps=3).q)
    with pytest.raises(calder.ArgumentError):
        arm.forward(q, u, wrenches={node: np.zeros((B + 1, 6))})
    with pytest.raises(calder.ArgumentError):
        arm.forward(q, u, wrenches=[3])


# ---- calder.Batch --------------------------------------------------------------------------------


def test_batch_steps_in_place(arm):
    _, q, u, tau, _ = draw(arm)
    expected = arm.rollout(q, u, tau, step=1e-3, steps=5)
    for threads in (1, 2, 0):
        b = calder.Batch(arm, B, threads=threads)
        assert np.array_equal(b.q, np.tile(arm.neutral().q, (B, 1))) and len(b) == B and b.threads >= 1
        b.q[:], b.u[:] = q, u
        assert np.array_equal(b.forward(tau), arm.forward(q, u, tau))
        assert np.array_equal(b.inverse(tau), arm.inverse(q, u, tau))
        assert np.array_equal(b.mass_matrix(), arm.mass_matrix(q)) and np.array_equal(b.energy().total, arm.energy(q, u).total)
        assert np.array_equal(b.jacobian(0), arm.jacobian(q, 0)) and b.momentum().com.shape == (B, 3)
        assert np.array_equal(b.kinematics(arm.nodes[-1]).position[:, 0], arm.kinematics(q, u).position[:, -1])
        assert np.array_equal(b.rollout(tau, step=1e-3, steps=5).q, expected.q) and np.array_equal(b.q, q)
        assert not b.step(tau, step=1e-3, steps=5).any()
        assert np.array_equal(b.q, expected.q) and np.array_equal(b.u, expected.u) and np.allclose(b.t, 5e-3)
        with pytest.raises(calder.ArgumentError):
            b.step(tau, step=1e-3, steps=2, every=1)
        copy = pickle.loads(pickle.dumps(b))
        assert np.array_equal(copy.q, b.q) and np.array_equal(copy.t, b.t) and copy.threads == b.threads
        b.close()
        b.close()
        with pytest.raises(calder.ClosedError):
            b.forward()
        assert np.array_equal(b.q, expected.q)
    for wrong in (-1, 1.5, True, "3"):
        with pytest.raises(calder.ArgumentError):
            calder.Batch(arm, wrong)
    with pytest.raises(calder.ArgumentError):
        calder.Batch("arm", 3)


def test_batches_outlive_their_names():
    m = calder.load(EXAMPLES / "double_pendulum.yaml")
    b = calder.Batch(m, 4, threads=2)
    q = b.q
    del m
    gc.collect()
    assert b.forward().shape == (4, 2)
    del b
    gc.collect()
    q[:] = 1


# ---- threads of Python -----------------------------------------------------------------------------


def test_other_threads_run_during_a_call(arm):
    """Nothing but the calls lets go of the GIL here: the other thread can only count during them."""
    b, counted, gate = calder.Batch(arm, 64), [], threading.Lock()

    def count():
        with gate:
            for _ in range(1000):
                counted.append(1)

    interval, calls = sys.getswitchinterval(), 0
    gate.acquire()
    other = threading.Thread(target=count)
    other.start()
    try:
        sys.setswitchinterval(1000)
        gate.release()
        while not counted and calls < 300:
            b.step(step=1e-6, steps=200)
            calls += 1
        seen = len(counted)
    finally:
        sys.setswitchinterval(interval)
        other.join()
    assert seen > 0 and calls > 0


def test_a_batch_in_use_is_busy_and_models_are_shared(arm):
    _, q, u, tau, _ = draw(arm)
    b, expected, problems = calder.Batch(arm, 2000), arm.forward(q, u, tau), []

    def work():
        for _ in range(50):
            if not np.array_equal(arm.forward(q, u, tau, threads=2), expected):
                problems.append("bits")
            try:
                b.step(step=1e-6, steps=20)
            except calder.BusyError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_forked_processes_have_threads_of_their_own(arm):
    _, q, u, tau, _ = draw(arm)
    b, expected = calder.Batch(arm, B, threads=2), arm.forward(q, u, tau, threads=2)
    b.q[:], b.u[:] = q, u
    b.forward()
    child = os.fork()
    if child == 0:
        same = np.array_equal(arm.forward(q, u, tau, threads=2), expected) and np.array_equal(b.forward(tau), expected)
        del b
        gc.collect()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(b.forward(tau), expected)


def test_the_page_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "batch.md").read_text()
    block = page.split("```python\n")[1].split("```")[0]
    names: dict = {}
    exec(block, names)
    assert names["r"].q.shape == (10, 1000, 2) and names["udot"].shape == (1000, 2)
    assert np.array_equal(names["b"].q, names["m"].rollout(names["q"], names["u"], step=1e-3, steps=10).q)


def test_importing_starts_no_thread():
    code = "import calder, os; print(len(os.listdir('/proc/self/task')))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout == "1\n"
