# SPDX-License-Identifier: Apache-2.0
"""Wrong calls, run one after the other in a process of their own: a crash is a failed case, not a dead suite.

A module lists its cases with `refused` (an exception whose message fits a pattern) and `harmless` (returns; asserts what must
hold). `python harness.py MODULE FIRST` runs them from number FIRST on and prints one line of JSON before and after each.
"""
from __future__ import annotations

import gc
import importlib
import json
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import calder

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
MODULES = ("arrays", "names", "models", "runs", "callbacks", "lifetimes", "processes", "batches", "files")

_loaded: dict[str, calder.Model] = {}


def model(name: str = "double_pendulum") -> calder.Model:
    """A model of the examples; read once."""
    if name not in _loaded:
        _loaded[name] = calder.load(EXAMPLES / f"{name}.yaml")
    return _loaded[name]


def sim(name: str = "double_pendulum", **options: Any) -> calder.Sim:
    """A new simulation of an example."""
    return calder.Sim(model(name), **options)


def two_bodies() -> calder.Model:
    """An arm whose bodies may come loose: a rod of the examples has no inertia about its length."""
    b = calder.Builder(gravity=(0, 0, -9.81))
    for name in ("upper", "lower"):
        b.body(name, mass=1.0, com=(0, 0, -0.25), inertia=(0.02, 0.02, 0.01), nodes={"end": (0, 0, -0.5)})
    b.joint("shoulder", "revolute", to="upper", axis="y")
    b.joint("elbow", "revolute", from_="upper/end", to="lower", axis="y")
    return b.model()


@dataclass
class Case:
    """A call and what must come of it; expected None: it returns."""

    name: str
    expected: type[BaseException] | tuple[type[BaseException], ...] | None
    pattern: str
    call: Callable[[], Any]


class Cases(list[Case]):
    """The cases of a module."""

    def refused(self, name: str, expected: Any, pattern: str, call: Callable[[], Any]) -> None:
        """A call that must raise with a message that fits a pattern."""
        self.append(Case(name, expected, pattern, call))

    def harmless(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """A function that must return."""
        self.append(Case(call.__name__, None, "", call))
        return call


def run(case: Case) -> str:
    """"" where the case went as it should, otherwise what happened."""
    try:
        case.call()
    except BaseException as error:
        if case.expected is None:
            return "".join(traceback.format_exception(error))
        if not isinstance(error, case.expected):
            return "wrong exception: " + "".join(traceback.format_exception(error))
        if not re.search(case.pattern, str(error)):
            return f"message of {type(error).__name__} does not fit {case.pattern!r}: {error}"
        return ""
    return "" if case.expected is None else "nothing was raised"


def main() -> None:
    """Runs the cases of a module from a number on."""
    warnings.simplefilter("error")
    cases: Cases = importlib.import_module(sys.argv[1]).CASES
    for i in range(int(sys.argv[2]), len(cases)):
        print(json.dumps({"begin": i}), flush=True)
        trouble = run(cases[i])
        gc.collect()
        print(json.dumps({"end": i, "trouble": trouble}), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.modules["harness"] = sys.modules["__main__"]
    main()
