# SPDX-License-Identifier: Apache-2.0
"""Simulations: running, states, checkpoints, changes of topology, results."""
from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import calder

from conftest import EXAMPLES


@pytest.fixture
def vehicles() -> calder.Model:
    return calder.load(EXAMPLES / "docking.yaml")


def free_pair() -> calder.Model:
    """Two bodies that fly freely, tied by a hinge."""
    b = calder.Builder()
    for name, x in (("tug", 0.0), ("load", 2.0)):
        b.body(name, mass=3 + x, inertia=(1, 2, 1.5), nodes={"port": (1, 0, 0), "back": (-1, 0, 0)})
    b.joint("flight", "free", to="tug")
    b.joint("hinge", "revolute", to="load/back", from_="tug/port", axis="z")
    b.state("flight", u=[0.1, 0.2, 0.3, 0.5, 0, 0]).state("hinge", q=0.2, u=0.4)
    b.run(1.0)
    return b.model()


# ---- running ------------------------------------------------------------------------------------


def test_looking_at_signals_changes_no_bits(arm):
    for options in ({"step": 1e-3}, {}):
        whole = calder.Sim(arm, **options).run(2)
        sliced = calder.Sim(arm, **options)
        sliced._handle.clock.slice_s = 0  # Python is called after every step
        sliced.run(2)
        assert np.array_equal(whole.q, sliced.q) and np.array_equal(whole.u, sliced.u)
        assert whole.stats.steps == sliced.stats.steps


def test_steps_and_run_agree(arm):
    a, b = calder.Sim(arm, step=1e-2), calder.Sim(arm, step=1e-2)
    a.run(until=0.5)
    b.step(50)
    assert a.t == pytest.approx(b.t) and np.allclose(a.q, b.q, rtol=1e-12)


def test_energy_is_conserved(arm):
    sim = calder.Sim(arm)
    sim.run(3)
    assert abs(sim.balance.error) < 1e-6 and sim.balance.complete and sim.doubts == []


def test_state_written_between_runs_counts(arm):
    sim = calder.Sim(arm).run(0.5)
    sim.q["elbow"] = 1.0
    sim.u[:] = 0
    assert sim.read("u:elbow") == 0 and sim.read("q:elbow") == 1.0
    s = arm.state(q=sim.q.copy(), u=[0, 0], t=0.5)
    sim.run(0.25)
    other = calder.Sim(arm, state=s).run(0.25)
    assert np.array_equal(sim.q, other.q) and sim.t == other.t == 0.75


def test_views_follow_the_run(arm):
    sim = calder.Sim(arm)
    q, tip = sim.q, sim["lower"]
    before, position = q.copy(), tip.position
    sim.run(0.3)
    assert sim.q is q and not np.array_equal(q, before) and not np.array_equal(tip.position, position)


def test_nothing_dangles_when_a_sim_is_gone(arm):
    sim = calder.Sim(arm).run(0.1)
    q, state, tip, results = sim.q, sim.state, sim["lower"], sim.record(["q"], 0.1)
    expected = q.copy()
    sim.close()
    del sim
    gc.collect()
    assert np.array_equal(q, expected) and state.group.forward(state).shape == (2,)
    assert tip.position.shape == (3,) and results["q"].shape[1] == 2


def test_a_closed_sim_raises(arm):
    sim = calder.Sim(arm)
    with sim:
        sim.run(0.1)
    for call in (sim.run, sim.step, sim.checkpoint, lambda: sim.q, lambda: sim.t, lambda: sim.doubts, lambda: sim["lower"],
                 lambda: sim.lock("elbow"), lambda: sim.control(lambda t, s: None), lambda: sim.record("q", 1),
                 lambda: sim.devices, lambda: sim.linearize(), sim.restart):
        with pytest.raises(calder.ClosedError):
            call()
    sim.close()


@pytest.mark.parametrize("options", [{"step": -1}, {"step": float("nan")}, {"method": "rk9"}, {"method": "rk4"}])
def test_wrong_options_are_refused(arm, options):
    model = calder.load(EXAMPLES / "pendulum.yaml")
    with pytest.raises(calder.Error):
        calder.Sim(model, **options)


