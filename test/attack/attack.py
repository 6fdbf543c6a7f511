#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random models, all methods, all devices: does a run that exits 0 without a warning deserve its exit code?

usage: attack.py CALDER [--models N] [--seed S] [--jobs J] [--keep FOLDER]

Each model runs by dopri5 at two tolerances, by another adaptive method and by two methods of fixed step, and is compared
with a reference of much finer steps. docs/attack.md defines what counts as a finding. Findings are kept as model files that show them again.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import math
import random
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import models

FACTOR = 100  # an error up to this many times the tolerance is in order, and one more for each step
GOLDEN = (1 + math.sqrt(5)) / 2
FINER = (2, GOLDEN, GOLDEN + 1)  # times as many fixed steps, about, for the change that finer ones make
PERTURBATION = 1e-6  # of masses, gravity and states, to measure how much the motion amplifies an error
PERTURBATIONS = 3
SENSITIVE = 1e4  # models that amplify more than this are not compared
HANG_S = 1800  # a run that takes longer hangs, however busy the machine is
DEFAULT = "dopri5"
SAMPLES = 4
REACH = 0.3  # of bodies, about [m]
KICKS = (1, 2)  # samples after which small forces disturb the motion, to measure the same for errors that are made later
SEEN = 1e-8  # an effect of a kick that is smaller is not known well enough
FEW = 60  # so many models have everything that models.py can make
MAX_STEPS = 100000  # from one sample to the next; a run that needs more stops with an error

Run = collections.namedtuple("Run", "code said doubts columns steps")  # doubts: kinds of them


def quaternions(model):
    """Groups of four column names: q and -q are the same orientation."""
    return [
        [f"q:{name}.{part}" for part in ("qw", "qx", "qy", "qz")]
        for name, joint in model["joints"].items()
        if joint["type"] in ("free", "spherical")
    ]


# Coordinates, speeds; of bodies that come loose, places and their rates.
KINDS = [re.compile(text) for text in ("q:", "u:", r"node:.*\.[xyz]$", r"node:.*\.v[xyz]$")]


def signals(model):
    loose = "loose" in model.get("groups", {})
    nodes = [f"node:{name}/root" if "beam" in body else f"node:{name}" for name, body in model["bodies"].items()]
    return ["q", "u"] + (nodes if loose else [])


def refined(table, parts):
    """The same piecewise linear table with pieces in `parts`: steps end at its points, and are then as much shorter."""
    fine = [table[0]]
    for (t0, x0), (t1, x1) in zip(table, table[1:]):
        fine += [[t0 + (t1 - t0) * k / parts, x0 + (x1 - x0) * k / parts] for k in range(1, parts)] + [[t1, x1]]
    return fine


def with_refined_pulses(model, parts):
    model = json.loads(json.dumps(model))
    for device in model["devices"].values():
        if device["type"] == "applied_load" and isinstance(device.get("effort"), list):
            device["effort"] = refined(device["effort"], parts)
        elif device["type"] == "applied_load" and "force" in device:
            device["force"][0] = refined(device["force"][0], parts)
    return model


def finer_count(count, factor):
    """
    About `factor` times as many steps. Unless it is a whole number, none of them ends together with one of `count`: a force that jumps
    within a step may act from its nearest end, and a grid that has this end too has the same error.
    """
    finer = round(factor * count)
    while factor != round(factor) and math.gcd(finer, count) > 1:
        finer += 1
    return finer


def at(columns, sample):
    return {name: values[sample : sample + 1] for name, values in columns.items()}


