# SPDX-License-Identifier: Apache-2.0
"""Simulations: wrong options and times, use after close, checkpoints, changes of topology."""
from __future__ import annotations

import math

import numpy as np
from harness import Cases, calder, model, sim, two_bodies

CASES = Cases()
m = model()
Bad = calder.ArgumentError

# ---- options -------------------------------------------------------------------------------------

for _name in ("step", "rtol", "atol", "max_step"):
    for _value in (math.nan, math.inf, -1.0):
        CASES.refused(f"Sim {_name}={_value}", (Bad, calder.ModelError), ".",
                      lambda n=_name, v=_value: sim(method="dopri5" if n != "step" else "rk4", **{"step": 1e-3, n: v}).run(0.01))
    CASES.refused(f"Sim {_name} text", (TypeError, Bad), ".", lambda n=_name: sim(**{n: "small"}))
CASES.refused("Sim step=0", Bad, "step", lambda: sim(step=0))
CASES.refused("Sim fixed method without step", Bad, "give step=", lambda: calder.Sim(calder.loads(
    "calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: revolute, axis: z, from: ground, to: a}}\n"), method="rk4"))
for _value in (-1, 2**31, 10**30):
    CASES.refused(f"Sim threads={_value}", (Bad, OverflowError, calder.Error), ".", lambda v=_value: sim(threads=v).run(0.01))
CASES.refused("Sim threads=1.5", (TypeError, Bad), ".", lambda: sim(threads=1.5))
CASES.refused("Sim branches=-1", (Bad, calder.Error), ".", lambda: sim(branches=-1).run(0.01))
CASES.refused("Sim room unknown", KeyError, "kind of room", lambda: sim(room={"wheels": 1}))
CASES.refused("Sim room huge", calder.ArgumentError, "1048576", lambda: sim(room={"bodies": 2**31 - 100}))
CASES.refused("Sim room negative", (calder.Error, Bad), ".", lambda: sim(room={"bodies": -5}))
CASES.refused("Sim room text", (ValueError, TypeError), ".", lambda: sim(room={"bodies": "many"}))
CASES.refused("Sim state of another model", (calder.Error, KeyError), "no group|expected", lambda: sim(state=model("pendulum").state()))
CASES.refused("Sim state text", (calder.Error, TypeError, ValueError), ".", lambda: sim(state="start"))
CASES.refused("Sim state of no States", (calder.Error, TypeError), "State", lambda: sim(state={m.name: [1, 2]}))
CASES.refused("Sim state not finite", (calder.NumericalError, Bad), ".", lambda: sim(state=m.state(q=[math.nan, 0])).run(0.1))

# ---- times ---------------------------------------------------------------------------------------

for _value in (-1.0, math.nan, math.inf, -math.inf):
    CASES.refused(f"run({_value})", Bad, "time only runs forward", lambda v=_value: sim().run(v))
    CASES.refused(f"record for {_value}", Bad, "time only runs forward", lambda v=_value: sim().record("q", v))
for _value in (-1.0, math.nan):
    CASES.refused(f"record interval={_value}", Bad, "interval", lambda v=_value: sim().record("q", 0.1, interval=v))
CASES.refused("run text", (TypeError, ValueError), ".", lambda: sim().run("1 s"))
CASES.refused("run both", Bad, "either", lambda: sim().run(1, until=2))
CASES.refused("run until the past", Bad, "forward", lambda: sim(step=1e-2).run(0.1).run(until=0.05))
CASES.refused("step(-1)", Bad, "count", lambda: sim(step=1e-2).step(-1))
CASES.refused("step(1.5)", (TypeError, Bad), ".", lambda: sim(step=1e-2).step(1.5))
CASES.refused("step huge", OverflowError, ".", lambda: sim(step=1e-2).step(2**70))
CASES.refused("time not finite", (Bad, calder.NumericalError), ".", lambda: set_time(math.nan).run(0.1))
CASES.refused("speed not finite", calder.NumericalError, ".", lambda: set_speed(math.inf).run(0.1))
CASES.refused("speed far too high", calder.NumericalError, ".", lambda: set_speed(1e200).run(0.1))
CASES.refused("stale acceleration after NaN", calder.NumericalError, ".", lambda: set_speed(math.nan).acceleration())


def set_time(t: float) -> calder.Sim:
    a = sim(step=1e-2)
    a.state.t = t
    return a


def set_speed(u: float) -> calder.Sim:
    a = sim(step=1e-2)
    a.u[0] = u
    return a


