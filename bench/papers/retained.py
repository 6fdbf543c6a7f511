#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/modes.md: runs with retained modes against order N on one model file.

  bench/papers/retained.py build/release/bin/calder examples/jsc_plate.yaml

Order N with rk4 and steps of 0.1 ms is the reference; runs with held system matrices have steps of 1 ms, which order N cannot
take here. Errors are the largest distances of the nodes `top` and `object` from the reference, at samples 0.1 s apart."""
import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

DURATION = 10
SIGNALS = ["-s", "node:top", "-s", "node:object"]
UPDATES = ["1ms", "10ms", "100ms", "1s"]
RETAINED = [("40 Hz", "frozen"), ("200 Hz", "frozen"), ("40 Hz", "bounded"), ("200 Hz", "bounded")]


def run(calder, model, out, *options):
    """Samples as rows of numbers, and the summary; None: the run failed."""
    command = [calder, "run", model, "-q", "-o", out, "-d", str(DURATION), "-i", "0.1", *SIGNALS, *options]
    done = subprocess.run([o for o in command if o != "-q"] + ["--json"], capture_output=True, text=True)
    if done.returncode:
        return None, None
    with open(out) as lines:
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    return rows, json.loads(done.stdout)


def places(rows):
    """Positions by sample and node."""
    names = rows[0]
    columns = {node: [i for i, name in enumerate(names) if node in name and name.split(" ")[0][-2:] in (".x", ".y", ".z")]
               for node in ("top", "object")}
    return [{node: [float(row[i]) for i in at[:3]] for node, at in columns.items()} for row in rows[1:]]


def main():
    calder, model = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "run.csv")
        rows, summary = run(calder, model, out, "-m", "rk4", "--step", "0.1ms")
        exact = places(rows)
        moved = max(math.dist(p["top"], exact[0]["top"]) for p in exact)
        print(f"order N: {summary['cpu_s'] / DURATION:.3g} s CPU per second, top moves {moved:.3g} m\n")
        print("| retained | others | update | modes | CPU / simulated time | top [m] | object [m] | accelerations |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for retain, others in RETAINED:
            for update in UPDATES:
                rows, summary = run(calder, model, out, "-m", "rk4", "--step", "1ms", "--formulation", "system",
                                    "--update", update, "--retain", retain, "--unretained", others)
                if rows is None:
                    print(f"| {retain} | {others} | {update} | – | – | fails | fails | – |", flush=True)
                    continue
                now, f = places(rows), summary["formulation"]
                error = {n: max(math.dist(a[n], b[n]) for a, b in zip(now, exact)) for n in ("top", "object")}
                print(f"| {retain} | {others} | {update} | {f['retained']} of {f['modes']} | "
                      f"{summary['cpu_s'] / DURATION:.3g} | {error['top']:.1e} | {error['object']:.1e} | {f['error']:.1e} |",
                      flush=True)


main()