class Attack:
    def __init__(self, calder, keep):
        self.calder, self.keep = calder, Path(keep)
        self.fixed, self.others = methods(calder)
        self.counts = collections.Counter()
        self.features = collections.Counter()
        self.lock = threading.Lock()

    def count(self, name):
        with self.lock:
            self.counts[name] += 1
            return self.counts[name]

    # ---- runs ----

    def run(self, folder, model, settings):
        """Runs the model with these settings: exit code, what it says on stderr, columns by name."""
        model = model | {"run": model["run"] | settings}
        interval = model["run"]["duration"] / SAMPLES
        model["run"] |= {"output": {"interval": interval, "signals": signals(model)}, "max_steps": MAX_STEPS}
        source, result = Path(folder) / "model.json", Path(folder) / "run.csv"
        source.write_text(json.dumps(model))
        result.unlink(missing_ok=True)
        command = [self.calder, "run", "-q", "--json", source, "-o", result]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
        except subprocess.TimeoutExpired:
            return Run(None, f"no end within {HANG_S} s", [], None, 0)
        columns, doubts, steps = None, [], 0
        if done.returncode == 0:
            summary = json.loads(done.stdout)
            doubts, steps = [doubt["kind"] for doubt in summary["doubts"]], summary["steps"]
            rows = list(csv.reader(line for line in result.open() if not line.startswith("#")))
            names = [name.split(" [")[0] for name in rows[0]]
            columns = {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(names)}
        return Run(done.returncode, done.stderr, doubts, columns, steps)

    # ---- comparison ----

    def distance(self, model, a, b, scales=None):
        """Largest difference of each kind of column, divided by the largest value of its kind in b, or in scales."""
        if a.keys() != b.keys() or len(a["t"]) != len(b["t"]):
            return math.inf
        a = dict(a)
        for four in quaternions(model):
            if all(name in a for name in four):
                for i in range(len(a["t"])):
                    if sum(a[name][i] * b[name][i] for name in four) < 0:
                        for name in four:
                            a[name] = a[name][:i] + [-a[name][i]] + a[name][i + 1 :]
        worst = 0.0
        for kind in KINDS:
            pairs = [(x, y) for name in a if kind.match(name) for x, y in zip(a[name], b[name])]
            if any(math.isnan(x) != math.isnan(y) for x, y in pairs):
                return math.inf
            pairs = [(x, y) for x, y in pairs if not math.isnan(x)]
            sizes = [y for name in scales if kind.match(name) for y in scales[name]] if scales else [y for _, y in pairs]
            scale = max((abs(y) for y in sizes if not math.isnan(y)), default=0)
            error = max((abs(x - y) for x, y in pairs), default=0)
            worst = max(worst, error / scale if scale else error)
        return worst

    def perturbed(self, model, seed):
        """The same model with slightly other masses, gravity and states; loops stay closed."""
        rng = random.Random(-seed)
        other = json.loads(json.dumps(model))
        common = rng.uniform(-1, 1)

        def factor():
            return 1 + PERTURBATION * (common if "loops" in model else rng.uniform(-1, 1))

        for body in other["bodies"].values():
            if "mass" in body:
                body["mass"] *= 1 + PERTURBATION * rng.uniform(-1, 1)
        if "gravity" in other:
            other["gravity"] = [g * (1 + PERTURBATION * rng.uniform(-1, 1)) for g in other["gravity"]]
        for state in other["state"].values():
            keys = ("u", "velocity", "angular_velocity") + (() if "loops" in model else ("q", "at"))
            for key in set(keys) & state.keys():
                u = state[key]
                state[key] = [x * factor() for x in u] if isinstance(u, list) else u * factor()
        return other

    def kicked(self, model, seed, sample):
        """
        The same model with small forces and moments on all bodies just before a sample. Beams take them at the tip: their root may
        be on the axis of a hinge, as a body's origin may, where a force moves nothing.
        """
        rng = random.Random(-seed)
        other = json.loads(json.dumps(model))
        end, width = model["run"]["duration"] * sample / SAMPLES, model["run"]["duration"] / 1000

        def pulses(most):
            return [[[0, 0], [end - 2 * width, 0], [end - width, most * rng.uniform(-1, 1)], [end, 0]] for _ in range(3)]

        for name, body in model["bodies"].items():
            mass = body.get("mass", 1)
            speed, rate = PERTURBATION * mass / width, PERTURBATION * mass * REACH**2 / width  # 1e-6 m/s, 1e-6 rad/s, about
            node = f"{name}/tip" if "beam" in body else name
            other["devices"][f"kick {name}"] = {"type": "applied_load", "node": node, "force": pulses(speed), "moment": pulses(rate)}
        return other

    def growth_of_kick(self, folder, model, seed, sample, reference, fine):
        """How much the effect of a kick grows from the sample after it to the end; 1 if it has none that can be seen."""
        other = self.run(folder, self.kicked(model, seed, sample), fine)
        if other.code != 0:
            return 1
        effect = [self.distance(model, at(other.columns, i), at(reference.columns, i), reference.columns) for i in range(sample, SAMPLES + 1)]
        return max(effect) / effect[0] if effect[0] > SEEN else 1

    def growth(self, folder, model, seed, reference):
        """
        The most that one of a few perturbations grows; None if one of them has no motion. Errors are made all along a run:
        some motions damp what disturbs their start and amplify what disturbs them later.
        """
        fine, worst = {"rtol": 1e-10, "atol": 1e-13, "max_step": model["run"]["duration"] / 1000}, 1
        for sample in KICKS:
            worst = max(worst, self.growth_of_kick(folder, model, seed, sample, reference, fine))
        for k in range(PERTURBATIONS):
            other = self.run(folder, self.perturbed(model, PERTURBATIONS * seed + k), fine)
            if other.code != 0:
                return None
            worst = max(worst, self.distance(model, other.columns, reference.columns) / PERTURBATION)
            if worst > SENSITIVE:
                break
        return worst

    # ---- one model ----

    def finding(self, seed, model, settings, what):
        self.keep.mkdir(parents=True, exist_ok=True)
        path = self.keep / f"{seed}-{settings.get('method', DEFAULT)}-{self.count('findings')}.json"
        path.write_text(json.dumps(model | {"run": model["run"] | settings}, indent=1))
        print(f"FINDING seed {seed}, {settings}: {what}; see {path}", flush=True)

    def checked(self, seed, model, settings, run):
        """Counts a run that refuses or warns; true for one that claims to be right."""
        self.count("runs")
        if run.code is None or run.code < 0:
            self.finding(seed, model, settings, run.said or f"ended by signal {-run.code}")
        elif run.code > 0:
            self.count("refused")
            if not run.said.strip():
                self.finding(seed, model, settings, f"exit code {run.code} without a word")
        elif [kind for kind in run.doubts if kind != "range"] or ("warning" in run.said and not run.doubts):
            self.count("warned")
        else:
            return True  # a device beyond its range is no matter of accuracy
        return False

    def attack(self, seed):
        model = models.make(seed)
        duration = model["run"]["duration"]
        with self.lock:
            self.features.update(models.features(model))
        with tempfile.TemporaryDirectory() as folder:
            self.attack_model(folder, seed, model, duration)

    def attack_model(self, folder, seed, model, duration):
        fine = {"rtol": 1e-12, "atol": 1e-14, "max_step": duration / 2000}
        reference = self.run(folder, model, fine)
        if not self.checked(seed, model, fine, reference):
            self.count("no reference")
            return
        growth = self.growth(folder, model, seed, reference)
        if growth is None:
            self.count("no reference")
            return
        if growth > SENSITIVE:
            self.count("too sensitive")
            return
        self.count("compared models")
        loose = {"rtol": 1e-6, "atol": 1e-8}
        for settings in ({}, loose, *({"method": method} | loose for method in self.others[seed % 2 :: 2])):
            self.check_adaptive(folder, seed, model, settings, reference, growth)
        rng = random.Random(seed)
        for method in rng.sample(self.fixed, 2):
            step = duration / SAMPLES / round(2 ** rng.uniform(4, 10))  # whole ones from sample to sample: no doubt of that
            self.check_fixed(folder, seed, model, {"method": method, "step": step}, reference, growth)

    def check_adaptive(self, folder, seed, model, settings, reference, growth):
        run = self.run(folder, model, settings)
        if not self.checked(seed, model, settings, run):
            return
        error = self.distance(model, run.columns, reference.columns)
        tolerance = growth * (settings.get("rtol", 1e-9) + settings.get("atol", 1e-12))
        self.count("claimed right")
        self.count("adaptive")
        if not error <= FACTOR * tolerance:
            self.count("above the factor")
        if not error <= (FACTOR + run.steps) * tolerance:
            allowed = (FACTOR + run.steps) * tolerance
            self.finding(seed, model, settings, f"error {error:.2g}, allowed {allowed:.2g} (growth {growth:.2g})")

    def check_fixed(self, folder, seed, model, settings, reference, growth):
        """The tolerance of a fixed step: how much finer ones change the result."""
        run = self.run(folder, model, settings)
        if not self.checked(seed, model, settings, run):
            return
        interval = model["run"]["duration"] / SAMPLES
        count = round(interval / settings["step"])
        finer = [
            self.run(folder, with_refined_pulses(model, math.ceil(factor)), settings | {"step": interval / finer_count(count, factor)})
            for factor in FINER
        ]
        error = self.distance(model, run.columns, reference.columns)
        change = max(self.distance(model, run.columns, f.columns) if f.code == 0 else math.inf for f in finer)
        allowed = FACTOR * (change + growth * 1e-10)
        self.count("claimed right")
        if not error <= allowed or error > 1e3:
            self.finding(seed, model, settings, f"error {error:.2g}, finer steps change {change:.2g}")


