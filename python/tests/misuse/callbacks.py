# SPDX-License-Identifier: Apache-2.0
"""Controllers, devices and events that raise, return rubbish, call back into the run, or delete what they stand on."""
from __future__ import annotations

import gc
import math
import threading

import numpy as np
from harness import Cases, calder, model, sim, two_bodies

CASES = Cases()
m = model()
Bad = calder.ArgumentError


def controlled(function: object, **options: object) -> calder.Sim:
    a = sim(step=1e-2)
    a.control(function, **options)
    return a


# ---- controllers ---------------------------------------------------------------------------------

for _what, _tau, _errors, _pattern in (
    ("short", [1.0], Bad, "forces of the controller: expected 2 numbers: shoulder, elbow"),
    ("long array", np.zeros(3), Bad, "expected 2 numbers"), ("matrix", np.zeros((1, 2)), Bad, "expected 2 numbers"),
    ("scalar", 3.0, Bad, "expected 2 numbers"), ("text", "hold", Bad, "numbers"), ("texts", ["1", "2"], Bad, "numbers"),
    ("complex", np.zeros(2, complex), Bad, "numbers"), ("objects", [object()] * 2, Bad, "numbers"),
    ("NaN", [math.nan, 0.0], calder.NumericalError, "."), ("inf array", np.array([math.inf, 0]), calder.NumericalError, "."),
    ("unknown name", {"wrist": 1.0}, KeyError, "no speed 'wrist'"), ("text by name", {"elbow": "x"}, (ValueError, TypeError), "."),
    ("None by name", {"elbow": None}, (ValueError, TypeError), "."), ("list by name", {"elbow": [1, 2]}, (ValueError, TypeError), "."),
    ("function", len, Bad, "numbers"), ("generator", iter([1.0, 2.0]), Bad, "numbers"),
):
    for _period in (0.0, 0.05):
        CASES.refused(f"controller of period {_period} returns {_what}", _errors, _pattern,
                      lambda t=_tau, p=_period: controlled(lambda _t, _s: t, period=p).run(0.1))


class Odd(Exception):
    """Raised by callbacks here."""


def throw(error: BaseException) -> None:
    raise error


for _error in (Odd("wheel came off"), KeyboardInterrupt("wheel"), SystemExit("wheel"), StopIteration("wheel"), GeneratorExit("wheel"),
               RecursionError("wheel"), MemoryError("wheel"), calder.NumericalError("wheel", 2)):
    CASES.refused(f"controller raises {type(_error).__name__}", type(_error), "wheel",
                  lambda e=_error: controlled(lambda t, s: throw(e)).run(0.1))
CASES.refused("controller recurses", RecursionError, "recursion", lambda: controlled(forever).run(0.1))
CASES.refused("controller of no arguments", TypeError, "argument", lambda: controlled(lambda: None).run(0.1))
CASES.refused("controller is no function", Bad, "function of", lambda: controlled(3))
CASES.refused("controller of no group", KeyError, "no group", lambda: controlled(lambda t, s: None, group="left"))
CASES.refused("controller name number", Bad, "text", lambda: controlled(lambda t, s: None, name=3))
CASES.refused("controller name twice", calder.Error, ".", lambda: [a := controlled(lambda t, s: None, name="a"), a.control(print, name="a")])
for _value in (-1.0, math.nan, math.inf):
    CASES.refused(f"controller period {_value}", calder.Error, ".", lambda v=_value: controlled(lambda t, s: None, period=v))
CASES.refused("controller offset NaN", calder.Error, ".", lambda: controlled(lambda t, s: None, period=0.1, offset=math.nan))


def forever(t: float, s: object) -> object:
    return forever(t, s)


