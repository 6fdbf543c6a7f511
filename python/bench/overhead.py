#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of the package over C: forward dynamics with and without out=, and a controller in Python.

Times are CPU times, the best of many short runs: other work on the machine counts little.

    ./dev build release calder && ./dev python -k basics && PYTHONPATH=python /usr/bin/python3 python/bench/overhead.py
"""
from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import build_extension  # noqa: E402

import calder  # noqa: E402


def build(folder: str) -> str:
    program, library = f"{folder}/forward", ROOT / "build/release"
    subprocess.run(["cc", "-O2", f"-I{ROOT / 'include'}", str(ROOT / "python/bench/forward.c"), str(library / "libcalder.a"),
                    "-o", program, *build_extension.link_options(library)], check=True)
    return program


def best(statement, calls: int) -> float:
    return min(timeit.repeat(statement, number=calls, repeat=60, timer=time.process_time)) / calls


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        print(f"{'model':18} {'dof':>4} {'C [us]':>8} {'out= over C':>12} {'new array over C':>17}")
        for name in ("pendulum", "double_pendulum", "free_flying_arm", "chain128"):
            path = ROOT / "examples" / f"{name}.yaml"
            m = calder.load(path)
            calls = 2000 if m.nu < 64 else 500
            c = float(subprocess.run([program, str(path), str(calls)], check=True, capture_output=True, text=True).stdout)
            s, tau, out = m.neutral(), np.zeros(m.nu), np.empty(m.nu)
            with_out = best(lambda: m.forward(s, tau, out=out), calls)
            without = best(lambda: m.forward(s, tau), calls)
            empty = best(lambda: None, calls)
            print(f"{name:18} {m.nu:4} {c * 1e6:8.3f} {(with_out - empty - c) * 1e6:12.3f} {(without - empty - c) * 1e6:17.3f}")
    m, zero, rate = calder.load(ROOT / "examples/double_pendulum.yaml"), np.zeros(2), 0.0
    for _ in range(5):
        sim = calder.Sim(m, step=1e-4)
        sim.control(lambda t, s: zero)
        start = time.process_time()
        sim.run(2)
        rate = max(rate, sim.stats.evaluations / (time.process_time() - start))
    print(f"controller in Python: {rate / 1e3:.0f} kHz")


if __name__ == "__main__":
    main()