def methods(calder):
    """Those of this build: the ones of fixed step, and the adaptive ones beside the default."""
    known = json.loads(subprocess.run([calder, "methods", "--json"], capture_output=True, text=True, check=True).stdout)
    built = [method for method in known if not method["missing"]]
    fixed = [method["name"] for method in built if not method["adaptive"]]
    return fixed, [method["name"] for method in built if method["adaptive"] and method["name"] != DEFAULT]


def device_types(calder):
    """All types of devices, as calder lists them, but for those of shared libraries."""
    model = {"calder": 1, "bodies": {"a": {}}, "joints": {"a": {"type": "free", "to": "a"}}, "devices": {"d": {"type": "?"}}}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.json"
        source.write_text(json.dumps(model))
        said = subprocess.run([calder, "check", source], capture_output=True, text=True).stderr
    return set(said.split("the types are ")[1].replace(",", " ").split()) - {"shared"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calder")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first model; the next ones count up")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default="out/attack", help="folder for models that show a finding")
    options = parser.parse_args()
    made = {kind.__name__ for kind in models.DEVICES}
    if made != device_types(options.calder):
        sys.exit(f"attack: models.py and calder differ in the types of devices: {made ^ device_types(options.calder)}")
    attack = Attack(options.calder, options.keep)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for _ in pool.map(attack.attack, range(options.seed, options.seed + options.models)):
            pass
    counts = attack.counts
    missing = [name for name in models.FEATURES if not attack.features[name]]
    if options.models >= FEW and missing:
        sys.exit(f"attack: what no model had: {missing}")
    print(
        f"attack: seeds {options.seed} to {options.seed + options.models - 1}: {counts['compared models']} models compared, "
        f"{counts['too sensitive']} too sensitive, {counts['no reference']} without a reference; {counts['runs']} runs, "
        f"{counts['claimed right']} claimed to be right, {counts['warned']} warned, {counts['refused']} refused"
    )
    print(
        f"attack: {counts['above the factor']} of {counts['adaptive']} adaptive runs without a doubt are off by more than "
        f"{FACTOR} times growth and tolerance"
    )
    print(f"attack: {counts['findings']} findings")
    sys.exit(1 if counts["findings"] else 0)


if __name__ == "__main__":
    main()
