# SPDX-License-Identifier: Apache-2.0
"""Two vehicles dock: an event finds the moment, attach() welds them by an impulse, and the momentum of both stays.

    python3 examples/python/docking.py [FOLDER FOR THE PLOT]
"""
import sys
from pathlib import Path

import matplotlib
import numpy as np

import calder

matplotlib.use("Agg")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# Two free bodies, each a group of its own: they have nothing in common until they meet.
b = calder.Builder(title="Docking")
b.body("station", mass=400.0, inertia=(200, 300, 300), nodes={"port": (2, 0, 0)})
b.joint("station_flight", "free", to="station")
b.group("visitor")
b.body("tug", mass=100.0, inertia=(20, 30, 30), group="visitor", nodes={"nose": (-1, 0, 0)})
b.joint("tug_flight", "free", to="tug")
m = b.model()

sim = calder.Sim(m, method="dopri5", rtol=1e-9, atol=1e-9)
tug = sim.states["visitor"]
tug.q["tug_flight"][:3] = 6, 0.02, 0  # position [m]; then the quaternion (w, x, y, z)
tug.u["tug_flight.vx"] = -0.1  # [m/s]
reports: list[calder.Transition] = []


def gap(c: calder.Context) -> float:
    """Distance along x between nose and port, less 1 cm."""
    return float(c.pose("tug/nose").position[0] - c.pose("station/port").position[0]) - 0.01


def dock(t: float) -> None:
    """Welds the nose where it is."""
    reports.append(sim.attach("station/port", "tug/nose", name="latch", fit="a"))


sim.on(dock, when=gap, direction=-1, once=True)
before = sim.balance
r = sim.record(["velocity:station", "velocity:tug", "total_momentum"], 60, interval=0.1)
after = sim.balance

# An inelastic impact takes m v^2 / 2 of the relative motion, nearly: 2 cm beside the axis a little becomes rotation.
reduced = 400 * 100 / 500
print(f"docked with {reports[0].kinetic_lost:.5f} J lost, impulse {reports[0].impulse[3:]} N s; groups: {list(sim.states)}")
assert abs(reports[0].kinetic_lost - reduced * 0.1**2 / 2) < 1e-3 and list(sim.states) == ["main"]
assert np.allclose(after.linear, before.linear, atol=1e-12) and np.allclose(after.angular, before.angular, atol=1e-10)
assert abs(r["velocity:station.vx"][-1] + 0.1 * 100 / 500) < 1e-3

# The views of before keep their last numbers; algorithms know that their group is gone.
assert tug.u.shape == (6,)
r.plot("velocity:station.vx", "velocity:tug.vx", "total_momentum").savefig(folder / "docking.png")
