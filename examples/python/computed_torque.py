# SPDX-License-Identifier: Apache-2.0
"""Computed-torque control of an arm from a URDF file, at every evaluation and sampled at 1 kHz.

    python3 examples/python/computed_torque.py [FOLDER FOR THE PLOT]
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

m = calder.load(root / "test/data/models/arm/arm.urdf", base="fixed", partial=True)
print(m, m.u_names)
for note in m.import_report:
    print(note)

# A smooth motion of every joint: amplitude a, one turn of the phase in two seconds.
amplitude = 0.2 * np.ones(m.nu)
start = m.state(q=[0.0, 0.5, 0.1, 0.0]).q.copy()


def desired(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, speeds and accelerations at t."""
    w = np.pi
    return (start + amplitude * (1 - np.cos(w * t)) / 2, amplitude * w * np.sin(w * t) / 2, amplitude * w * w * np.cos(w * t) / 2)


def computed_torque(t: float, s: calder.State) -> np.ndarray:
    """The errors decay like exp(-10 t), whatever the arm is doing."""
    q, u, udot = desired(t)
    return m.inverse(s, udot + 20 * (u - s.u) + 100 * (q - s.q))


def track(period: float) -> calder.Results:
    """A run of two seconds that starts off the desired motion."""
    sim = calder.Sim(m, method="rk4", step=1e-3, state=m.state(q=start + 0.05))
    sim.switch("lift/friction", False)  # a disturbance that inverse() does not know
    sim.control(computed_torque, period=period)
    return sim.record(["q"], 2.0, interval=0.01)


def errors(r: calder.Results) -> np.ndarray:
    """Distance of every joint from where it should be."""
    return r["q"] - np.array([desired(t)[0] for t in r.t])


exact, sampled = errors(track(0.0)), errors(track(1e-3))
t = np.linspace(0, 2, len(exact))
decay = 0.05 * (1 + 10 * t) * np.exp(-10 * t)  # critically damped: the desired motion starts at rest, too
print(f"largest error after 1.5 s: {abs(exact[150:]).max():.1e}; sampled at 1 kHz: {abs(sampled[150:]).max():.1e}")
assert np.abs(exact - decay[:, None]).max() < 1e-6
assert abs(sampled[150:]).max() < 1e-3

digits = [np.log10(np.abs(e).max(axis=1) + 1e-16) for e in (exact, sampled)]  # of the joint that is farthest off
np.savetxt(folder / "computed_torque.csv", np.column_stack([t, *digits]), delimiter=",", comments="",
           header="t [s],log10 error:exact [1],log10 error:sampled at 1 kHz [1]")

figure, axes = pyplot.subplots()
axes.semilogy(t, abs(exact) + 1e-16, "b", t, abs(sampled) + 1e-16, "r--", lw=0.8)
axes.set(xlabel="t [s]", ylabel="tracking error [rad, m]", title="Computed torque: exact (blue), sampled at 1 kHz (red)")
figure.savefig(folder / "computed_torque.png")
