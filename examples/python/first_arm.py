# SPDX-License-Identifier: Apache-2.0
"""A first arm: build it, ask for its dynamics, let it swing, and look at its energy.

    python3 examples/python/first_arm.py [FOLDER FOR THE PLOT]
"""
import sys
from pathlib import Path

import matplotlib
import numpy as np

import calder

matplotlib.use("Agg")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# Two rods of 1 kg and 1 m on hinges about y; a rod's moment of inertia about its center is m l^2 / 12.
b = calder.Builder(title="First arm", gravity=(0, 0, -9.81))
for name in ("upper", "lower"):
    b.body(name, mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 1e-4), nodes={"end": (0, 0, -1.0)})
b.joint("shoulder", "revolute", to="upper", axis="y")
b.joint("elbow", "revolute", from_="upper/end", to="lower", axis="y", dof={"damping": 0.0})
m = b.model()
print(m)

# Names reach every number: coordinates, speeds and forces are in the order of m.q_names and m.u_names.
s = m.state()
s.q["shoulder"] = np.pi / 2
M = m.mass_matrix(s)
print("mass matrix [kg m^2]\n", M)
print("tip [m]:", s["lower/end"].position, " torques that hold it [N m]:", m.inverse(s))
assert np.allclose(s["lower/end"].position, [-2, 0, 0]) and np.allclose(M[1, 1], 1 / 3)

# Forward dynamics undoes inverse dynamics.
udot = np.array([1.5, -0.5])
assert np.allclose(m.forward(s, m.inverse(s, udot)), udot)

# Let it go, and record what happens. Nothing dissipates: the total energy stays.
sim = calder.Sim(m, method="dopri5", rtol=1e-10, atol=1e-10, state=s)
r = sim.record(["q", "energy", "node:lower/end"], 5, interval=0.01)
total = r["energy:total"]
print(f"after {sim.t:g} s: q = {sim.q}, energy changed by {np.ptp(total):.1e} J")
assert len(r) == 501 and np.ptp(total) < 1e-7

figure = r.plot("q", "energy")
figure.savefig(folder / "first_arm.png")
