# SPDX-License-Identifier: Apache-2.0
"""Models: wrong texts, paths and objects; models of several groups; copies and pickles."""
from __future__ import annotations

import copy
import os
import pickle
import tempfile

import numpy as np
from harness import EXAMPLES, Cases, calder, model, sim

CASES = Cases()
m = model()
TEXT = m.to_text()

for _what, _text in {"empty": "", "not YAML": "{[", "no model": "a: 1", "list": "[1, 2]", "binary": b"\x00\xff" * 50, "zero": "calder: 1\0",
                     "future": "calder: 999\nbodies: {}", "no bodies": "calder: 1\nbodies: {}\n", "deep": "[" * 100_000,
                     "XML": "<robot/>", "bad URDF": "<robot name='a'><link/></robot>", "cut": TEXT[:len(TEXT) // 2],
                     "NaN mass": "calder: 1\nbodies: {a: {mass: .nan}}\n",
                     "negative mass": "calder: 1\nbodies: {a: {mass: -1}}\njoints: {j: {type: revolute, axis: z, from: ground, to: a}}\n",
                     "bomb": "a: &a [x]\n" + "".join(f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'}, *{'a' if i == 0 else f'b{i - 1}'}]\n" for i in range(40)),
                     }.items():
    CASES.refused(f"loads: {_what}", calder.Error, ".", lambda t=_text: calder.loads(t))
for _what, _text in {"None": None, "number": 5, "list": [1, 2], "object": object()}.items():
    CASES.refused(f"loads: {_what}", (calder.ArgumentError, TypeError), "text|bytes", lambda t=_text: calder.loads(t))
for _what, _path in {"missing": "no/such/file.yaml", "empty": "", "folder": str(EXAMPLES), "zero": f"{EXAMPLES}/pendulum.yaml\0x",
                     "device": "/dev/null", "long": "x" * 100_000}.items():
    CASES.refused(f"load: {_what}", (calder.Error, ValueError), ".", lambda p=_path: calder.load(p))
for _path in (None, 3, [], b"a\0b"):
    CASES.refused(f"load: {_path!r}", (TypeError, ValueError, calder.Error), ".", lambda p=_path: calder.load(p))
CASES.refused("load: base", calder.ArgumentError, "'fixed' or 'free'", lambda: calder.loads(TEXT, base="floating"))
CASES.refused("load: base unhashable", (calder.ArgumentError, TypeError), ".", lambda: calder.loads(TEXT, base=[]))
CASES.refused("load: roots text", calder.ArgumentError, "list", lambda: calder.loads(TEXT, roots="/usr/share"))
CASES.refused("load: roots numbers", TypeError, ".", lambda: calder.loads(TEXT, roots=[1]))
CASES.refused("save: folder", OSError, ".", lambda: m.save(EXAMPLES))
CASES.refused("save: missing folder", OSError, ".", lambda: m.save("/no/such/folder/x.yaml"))
CASES.refused("Model()", TypeError, "argument", lambda: calder.Model())
CASES.refused("Model(None)", (TypeError, calder.Error), ".", lambda: calder.Model(None))
CASES.refused("Sim(None)", calder.ArgumentError, "expected a calder.Model", lambda: calder.Sim(None))
CASES.refused("Sim(path)", calder.ArgumentError, "expected a calder.Model", lambda: calder.Sim("arm.yaml"))
CASES.refused("Group()", AttributeError, ".", lambda: calder.Group().state())
CASES.refused("State(None)", (TypeError, AttributeError, calder.Error), ".", lambda: calder.State(None))
CASES.refused("Model.__new__", AttributeError, ".", lambda: calder.Model.__new__(calder.Model).state())
CASES.refused("State.__new__", (AttributeError, calder.Error), ".", lambda: m.forward(calder.State.__new__(calder.State)))
CASES.refused("Sim.__new__", AttributeError, ".", lambda: calder.Sim.__new__(calder.Sim).run(1))
CASES.refused("several groups: state", calder.ArgumentError, "several groups: 'main', 'chaser'", lambda: model("docking").state())
CASES.refused("several groups: nq", calder.ArgumentError, "several groups", lambda: model("docking").nq)
CASES.refused("several groups: forward", calder.ArgumentError, "several groups", lambda: model("docking").forward(m.state()))
CASES.refused("several groups: sim.q", calder.ArgumentError, "several groups", lambda: sim("docking").q)
CASES.refused("several groups: unknown", KeyError, ".", lambda: model("docking").groups["none"])
CASES.refused("several groups: read-only", TypeError, "assign", lambda: exec("g[0] = 1", {"g": model("docking").groups}))
CASES.refused("unknown attribute", AttributeError, "no attribute", lambda: m.no_such_thing)
for _wrong in (None, 3, {"q": 1}, model("pendulum").state(), "state"):
    CASES.refused(f"state of wrong kind: {type(_wrong).__name__}", calder.ArgumentError, "state",
                  lambda w=_wrong: m.energy(w))
CASES.refused("difference of other model", calder.ArgumentError, "another model",
              lambda: m.state().difference(model("pendulum").state()))
CASES.refused("pickle of a Sim", TypeError, "checkpoint", lambda: pickle.dumps(sim()))
CASES.refused("copy of a Sim", TypeError, "checkpoint", lambda: copy.copy(sim()))
CASES.refused("deepcopy of a Sim", TypeError, "checkpoint", lambda: copy.deepcopy([sim()]))
CASES.refused("hash of a State", TypeError, "unhashable", lambda: hash(m.state()))


@CASES.harmless
def pickles_of_everything() -> None:
    r = sim(step=1e-2).record(["q", "energy"], 0.05)
    s = m.state(q=[0.1, 0.2])
    for thing in (m, s, s.q, s["upper"], s["upper"].pose, m.energy(s), m.momentum(s), m.kinematics(s), m.bodies[0], r,
                  calder.Wrench("upper"), sim().balance, sim().stats):
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing) or thing is s.q
    assert np.array_equal(pickle.loads(pickle.dumps(r))["q"], r["q"])


@CASES.harmless
def pickles_of_every_example() -> None:
    for path in sorted(EXAMPLES.glob("*.yaml")):
        if path.name in ("station.yaml", "chain128.yaml"):
            continue
        one = calder.load(path)
        there = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                again = pickle.loads(pickle.dumps(one))
            finally:
                os.chdir(there)
        assert again.to_text() == one.to_text() and list(again.groups) == list(one.groups), path.name


@CASES.harmless
def state_equality_with_anything() -> None:
    assert m.state() != 3 and m.state() != None and m.state() != model("pendulum").state()  # noqa: E711