def test_a_run_lasts_as_long_as_the_model_says_or_the_last_one():
    m = free_pair()
    assert calder.Sim(m).run().run().t == 2.0
    b = calder.Builder().body("a", mass=1, inertia=(1, 1, 1)).joint("j", "free", to="a")
    sim = calder.Sim(b.model(), step=0.1)
    with pytest.raises(calder.ArgumentError, match="for how long"):
        sim.run()
    sim.run(0.5)
    assert len(sim.record("q")) == 6 and sim.t == pytest.approx(1.0)


@pytest.mark.parametrize("until", [-1.0, float("nan"), float("inf")])
def test_time_runs_forward(arm, until):
    with pytest.raises(calder.ArgumentError):
        calder.Sim(arm).run(until=until)


def test_nan_in_a_state_is_reported(arm):
    sim = calder.Sim(arm).run(0.1)
    sim.q[0] = np.nan
    with pytest.raises(calder.Error):
        sim.run(0.1)
    sim.q[0] = 0.1
    sim.run(0.1)


def test_threads_get_busy_or_their_own(arm):
    sim = calder.Sim(arm, step=1e-5)
    thread = threading.Thread(target=lambda: sim.run(2))
    thread.start()
    caught = 0
    while thread.is_alive():
        try:
            sim.q
        except calder.BusyError:
            caught += 1
        time.sleep(0.002)
    thread.join()
    assert caught > 0 and sim.t == 2


def test_many_threads_have_the_same_bits(arm):
    results = {}

    def work(i):
        results[i] = calder.Sim(arm).run(1).q.copy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(results[0], q) for q in results.values())