USES = {
    "run": lambda a: a.run(1), "step": lambda a: a.step(), "record": lambda a: a.record("q", 1), "close": lambda a: a.close(),
    "q": lambda a: a.q, "state": lambda a: a.state, "restore": lambda a: a.restore(b""), "checkpoint": lambda a: a.checkpoint(),
    "control": lambda a: a.control(lambda t, s: None), "lock": lambda a: a.lock("elbow"), "detach": lambda a: a.detach("elbow"),
    "on": lambda a: a.on(print, at=5), "devices": lambda a: a.devices, "restart": lambda a: a.restart(), "read": lambda a: a.read("q"),
    "acceleration": lambda a: a.acceleration(), "add_device": lambda a: a.add_device(calder.Device()), "switch": lambda a: a.switch("x", 1),
    "reserve": lambda a: a.reserve(), "linearize": lambda a: a.linearize(),
}
for _what, _use in USES.items():
    def _inside(use: object = _use) -> None:
        a = sim(step=1e-2)
        a.control(lambda t, s: use(a))
        a.run(0.1)

    CASES.refused(f"controller calls sim.{_what}", calder.BusyError, "in use", _inside)


@CASES.harmless
def a_run_after_a_callback_raised() -> None:
    a, calls = sim(step=1e-2), []

    def function(t: float, s: calder.State) -> None:
        calls.append(t)
        if len(calls) == 20:
            raise Odd

    a.control(function)
    try:
        a.run(1)
    except Odd:
        pass
    assert len(calls) == 20 and 0 < a.t < 0.1
    b = sim(step=1e-2)
    b.control(lambda t, s: None)
    np.testing.assert_allclose(a.run(until=0.5).q, b.run(until=0.5).q, rtol=0, atol=1e-9)


@CASES.harmless
def controller_deletes_everything() -> None:
    box = {}

    def function(t: float, s: calder.State) -> None:
        box.clear()
        gc.collect()

    box["sim"] = sim(step=1e-2)
    box["sim"].control(function)
    box["sim"].run(0.1)


@CASES.harmless
def controller_keeps_and_ruins_its_state() -> None:
    kept: list[calder.State] = []

    def function(t: float, s: calder.State) -> None:
        kept.append(s)
        s.q[:] = math.nan
        s.u[:] = math.inf
        s.t = -5.0

    a, b = sim(step=1e-2), sim(step=1e-2)
    a.control(function)
    b.control(lambda t, s: None)
    assert np.array_equal(a.run(0.2).q, b.run(0.2).q)
    a.close()
    del a
    assert np.isnan(kept[0].q).all()


@CASES.harmless
def controller_uses_the_model() -> None:
    a = controlled(lambda t, s: m.inverse(s, [0.0, 0.0]))
    a.u = [0.0, 0.0]
    start = a.q.copy()
    np.testing.assert_allclose(a.run(0.5).q, start, atol=1e-9)


# ---- devices -------------------------------------------------------------------------------------

class Fine(calder.Device):
    """Does nothing."""

    def evaluate(self, context: calder.Context, x: np.ndarray, d: np.ndarray) -> object:
        return None


def with_device(**members: object) -> calder.Sim:
    device = type("Made", (Fine,), members)()
    a = sim(step=1e-2)
    a.add_device(device)
    return a


CASES.refused("device is none", Bad, "subclass of calder.Device", lambda: sim().add_device(object()))
CASES.refused("device is a class", Bad, "subclass of calder.Device", lambda: sim().add_device(calder.Device))
CASES.refused("device without evaluate", NotImplementedError, "needs evaluate", lambda: [a := sim(), a.add_device(calder.Device()), a.run(1)])
for _what, _members in {
    "nx negative": {"nx": -1}, "nx text": {"nx": "x"}, "nx huge": {"nx": 2**40}, "nd negative": {"nd": -3}, "events negative": {"event_count": -1},
    "wrenches negative": {"wrench_count": -1}, "period NaN": {"period": math.nan}, "name number": {"name": 5}, "name with zero": {"name": "a\0b"},
    "outputs numbers": {"output_names": [1, 2]}, "units too few": {"output_names": ["a", "b"], "output_units": ["m"]},
}.items():
    CASES.refused(f"device: {_what}", (calder.Error, TypeError, ValueError, OverflowError), ".", lambda x=_members: with_device(**x).run(0.1))
for _method in ("start", "evaluate", "sample", "values", "event", "outputs"):
    CASES.refused(f"device raises in {_method}", Odd, "here", lambda name=_method: raising(name))