@CASES.harmless
def a_run_after_a_failure() -> None:
    a = sim(step=1e-2)
    start = a.q.copy()
    a.q[0] = math.nan
    for _ in range(3):
        try:
            a.run(0.1)
        except calder.NumericalError:
            continue
        raise AssertionError("NaN was run")
    a.state.t = 0.0
    a.q, a.u = start, [0.0, 0.0]
    again = sim(step=1e-2)
    again.u = [0.0, 0.0]
    assert np.array_equal(a.run(until=0.2).q, again.run(until=0.2).q)


@CASES.harmless
def nothing_to_do() -> None:
    a = sim(step=1e-2)
    assert a.run(0.0).step(0).t == 0 and len(a.record("q", 0.0)) == 1


# ---- closed --------------------------------------------------------------------------------------

def closed() -> calder.Sim:
    a = sim(step=1e-2)
    a.control(lambda t, s: None)
    a.run(0.05)
    a.close()
    return a


USES = {
    "run": lambda a: a.run(1), "step": lambda a: a.step(), "t": lambda a: a.t, "q": lambda a: a.q, "state": lambda a: a.state,
    "states": lambda a: a.states, "getitem": lambda a: a["upper"], "record": lambda a: a.record("q", 1), "read": lambda a: a.read("q"),
    "checkpoint": lambda a: a.checkpoint(), "restore": lambda a: a.restore(b""), "save": lambda a: a.save("none"),
    "load": lambda a: a.load("none"), "control": lambda a: a.control(lambda t, s: None), "on": lambda a: a.on(print, at=1),
    "add_device": lambda a: a.add_device(calder.Device()), "lock": lambda a: a.lock("elbow"), "detach": lambda a: a.detach("elbow"),
    "devices": lambda a: a.devices, "switch": lambda a: a.switch("control1", False), "doubts": lambda a: a.doubts,
    "balance": lambda a: a.balance, "stats": lambda a: a.stats, "log": lambda a: a.log, "events": lambda a: a.events,
    "acceleration": lambda a: a.acceleration(), "restart": lambda a: a.restart(), "reserve": lambda a: a.reserve(bodies=1),
    "set_state": lambda a: a.set_state(m.state()), "view": lambda a: a.view(), "enter": lambda a: a.__enter__().run(1),
}
for _what, _use in USES.items():
    CASES.refused(f"closed: {_what}", calder.ClosedError, "closed", lambda u=_use: u(closed()))


@CASES.harmless
def closing_twice() -> None:
    a = closed()
    a.close()
    assert "closed" in repr(a) and a.stopped is None


@CASES.harmless
def views_after_close() -> None:
    a = sim(step=1e-2)
    q, state, hand = a.q, a.state, a["upper"]
    a.run(0.1)
    kept = q.copy()
    a.close()
    del a
    assert np.array_equal(q, kept) and np.isfinite(hand.position).all() and state.t > 0
    q[:] = 5.0
    assert state.q[0] == 5.0 and np.isfinite(m.forward(state)).all()


# ---- checkpoints ---------------------------------------------------------------------------------

POINT = sim(step=1e-2).run(0.1).checkpoint()
for _what, _data in {"empty": b"", "rubbish": b"x" * 1000, "cut": POINT[:-8], "head": POINT[:16],
                     "of another": sim("pendulum", step=1e-2).run(0.1).checkpoint()}.items():
    CASES.refused(f"restore: {_what}", calder.Error, ".", lambda d=_data: sim(step=1e-2).restore(d))
for _data in (None, "text", 5):
    CASES.refused(f"restore: {type(_data).__name__}", (TypeError, Bad), "bytes|text", lambda d=_data: sim(step=1e-2).restore(d))
for _path in ("", "/no/such/folder/x", "/"):
    CASES.refused(f"save to {_path!r}", (calder.Error, OSError), ".", lambda p=_path: sim(step=1e-2).save(p))
    CASES.refused(f"load from {_path!r}", (calder.Error, OSError), ".", lambda p=_path: sim(step=1e-2).load(p))


@CASES.harmless
def flipped_bits_of_checkpoints() -> None:
    rng = np.random.default_rng(18)
    a = sim(step=1e-2)
    for _ in range(300):
        data = bytearray(POINT)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] ^= 1 << int(rng.integers(0, 8))
        try:
            a.restore(data)
            a.step()
        except calder.Error:
            pass
    a.restore(POINT)
    assert a.checkpoint() == POINT


# ---- topology ------------------------------------------------------------------------------------

