#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""overhead.py [--rounds N] [--states N]: what Python adds to the C calls.

    ./dev build release calder && ./dev python && python3 bench/python/overhead.py

Prints, for chains of 7 and 32 bodies, the time of m.forward() with and without a preallocated result beside the same call in C
(bench/python/loop.c, compiled here against build/release); a batch of 10 000 states of chain32 beside the loop in C; and how
often a controller written in Python is called in a second. CPU time of the thread, rounds of all ways in turn, best round
of each; bits are compared. There is no peer beside it: Debian 12 packages neither MuJoCo's nor Pinocchio's bindings.
"""
from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import build_extension  # noqa: E402
import calder  # noqa: E402

CALLS = 2000  # of one round
DOUBLES = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")


def chain(bodies: int) -> str:
    """Revolute joints about x, y and z in turn, as in bench/tables/batch_states.c."""
    lines = ["calder: 1", "gravity: [0, 0, -9.81]", "bodies:"]
    for i in range(bodies):
        lines.append(f"  b{i}: {{mass: {1 + 0.01 * i}, com: [0.05, -0.03, {0.1 + 0.001 * i}], "
                     "inertia: [[0.05, 0.004, -0.003], [0.004, 0.06, 0.005], [-0.003, 0.005, 0.04]], nodes: {tip: [0.01, 0.02, 0.2]}}")
    lines.append("joints:")
    for i in range(bodies):
        parent = f"from: b{i - 1}/tip, " if i else ""
        lines.append(f"  j{i}: {{type: revolute, {parent}to: b{i}, axis: {'xyz'[i % 3]}}}")
    return "\n".join(lines) + "\n"


def compile_loop(folder: str) -> ctypes.CDLL:
    """loop.c with the library of build/release."""
    build, target = ROOT / "build" / "release", Path(folder) / "loop.so"
    command = [os.environ.get("CC", "cc"), "-std=c17", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    command += [str(ROOT / "bench/python/loop.c"), str(build / "libcalder.a"), "-o", str(target)]
    subprocess.run(command + build_extension.link_options(build), check=True)
    library = ctypes.CDLL(str(target))
    library.loop_open.restype = ctypes.c_void_p
    library.loop_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.loop_forward.restype = ctypes.c_double
    library.loop_forward.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int] + [DOUBLES] * 4
    return library


def best(ways: dict, rounds: int) -> dict:
    """The least time of each way; ways take turns and return seconds."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            took = way()
            if took < 0:
                sys.exit(f"{name}: a state failed")
            least[name] = min(least[name], took)
    return least


def timed(run) -> float:
    begin = time.thread_time_ns()
    run()
    return 1e-9 * (time.thread_time_ns() - begin)


def single_calls(library: ctypes.CDLL, bodies: int, rounds: int) -> None:
    text = chain(bodies)
    m, loop = calder.loads(text), library.loop_open(text.encode(), len(text))
    s, tau, out, expected = m.state(), np.sin(np.arange(bodies)), np.empty(bodies), np.empty(bodies)
    s.q, s.u = np.cos(np.arange(bodies)), np.sin(2.0 * np.arange(bodies))
    q, u, forward = s.q.copy(), s.u.copy(), m.forward

    def with_out():
        for _ in range(CALLS):
            forward(s, tau, out=out)

    def without_out():
        for _ in range(CALLS):
            forward(s, tau)

    least = best({
        "C": lambda: library.loop_forward(loop, CALLS, 0, q, u, tau, expected),
        "out=": lambda: timed(with_out),
        "new array": lambda: timed(without_out),
    }, rounds)
    assert np.array_equal(out, expected) and np.array_equal(forward(s, tau), expected), "other bits"
    in_c = 1e6 * least["C"] / CALLS
    print(f"forward, chain{bodies}: C {in_c:.3f} us")
    for name in ("out=", "new array"):
        took = 1e6 * least[name] / CALLS
        print(f"    {name:<10} {took:.3f} us, overhead {took - in_c:.3f} us, {took / in_c:.3f} of C")


def batch(library: ctypes.CDLL, bodies: int, count: int, rounds: int) -> None:
    text = chain(bodies)
    m, loop = calder.loads(text), library.loop_open(text.encode(), len(text))
    numbers = np.arange(count * bodies, dtype=float).reshape(count, bodies)
    q, u, tau = np.sin(1.1 * numbers), np.cos(1.7 * numbers), np.sin(2.3 * numbers)
    out, expected = np.empty_like(q), np.empty_like(q)
    least = best({
        "C": lambda: library.loop_forward(loop, count, bodies, q, u, tau, expected),
        "out=": lambda: timed(lambda: m.forward(q, u, tau, out=out)),
        "new array": lambda: timed(lambda: m.forward(q, u, tau)),
    }, rounds)
    assert np.array_equal(out, expected), "other bits"
    print(f"batch of {count} states, chain{bodies}, 1 thread: C {1e9 * least['C'] / count / bodies:.2f} ns per body and state")
    for name in ("out=", "new array"):
        print(f"    {name:<10} {1e9 * least[name] / count / bodies:.2f} ns, {least[name] / least['C']:.4f} of C")


def controller(rounds: int) -> None:
    """Euler-Cromer calls a controller without a period once in a step: steps and calls are the same number."""
    steps = 20000
    m = calder.load(ROOT / "examples" / "pendulum.yaml")
    tau = np.zeros(m.nu)

    def act(t, state):
        tau[0] = -2.0 * state.u[0]
        return tau

    def run(with_controller: bool) -> float:
        sim = calder.Sim(m, method="euler-cromer", step=1e-4)
        if with_controller:
            sim.control(act)
        sim.step(10)
        return timed(lambda: sim.step(steps))

    least = best({"without": lambda: run(False), "with": lambda: run(True)}, max(3, rounds // 4))
    whole, alone = least["with"] / steps, (least["with"] - least["without"]) / steps
    print(f"controller in Python: {1e-3 / whole:.0f} kHz with the step of the simulation, {1e6 * alone:.2f} us per call")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--states", type=int, default=10000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = compile_loop(folder)
        for bodies in (7, 32):
            single_calls(library, bodies, arguments.rounds)
        batch(library, 32, arguments.states, arguments.rounds)
        controller(arguments.rounds)


if __name__ == "__main__":
    main()
