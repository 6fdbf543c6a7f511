# SPDX-License-Identifier: Apache-2.0
"""Controllers, devices and events in Python."""
from __future__ import annotations

import gc

import numpy as np
import pytest

import calder

from conftest import EXAMPLES


def test_computed_torque_follows_a_reference(arm):
    sim = calder.Sim(arm, step=1e-3)

    def control(t, s):
        error = np.array([0.5, -0.3]) - s.q
        return arm.inverse(s, 100 * error - 20 * s.u)

    sim.control(control)
    sim.run(3)
    assert np.allclose(sim.q, [0.5, -0.3], atol=1e-6)
    assert abs(sim.balance.error) < 1e-6 and sim.balance.complete and sim.balance.supplied != 0


def test_a_sampled_controller_is_called_at_its_times(arm):
    times = []
    sim = calder.Sim(arm)
    sim.control(lambda t, s: times.append(t), period=0.01)
    sim.run(0.1)
    assert np.allclose(times, np.arange(0, 0.101, 0.01)[: len(times)]) and len(times) in (10, 11)


@pytest.mark.parametrize("given", [{"elbow": 1.5}, [0, 1.5], np.array([0, 1.5]), np.array([0, 1.5], np.float32), (0, 1.5)])
def test_forces_come_as_arrays_or_by_name(arm, given):
    sim, reference = calder.Sim(arm, step=1e-3), calder.Sim(arm, step=1e-3)
    sim.control(lambda t, s: given)
    reference.control(lambda t, s: np.array([0, 1.5]))
    assert np.array_equal(sim.run(0.2).q, reference.run(0.2).q)


@pytest.mark.parametrize("given", ["x", [1, 2, 3], {"nothing": 1}, object(), 1j])
def test_wrong_forces_stop_the_run(arm, given):
    sim = calder.Sim(arm)
    sim.control(lambda t, s: given)
    with pytest.raises(calder.Error):
        sim.run(0.1)


class Marked(Exception):
    pass


@pytest.mark.parametrize("period", [0.0, 0.01])
def test_an_exception_in_a_controller_comes_out(arm, period):
    sim = calder.Sim(arm)

    def control(t, s):
        if t > 0.05:
            raise Marked(t)

    sim.control(control, period=period)
    with pytest.raises(Marked) as caught:
        sim.run(1)
    assert caught.value.args[0] > 0.05 and 0 < sim.t <= caught.value.args[0]
    assert np.all(np.isfinite(sim.q))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_any_exception_comes_out(arm, kind):
    sim = calder.Sim(arm)

    def control(t, s):
        raise kind

    sim.control(control)
    with pytest.raises(kind):
        sim.run(1)


def test_a_controller_cannot_run_the_simulation(arm):
    sim = calder.Sim(arm)
    sim.control(lambda t, s: sim.run(1) and None)
    with pytest.raises(calder.BusyError):
        sim.run(1)


def test_a_controller_outlives_its_names(arm):
    sim = calder.Sim(arm)

    def make():
        gain = np.array([1.0, 2.0])
        return lambda t, s: -gain * s.u

    sim.control(make())
    gc.collect()
    sim.run(0.5)
    del sim
    gc.collect()


def test_a_controller_is_called_once_for_each_evaluation(arm):
    """What 200 kHz of them cost is measured by a benchmark (docs/python.md), not here."""
    zero, times = np.zeros(2), []

    def control(t, s):
        times.append(t)
        return zero

    sim = calder.Sim(arm, step=1e-4)
    sim.control(control)
    sim.run(0.05)
    assert 0 <= len(times) - sim.stats.evaluations <= 2  # the start beside the steps


class Spring(calder.Device):
    """A spring on the elbow with a state that integrates its force."""

    name = "spring"
    nx, nd = 1, 1
    output_names, output_units = ("force", "impulse"), ("N m", "N m s")
    accounts = True

    def start(self, context, x, d):
        x[0], d[0] = 0.0, 3.0

    def evaluate(self, context, x, d):
        force = -d[0] * context.q("elbow")
        context.apply_effort("elbow", force)
        context.add_stored_energy(0.5 * d[0] * context.q("elbow") ** 2)
        return [force]

    def outputs(self, context, x, d):
        return [-d[0] * context.q("elbow"), x[0]]


def test_a_device_has_states_outputs_and_energy(arm):
    sim = calder.Sim(arm)
    sim.add_device(Spring())
    r = sim.record(["device:spring", "q:elbow"], 1, interval=0.01)
    force, impulse = r["device:spring.force"], r["device:spring.impulse"]
    assert np.allclose(force, -3 * r["q:elbow"], atol=1e-12)
    assert impulse[-1] == pytest.approx(np.trapz(force, r.t), abs=1e-3)
    assert sim.devices["spring"].units == {"force": "N m", "impulse": "N m s"} and sim.devices["spring"].d == (3.0,)
    assert abs(sim.balance.error) < 1e-6 and sim.balance.complete