def changed() -> tuple[calder.Sim, object, object]:
    a = calder.Sim(two_bodies(), step=1e-2)
    before = a.state
    a.detach("elbow", "loose")
    middle = a.states["loose"]
    a.lock("shoulder")
    a.reattach("elbow", fit="a")
    return a, before, middle


CASES.refused("state of a group that is gone", calder.StaleError, "changed groups", lambda: [old := changed()[2], old.group.forward(old)])
CASES.refused("copy of a stale state", calder.StaleError, "changed groups", lambda: changed()[2].copy())
CASES.refused("node of a stale state", calder.StaleError, "changed groups", lambda: stale_node().position)
CASES.refused("pickle of a group of a run", (TypeError, calder.StaleError), ".", lambda: __import__("pickle").dumps(changed()[2]))
CASES.refused("detach twice", calder.Error, ".", lambda: [a := calder.Sim(two_bodies(), step=1e-2), a.detach("elbow"), a.detach("elbow")])
CASES.refused("reattach a closed joint", calder.Error, ".", lambda: sim().reattach("elbow"))
CASES.refused("attach to itself", calder.Error, ".", lambda: sim().attach("upper", "upper", name="x"))
CASES.refused("attach far apart", calder.Error, ".", lambda: [a := calder.Sim(two_bodies(), step=1e-2), a.detach("elbow", "g"), a.run(0.3), a.reattach("elbow")])
CASES.refused("attach: type", KeyError, "joint type", lambda: sim().attach("upper", "lower", name="x", type="glue"))
CASES.refused("attach: fit", KeyError, "fit", lambda: sim().attach("upper", "lower", name="x", fit="c"))
CASES.refused("attach: axis", (KeyError, Bad), "axis", lambda: sim().attach("upper", "lower", name="x", type="revolute", axis="w"))
CASES.refused("attach: keyword", TypeError, "keyword", lambda: sim().attach("upper", "lower", name="x", speed=3))
CASES.refused("attach: dof", KeyError, "degree of freedom", lambda: sim().attach("upper", "lower", name="x", dof={"spring": 3}))
CASES.refused("remove a body that carries another", calder.Error, ".", lambda: sim().remove_body("upper"))
CASES.refused("add_body: negative mass", calder.Error, ".", lambda: sim().add_body("x", mass=-1, inertia=[1, 1, 1]))
CASES.refused("add_body: NaN", calder.Error, ".", lambda: sim().add_body("x", mass=1, inertia=[1, 1, math.nan]))
CASES.refused("add_body: velocity", (calder.Error, ValueError), ".", lambda: sim().add_body("x", mass=1, inertia=[1, 1, 1], velocity=[1]))
CASES.refused("add_body: name taken", calder.Error, ".", lambda: sim().add_body("upper", mass=1, inertia=[1, 1, 1]))
CASES.refused("add_body: inertia shape", (calder.Error, ValueError), ".", lambda: sim().add_body("x", mass=1, inertia=np.eye(4)))
CASES.refused("close_loop: type", KeyError, "loop type", lambda: sim().close_loop("upper", "lower", name="x", type="hook"))
CASES.refused("close_loop: axes", (KeyError, calder.Error), ".",
              lambda: sim().close_loop("upper", None, name="x", type="directions", translation="w"))
CASES.refused("propagate: how", KeyError, "propagation", lambda: sim().propagate("main", "fast"))
CASES.refused("reserve twice", calder.Error, ".", lambda: [a := sim(), a.reserve(bodies=1), a.reserve(bodies=1)])
CASES.refused("reserve late", calder.Error, ".", lambda: [a := sim(), a.lock("elbow"), a.reserve(bodies=1)])


def stale_node() -> object:
    a = calder.Sim(two_bodies(), step=1e-2)
    a.detach("elbow", "loose")
    node = a["lower"]
    a.reattach("elbow", fit="a")
    return node


@CASES.harmless
def old_views_keep_their_numbers() -> None:
    a = calder.Sim(two_bodies(), step=1e-2)
    q = a.q
    kept = q.copy()
    a.detach("elbow", "loose")
    a.run(0.2)
    assert np.array_equal(q, kept)
    q[:] = math.nan
    a.run(0.1)
    assert all(np.isfinite(s.q).all() for s in a.states.values())


@CASES.harmless
def too_many_bodies() -> None:
    a = sim(step=1e-2)
    for i in range(40):
        try:
            a.add_body(f"x{i}", mass=1, inertia=[1, 1, 1])
        except calder.Error as error:
            assert i == 4 and "room" in str(error)
            break
    else:
        raise AssertionError("room for 4 took 40")
    a.run(0.05)