def test_a_child_process_continues(arm):
    sim = calder.Sim(arm).run(0.5)
    expected = calder.Sim(arm).run(0.5).run(0.5).q.copy()
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(sim.run(0.5).q, expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(sim.run(0.5).q, expected)


def test_a_child_process_has_no_threads_of_its_parent():
    m = calder.load(EXAMPLES / "chain128.yaml")
    sim, divided, s = calder.Sim(m, threads=2, branches=2).run(1e-3), m.parallel(2, 2, forced=True), m.state()
    divided.forward(s)
    child = os.fork()
    if child == 0:
        code = 0
        for call in (lambda: sim.run(1e-3), lambda: divided.forward(s)):
            try:
                call()
                code = 1
            except calder.UnsupportedError:
                pass
        del sim, divided, call
        gc.collect()  # does not wait for threads that are not there
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(divided.forward(s), divided.forward(s))


def test_ctrl_c_ends_a_long_run():
    code = ("import calder, sys\nm = calder.load(sys.argv[1])\nsim = calder.Sim(m, step=1e-6)\nsim.run(1e-3)\n"
            "try:\n    print('go', flush=True)\n    sim.run(1e5)\nexcept KeyboardInterrupt:\n    print('ended', sim.t > 0)\n")
    env = dict(os.environ, PYTHONPATH=str(Path(calder.__file__).parents[1]))
    child = subprocess.Popen([sys.executable, "-c", code, str(EXAMPLES / "pendulum.yaml")], stdout=subprocess.PIPE, text=True,
                             env=env)
    assert child.stdout.readline() == "go\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=3000)[0] == "ended True\n" and child.returncode == 0


# ---- checkpoints --------------------------------------------------------------------------------


def test_checkpoints_resume_bit_identically(arm, tmp_path):
    sim = calder.Sim(arm).run(0.5)
    kept = sim.checkpoint()
    sim.save(tmp_path / "c.ckpt")
    expected = sim.run(0.5).q.copy()
    sim.restore(kept)
    assert sim.t == 0.5 and np.array_equal(sim.run(0.5).q, expected)
    other = calder.Sim(pickle.loads(pickle.dumps(arm)))
    other.load(tmp_path / "c.ckpt")
    assert np.array_equal(other.run(0.5).q, expected)
    with pytest.raises(calder.Error):
        sim.restore(kept[:100])
    with pytest.raises(calder.Error):
        sim.restore(b"nothing")


def test_a_checkpoint_restores_topology(vehicles):
    sim = calder.Sim(vehicles).run(until=5)
    kept = sim.checkpoint()
    sim.run(until=20)
    assert set(sim.states) == {"main", "tanker"}
    expected = sim.states["main"].q.copy()
    sim.restore(kept)
    assert set(sim.states) == {"main", "chaser", "tanker"}
    assert np.array_equal(sim.run(until=20).states["main"].q, expected)


# ---- changes ------------------------------------------------------------------------------------


def test_events_of_the_file_happen(vehicles):
    sim = calder.Sim(vehicles)
    old = sim.states["chaser"]
    view, numbers = old.q, None
    sim.run(until=9)
    numbers = view.copy()
    sim.run(until=12)
    assert set(sim.states) == {"main", "tanker"} and sim.events["dock"] == 1
    dock = next(entry for entry in sim.log if entry.event == "dock")
    assert dock.kinetic_lost > 0 and dock.linear_jump < 1e-10
    assert np.array_equal(view, numbers)  # an old view keeps its last numbers
    old.group.forward(old)  # of the model itself: stays valid


def test_detach_and_attach_report_energy_and_momentum():
    m = free_pair()
    sim = calder.Sim(m).run(0.2)
    total = sim.balance
    old, group = sim.q, None
    report = sim.detach("hinge", "adrift")
    assert report.other == "adrift" and abs(report.kinetic_lost) < 1e-12
    assert np.allclose(sim.balance.linear, total.linear, atol=1e-12)
    group = sim.states["adrift"].group
    state = sim.states["adrift"].copy()
    assert group.forward(state).shape == (6,)
    sim.run(0.3)
    old[:] = 7  # detached from the run: nothing happens
    report = sim.attach("tug/port", "load/back", name="latch", type="weld", fit="a")
    assert report.kinetic_lost > 0 and np.linalg.norm(report.linear_change) < 1e-12
    assert list(sim.states) == ["main"] and sim.state.group.nu == 6
    for stale in (lambda: group.forward(state), lambda: group.state(), lambda: state.normalize(), lambda: state["load"].pose):
        with pytest.raises(calder.StaleError):
            stale()
    sim.run(0.1)


def test_lock_stops_a_joint():
    sim = calder.Sim(free_pair()).run(0.1)
    report = sim.lock("hinge")
    assert report.kinetic_lost > 0
    angle = sim.q["hinge"]
    sim.run(0.5)
    assert sim.q["hinge"] == angle and sim.u["hinge"] == 0
    sim.unlock("hinge")
    with pytest.raises(calder.Error, match="did you mean 'hinge'"):
        sim.lock("hing")


def test_a_model_with_loads_asks_for_room():
    m = calder.load(EXAMPLES / "free_flying_arm.yaml")
    with pytest.raises(calder.ArgumentError, match="room=True"):
        calder.Sim(m).lock("wrist_roll")
    calder.Sim(m, room=True).lock("wrist_roll")


def test_bodies_are_added_and_removed():
    sim = calder.Sim(free_pair(), room={"bodies": 2, "groups": 2, "joints": 2, "nodes": 2}).run(0.1)
    sim.add_body("pebble", mass=1, inertia=(1, 1, 1), at=(5, 0, 0), velocity=[0, 0, 0, 1, 0, 0], nodes={"top": (0, 0, 1)})
    sim.run(0.5)
    assert sim["pebble/top"].position == pytest.approx([5.5, 0, 1])
    sim.remove_body("pebble")
    assert "pebble" not in sim.states


def test_propagation_and_split_are_reachable():
    sim = calder.Sim(free_pair()).run(0.1)
    assert sim.propagate("main", "kinematic").group == "main"
    with pytest.raises(calder.Error):
        sim.propagate("main", "magic")
    with pytest.raises(calder.Error):
        sim.split("tug", "main")


def test_devices_are_listed_and_switched():
    m = calder.load(EXAMPLES / "wheel_slew.yaml")
    sim = calder.Sim(m).run(0.5)
    devices = sim.devices
    assert devices
    name, device = next(iter(devices.items()))
    assert device.active and set(device.outputs) == set(device.units)
    sim.switch(name, False)
    assert not sim.devices[name].active
    with pytest.raises(calder.Error):
        sim.switch("nothing", True)


# ---- results ------------------------------------------------------------------------------------


MOVED = """
calder: 1
groups: {cart: {}}
bodies:
  rod: {mass: 2 kg, com: [0, 0, -0.5], inertia: [0.2, 0.2, 0.01]}
  box: {mass: 1 kg, inertia: [1, 1, 1], group: cart}
joints:
  hinge: {type: revolute, axis: y, to: rod}
  rail: {type: prismatic, axis: x, to: box}
group_motions: {cart: {rail: {q: 0.1*t}}}
events: {let: {at: 1 s, do: {release: cart}}}
run: {duration: 4 s, step: 10 ms, method: rk4, formulation: system, update: 0.1 s}
"""


def test_dynamics_of_a_group_that_is_gone_are_refused():
    b = calder.Builder()
    for name in ("tug", "cargo"):
        b.body(name, mass=100, inertia=(40, 50, 60), nodes={"port": (1, 0, 0)})
    b.joint("flight", "free", to="tug").joint("latch", "weld", from_="tug/port", to="cargo/port")
    sim = calder.Sim(b.model(), step=0.01)
    sim.detach("latch", "free")
    assert sim.group_of("cargo") == "free" and sim.joint_state("latch") == ("open", False) and sim.propagation("free") == "flexible"
    assert sim.joint_state("flight") == ("tree", False)
    state = sim.states["free"]
    independent, form = state.group.independent(state), state.group.system_form()
    assert independent.mass_matrix().shape == (6, 6) and np.all(np.isfinite(form.dynamics(state)[0]))
    sim.attach("tug/port", "cargo/port", name="again", fit="a")
    state = sim.states["main"]
    closed = state.group.independent(state)
    sim.close()
    for gone in (independent.mass_matrix, independent.forward, lambda: independent.X, lambda: form.norm(np.ones(6)),
                 lambda: form.info, closed.mass_matrix):
        with pytest.raises(calder.StaleError):
            gone()


def test_given_motions_are_released_and_resumed():
    sim = calder.Sim(calder.loads(MOVED))
    assert sim.is_moved("cart") and not sim.is_moved("main") and sim.motion("cart") and sim.motion("main") is None
    sim.run(2)
    assert not sim.is_moved("cart") and sim.states["cart"].q["rail"] == pytest.approx(0.2)
    sim.states["cart"].u["rail"] = 0.0
    sim.run(1)
    assert sim.states["cart"].q["rail"] == pytest.approx(0.2)
    sim.resume_motion("cart")
    assert sim.is_moved("cart") and sim.states["cart"].q["rail"] == pytest.approx(0.3)
    with pytest.raises(calder.Error):
        sim.resume_motion("main")


def test_held_matrices_of_a_run_are_reported(arm):
    sim = calder.Sim(calder.loads(MOVED)).run(1)
    report = sim.formulation
    assert report.updates >= 10 and report.modes >= 1 and report.energy_removed == 0 and report.error >= 0
    assert calder.Sim(arm).run(0.1).formulation.updates == 0


def test_results_have_names_units_and_tables(arm, tmp_path):
    r = calder.Sim(arm).record(["q", "energy", "pose:lower"], 1, interval=0.1)
    assert len(r) == 11 and r["q"].shape == (11, 2) and r["q:elbow"].shape == (11,) and r.units["q:elbow"] == "rad"
    assert np.allclose(r.t, np.linspace(0, 1, 11)) and "q" in r and "nothing" not in r
    frame = r.to_pandas()
    assert list(frame.columns) == list(r.columns[1:]) and frame.attrs["units"]["energy:total"] == "J"
    assert np.array_equal(frame["q:elbow"].to_numpy(), r["q:elbow"])
    with pytest.raises(ValueError):
        r["q"][0, 0] = 1
    with pytest.raises(calder.Error, match="did you mean"):
        r["q:elbo"]
    r.save(tmp_path / "r.h5")
    r.save(tmp_path / "r.csv")
    f = calder.open(tmp_path / "r.h5")
    assert f.columns == r.columns and all(np.array_equal(f[c], r[c]) for c in r.columns)
    assert f.streams == ("main", "replay") and f.title == arm.title and f.model().q_names == arm.q_names
    rows = f["q"]
    del f
    gc.collect()
    assert np.array_equal(rows, r["q"])
    assert np.array_equal(pickle.loads(pickle.dumps(r))["q"], r["q"])
    with pytest.raises(calder.Error):
        calder.open(tmp_path / "none.h5")


def test_every_step_is_recorded_without_an_interval(arm):
    sim = calder.Sim(arm, step=1e-3)
    r = sim.record("q", 1, interval=0)
    assert len(r) == 1001 and np.array_equal(r["q"][-1], sim.q)


def test_plots_and_replays(arm, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    r = calder.Sim(arm).record(["q", "energy"], 0.5)
    figure = r.plot("q", "energy:total")
    assert len(figure.axes) == 2 and figure.axes[0].get_ylabel() == "q [rad]"
    path = r.view(tmp_path / "v.html")
    text = open(path).read()
    assert text.lower().startswith("<!doctype html") and "lower" in text
    assert "<iframe" in r.replay()._repr_html_()
    assert os.path.exists(calder.Sim(arm).view(0.2, path=tmp_path / "w.html"))


def test_quantities_are_listed_and_read(arm):
    assert "q:COORDINATE" in calder.quantities() or any(name.startswith("q") for name in calder.quantities())
    sim = calder.Sim(arm)
    assert sim.read("energy:total") == pytest.approx(arm.energy(arm.state()).total)
    assert sim.read("pose:lower").shape == (7,) or sim.read("pose:lower").ndim == 1
    with pytest.raises(calder.InputError):
        sim.read("nonsense")


# ---- parameters ---------------------------------------------------------------------------------

SERVO = """
calder: 1
gravity: [0, 0, -9.81]
bodies: {arm: {mass: 2 kg, rod: {from: [0, 0, 0], to: [1 m, 0, 0]}}}
joints: {pivot: {type: revolute, axis: -y, to: arm}}
devices: {motor: {type: servo, joint: pivot, reference: 30 deg, proportional: 60, derivative: 8}}
"""


def test_a_parameter_changes_the_run_and_its_energy_is_reported():
    sim = calder.Sim(calder.loads(SERVO), step=1e-3)
    sim.run(0.5)
    p = sim.parameters()["device:motor.proportional"]
    assert (p.value, p.unit, p.low, p.fixed) == (60, "N m/rad", 0, "")
    q, energy = sim.q["pivot"], sim.balance
    gained = sim.set_parameter("body:arm.mass", 5)
    assert sim.q["pivot"] == q
    now = sim.balance
    assert gained == pytest.approx(now.groups + now.stored - energy.groups - energy.stored, abs=1e-12)
    assert now.error == pytest.approx(energy.error, abs=1e-12)
    sim.set_parameter("device:motor.proportional", 300)
    sim.run(1.0)
    assert sim.parameters()["body:arm.mass"].value == 5
    assert [entry.action for entry in sim.log][-1].startswith("set device:motor.proportional to 300 N m/rad")


def test_a_parameter_that_cannot_be_changed_says_why():
    sim = calder.Sim(calder.loads(SERVO), step=1e-3)
    with pytest.raises(calder.ArgumentError, match="from 0"):
        sim.set_parameter("device:motor.proportional", -1)
    with pytest.raises(calder.ArgumentError, match="there is none"):
        sim.set_parameter("device:motor.integral", 3)
    with pytest.raises(KeyError, match="did you mean"):
        sim.set_parameter("device:motor.proportionl", 3)