class Stop(calder.Device):
    """Counts the passages of the elbow through zero."""

    nd, event_count, period = 1, 1, 0.1

    def __init__(self):
        self.seen, self.samples = [], 0

    def evaluate(self, context, x, d):
        context.apply_wrench("lower", force=(0, 0, 0.1))

    def values(self, context, x, d):
        return [context.q("elbow")]

    def event(self, context, index, rising, x, d):
        d[0] += 1
        self.seen.append((context.t, rising))

    def sample(self, context, x, d):
        self.samples += 1


def test_a_device_has_events_and_samples(arm):
    sim = calder.Sim(arm)
    device = sim.add_device(Stop())
    sim.run(2)
    assert device.seen and device.samples in (20, 21)
    assert sim.devices["Stop1"].d == (float(len(device.seen)),)


class Broken(calder.Device):
    nx = 2

    def __init__(self, where):
        self.where = where

    def start(self, context, x, d):
        if self.where == "start":
            raise Marked

    def evaluate(self, context, x, d):
        if self.where == "evaluate":
            raise Marked
        if self.where == "length":
            return [1, 2, 3]
        if self.where == "name":
            context.q("nothing")
        self.kept = context


@pytest.mark.parametrize("where,kind", [("start", Marked), ("evaluate", Marked), ("length", calder.ArgumentError),
                                        ("name", calder.Error)])
def test_exceptions_of_devices_come_out(arm, where, kind):
    sim = calder.Sim(arm)
    with pytest.raises(kind):
        sim.add_device(Broken(where))
        sim.run(0.1)


def test_a_context_is_not_kept(arm):
    sim, device = calder.Sim(arm), Broken("")
    sim.add_device(device)
    sim.run(0.1)
    with pytest.raises(calder.StaleError):
        device.kept.t


def test_events_change_the_state_and_stop(arm):
    sim = calder.Sim(arm)

    def bounce(t):
        sim.u["elbow"] = -sim.u["elbow"]

    seen = []
    sim.on(bounce, when=lambda c: c.q("elbow") - 0.5, direction=1, name="bounce")
    sim.on(lambda t: seen.append(t), at=0.25)
    sim.on(lambda t: False, at=0.9)
    sim.run(5)
    assert sim.t == pytest.approx(0.9) and sim.stopped and seen == [0.25] and sim.events["bounce"] >= 1
    sim.run(0.1)


def test_events_change_the_topology():
    b = calder.Builder()
    for name in ("a", "z"):
        b.body(name, mass=1, inertia=(1, 1, 1))
    b.joint("flight", "free", to="a").joint("tie", "weld", to="z", from_="a", inboard=(1, 0, 0))
    sim = calder.Sim(b.model())
    reports = []
    sim.on(lambda t: reports.append(sim.detach("tie", "loose")), at=0.1)
    sim.run(0.2)
    assert reports[0].other == "loose" and set(sim.states) == {"main", "loose"}


def test_exceptions_of_events_come_out(arm):
    for options in ({"at": 0.1}, {"when": lambda c: 1 / 0}):
        sim = calder.Sim(arm)

        def action(t):
            raise ZeroDivisionError

        sim.on(action, **options)
        with pytest.raises(ZeroDivisionError):
            sim.run(1)


def test_a_controller_rests_while_its_group_is_another():
    m = calder.load(EXAMPLES / "docking.yaml")
    sim = calder.Sim(m)
    calls = []
    sim.control(lambda t, s: calls.append(t), group="chaser", period=0.5)
    with pytest.raises(calder.ArgumentError, match="several groups"):
        sim.control(lambda t, s: None)
    sim.run(until=12)
    assert calls and max(calls) < 9.6


def test_a_controller_of_a_changed_group_works_until_the_next_change():
    b = calder.Builder()
    for name in ("a", "z"):
        b.body(name, mass=1, inertia=(1, 1, 1), nodes={"port": (0.5, 0, 0)})
    b.joint("flight", "free", to="a").joint("tie", "weld", to="z", from_="a", inboard=(1, 0, 0))
    sim = calder.Sim(b.model()).run(0.1)
    sim.detach("tie", "loose")
    group, seen = sim.states["loose"].group, []
    sim.control(lambda t, s: seen.append(group.energy(s).kinetic), group="loose")
    sim.run(0.1)
    assert seen
    sim.on(lambda t: sim.reattach("tie", tolerance=1) and sim.detach("tie", "loose"), at=0.3)
    with pytest.raises(calder.StaleError):
        sim.run(0.5)
