# SPDX-License-Identifier: Apache-2.0
"""Names and indices that are not there, or are no names."""
from __future__ import annotations

from harness import Cases, calder, model, sim

CASES = Cases()
m = model()
Missing = (KeyError, calder.Error)
WRONG = {"misspelled": "elbo", "empty": "", "with a zero": "elbow\0x", "long": "e" * 100_000, "path": "../elbow", "surrogate": "\ud800"}


def s() -> calder.State:
    return m.state()


LOOKUPS = {
    "s.q[]": lambda name: s().q[name],
    "s[]": lambda name: s()[name],
    "body": lambda name: m.body(name),
    "jacobian": lambda name: m.jacobian(s(), name),
    "wrench": lambda name: m.forward(s(), wrenches={name: [0.0] * 6}),
    "sim[]": lambda name: sim()[name],
    "read": lambda name: sim().read(name),
    "record": lambda name: sim(step=1e-2).record([name], 0.01),
    "detach": lambda name: sim().detach(name),
    "lock": lambda name: sim().lock(name),
    "reroot": lambda name: sim().reroot(name),
    "switch": lambda name: sim().switch(name, False),
    "open_loop": lambda name: sim().open_loop(name),
    "attach": lambda name: sim().attach(name, name, name="x"),
    "acceleration": lambda name: sim().acceleration(name),
    "method": lambda name: sim(method=name),
    "solver": lambda name: calder.loads(m.to_text(), solver=name),
    "results": lambda name: sim(step=1e-2).record("q", 0.01)[name],
}
for _call, _function in LOOKUPS.items():
    for _what, _name in WRONG.items():
        CASES.refused(f"{_call}: {_what}", (*Missing, UnicodeEncodeError), "no |not |unknown|surrogate|expected|zero|did you mean",
                      lambda f=_function, n=_name: f(n))
    for _what, _name in {"None": None, "float": 1.5, "list": [], "bytes": b"elbow"}.items():
        if (_call, _what) in {("s.q[]", "None"), ("s.q[]", "list"), ("acceleration", "None"), ("method", "None")}:
            continue  # these mean something
        CASES.refused(f"{_call}: {_what}", (*Missing, TypeError, IndexError), "no |not |expected|unhashable|only integers|indices",
                      lambda f=_function, n=_name: f(n))
for _index in (-1, 99, 2**31, 2**63, 10**30):
    CASES.refused(f"node {_index}", calder.ArgumentError, "no node", lambda i=_index: m.jacobian(s(), i))
    CASES.refused(f"lock dof {_index}", (calder.Error, OverflowError), ".",
                  lambda i=_index: sim().lock("elbow", -5 if i == -1 else i))
CASES.refused("body 99", IndexError, "index", lambda: m.body(99))