for _what, _value in {"short": [], "long": [1, 2], "text": "a", "complex": [1j], "None in list": [None]}.items():
    CASES.refused(f"device: xdot {_what}", Bad, "xdot of device", lambda v=_value: with_device(nx=1, evaluate=lambda self, c, x, d: v).run(0.1))
    CASES.refused(f"device: values {_what}", Bad, "values of device", lambda v=_value: with_device(event_count=1, values=lambda self, c, x, d: v).run(0.1))
    CASES.refused(f"device: outputs {_what}", Bad, "outputs of device",
                  lambda v=_value: with_device(output_names=["a"], outputs=lambda self, c, x, d: v).devices)
CASES.refused("device: xdot NaN", calder.NumericalError, ".", lambda: with_device(nx=1, evaluate=lambda self, c, x, d: [math.nan]).run(0.1))
CASES.refused("device: values None", Bad, "values of device", lambda: with_device(event_count=1).run(0.1))


def raising(method: str) -> None:
    """A device that raises in one of its methods."""
    members = {"nx": 1, "event_count": 1, "period": 0.05, "output_names": ["a"], "values": lambda self, c, x, d: [c.t - 0.055],
               "outputs": lambda self, c, x, d: [0.0], "event": lambda self, c, i, r, x, d: None}
    members[method] = lambda *_: throw(Odd("here"))
    a = with_device(**members)
    a.record(["q", "device:Made1"], 0.2)


def in_device(use: object) -> None:
    with_device(evaluate=lambda self, c, x, d: use(c)).run(0.1)


for _what, _use, _pattern in (
    ("unknown node", lambda c: c.pose("hand"), "no node"), ("unknown joint", lambda c: c.q("wrist"), "no joint"),
    ("dof out of range", lambda c: c.q(("elbow", 3)), "no joint"), ("dof negative", lambda c: c.u(("elbow", -1)), "no joint"),
    ("dof huge", lambda c: c.q(("elbow", 2**40)), "."), ("dof text", lambda c: c.q(("elbow", "x")), "."),
    ("dof list", lambda c: c.q(["elbow"]), "."), ("dof None", lambda c: c.q(None), "."), ("dof triple", lambda c: c.q(("a", 1, 2)), "."),
    ("effort text", lambda c: c.apply_effort("elbow", "x"), "."), ("effort NaN", lambda c: c.apply_effort("elbow", math.nan), "."),
    ("wrench short", lambda c: c.apply_wrench("upper", force=[1, 2]), "force"), ("wrench NaN", lambda c: c.apply_wrench("upper", force=[math.nan] * 3), "."),
    ("too many wrenches", lambda c: [c.apply_wrench("upper") for _ in range(100)], "apply_wrench"),
    ("node number", lambda c: c.pose(0), "."), ("power text", lambda c: c.add_supplied_power("x"), "."),
):
    CASES.refused(f"context: {_what}", (calder.Error, TypeError, ValueError, OverflowError), _pattern, lambda u=_use: in_device(u))


def keep_context() -> calder.Context:
    kept: list[calder.Context] = []
    with_device(evaluate=lambda self, c, x, d: kept.append(c)).run(0.05)
    return kept[0]


for _what, _use in {"t": lambda c: c.t, "q": lambda c: c.q("elbow"), "pose": lambda c: c.pose("upper"), "effort": lambda c: c.apply_effort("elbow", 1),
                    "wrench": lambda c: c.apply_wrench("upper"), "power": lambda c: c.add_supplied_power(1)}.items():
    CASES.refused(f"context after its call: {_what}", calder.StaleError, "only during the call", lambda u=_use: u(keep_context()))
    CASES.refused(f"context of nobody: {_what}", calder.StaleError, "only during the call", lambda u=_use: u(calder.Context()))


