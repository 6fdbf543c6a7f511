# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo with pandas: a satellite leaves its launcher on four springs that are not known exactly.

The plan (examples/sweep/separation.yaml) is that of `calder sweep`; its cases here are the same, bit for bit.

    python3 examples/python/monte_carlo.py [FOLDER FOR THE PLOT]
"""
import sys
from pathlib import Path

import matplotlib
import numpy as np

import calder

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
root = Path(__file__).resolve().parents[2]

plan = calder.Plan(root / "examples/sweep/separation.yaml")
print(plan)
frame = plan.run(range(60), threads=2).to_pandas()
print(frame.status.value_counts())
assert len(frame) == 60 and frame.speed.notna().all()

# What the springs do to the rates: opposite springs of different strength tip the satellite off.
frame["difference_x"] = frame.stiffness_x1 - frame.stiffness_x2 + 20e3 / 0.15 * (frame.length_x1 - frame.length_x2)
print(frame[["rate_x", "rate_y", "speed"]].describe())
related = frame[["difference_x", "mass", "rate_x", "rate_y", "speed"]].corr()
print(related)
assert related.loc["mass", "speed"] < -0.9  # heavier satellites leave more slowly
assert frame.speed.between(0.5, 2.0).all() and np.abs(related.loc["mass", "rate_x"]) < 0.5

figure, axes = pyplot.subplots(1, 2, figsize=(9, 4))
frame.plot.scatter("mass", "speed", ax=axes[0])
np.degrees(frame[["rate_x", "rate_y"]]).plot.hist(bins=15, alpha=0.6, ax=axes[1])
axes[0].set(xlabel="scale of the mass", ylabel="speed [m/s]")
axes[1].set_xlabel("rate [deg/s]")
figure.savefig(folder / "monte_carlo.png")