@CASES.harmless
def device_keeps_views_of_its_states() -> None:
    kept: list[np.ndarray] = []

    def evaluate(self: object, c: calder.Context, x: np.ndarray, d: np.ndarray) -> list[float]:
        kept.extend((x, d))
        x[:] = 1e300  # a copy
        return [1.0, 0.0]

    a = with_device(nx=2, nd=1, evaluate=evaluate)
    a.run(0.1)
    assert abs(a.devices["Made1"].x[0] - 0.1) < 1e-12
    a.close()
    del a
    gc.collect()
    for x in kept:
        x[:] = 0


@CASES.harmless
def one_device_in_two_sims() -> None:
    device = Fine()
    a, b = sim(step=1e-2), sim(step=1e-2)
    a.add_device(device)
    b.add_device(device)
    a.run(0.1)
    a.close()
    del a
    gc.collect()
    b.run(0.1)


@CASES.harmless
def counts_changed_after_the_device_was_added() -> None:
    device = type("Grows", (Fine,), {"nx": 1, "output_names": ["a"], "outputs": lambda self, c, x, d: [1.0]})()
    a = sim(step=1e-2)
    a.add_device(device)
    device.nx, device.nd, device.output_names, device.event_count = 1000, 1000, ["a"] * 1000, 50
    a.run(0.1)
    assert len(a.devices["Grows1"].x) == 1


# ---- events --------------------------------------------------------------------------------------

def with_event(action: object, **when: object) -> calder.Sim:
    a = calder.Sim(two_bodies(), step=1e-2)
    a.on(action, **(when or {"at": 0.05}))
    return a


CASES.refused("event: neither", Bad, "either", lambda: sim().on(print))
CASES.refused("event: both", Bad, "either", lambda: sim().on(print, at=1, when=print))
CASES.refused("event: no function", Bad, "function", lambda: sim().on(3, at=1))
CASES.refused("event: when no function", Bad, "function", lambda: sim().on(print, when=3))
CASES.refused("event: at text", (TypeError, Bad), ".", lambda: sim().on(print, at="now"))
for _value in (math.nan, math.inf, -1.0):
    CASES.refused(f"event: at {_value}", calder.Error, ".", lambda v=_value: sim(step=1e-2).on(print, at=v))
CASES.refused("event: direction", calder.Error, "direction", lambda: sim().on(print, at=1, direction=7))
CASES.refused("event raises", Odd, "here", lambda: with_event(lambda t: throw(Odd("here"))).run(0.1))
CASES.refused("event of no arguments", TypeError, "argument", lambda: with_event(lambda: None).run(0.1))
for _what, _value in {"text": "x", "None": None, "list": [1.0], "NaN": math.nan}.items():
    CASES.refused(f"event value {_what}", (TypeError, calder.Error), ".",
                  lambda v=_value: with_event(lambda t: None, when=lambda c: v).run(0.1))
CASES.refused("event value raises", Odd, "here", lambda: with_event(None, when=lambda c: throw(Odd("here"))).run(0.1))
for _what in ("run", "step", "record", "close", "restore", "checkpoint", "control", "on", "restart", "acceleration", "add_device"):
    def _act(use: object = USES[_what]) -> None:
        a = with_event(lambda t: use(a))
        a.run(0.1)

    CASES.refused(f"event calls sim.{_what}", calder.BusyError, "in use", _act)
CASES.refused("event writes NaN", calder.NumericalError, ".", lambda: write_in_event(math.nan))


def write_in_event(value: float) -> None:
    a = with_event(lambda t: a.u.__setitem__(0, value))
    a.run(0.2)


@CASES.harmless
def event_uses_another_thread() -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            a.lock("elbow")
        except calder.BusyError as error:
            caught.append(error)

    def action(t: float) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    a = with_event(action)
    a.run(0.1)
    assert len(caught) == 1


@CASES.harmless
def event_changes_the_topology_and_old_views() -> None:
    seen = []

    def action(t: float) -> None:
        before = a.state
        a.detach("elbow", "loose")
        seen.append((before, a.states["loose"]))
        a.lock("shoulder")

    a = with_event(action)
    a.run(0.2)
    before, loose = seen[0]
    assert np.isfinite(before.q).all() and np.isfinite(loose.q).all() and "loose" in a.states
