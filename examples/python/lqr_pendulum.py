# SPDX-License-Identifier: Apache-2.0
"""A cart that balances a pendulum of several links by a linear-quadratic regulator: linearize, solve the Riccati equation, run.

    python3 examples/python/lqr_pendulum.py [FOLDER FOR A MATLAB FILE AND THE RUN] [NUMBER OF LINKS]
"""
import sys
from pathlib import Path

import numpy as np

import calder

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
links = int(sys.argv[2]) if len(sys.argv) > 2 else 3

text = "calder: 1\ngravity: [0, 0, -9.81]\nbodies:\n  cart: {mass: 2}\n"
text += "".join(f"  link{i}: {{mass: 0.4, rod: {{from: [0, 0, 0], to: [0, 0, 0.5]}}, nodes: {{tip: [0, 0, 0.5]}}}}\n" for i in range(links))
text += "joints:\n  slide: {type: prismatic, axis: x, to: cart}\n"
for i in range(links):
    text += f"  hinge{i}: {{type: revolute, axis: y, from: {f'link{i - 1}/tip' if i else 'cart'}, to: link{i}}}\n"
m = calder.loads(text)

# The upright pendulum is an equilibrium, and unstable: as many poles on the right as links.
space = calder.Sim(m).state_space(["force:slide"], ["q"])
assert np.abs(space.rate).max() < 1e-12
print("states", ", ".join(space.states))
print("poles without control [1/s]:", np.round(np.sort(space.poles().real), 3))
assert (space.poles().real > 1e-3).sum() == links
space.save(folder / "lqr_pendulum.mat")  # for MATLAB or Octave: load lqr_pendulum.mat; K = lqr(A, B, Q, R)


def lqr(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The gain K of u = -K x that minimizes the integral of x'Qx + u'Ru: P from the stable eigenvectors of the Hamiltonian."""
    n = len(A)
    H = np.block([[A, -B @ np.linalg.solve(R, B.T)], [-Q, -A.T]])
    values, vectors = np.linalg.eig(H)
    stable = vectors[:, values.real < 0]
    assert stable.shape[1] == n, "the system is not stabilizable"
    P = np.real(stable[n:] @ np.linalg.inv(stable[:n]))
    assert np.abs(A.T @ P + P @ A - P @ B @ np.linalg.solve(R, B.T) @ P + Q).max() < 1e-6 * np.abs(P).max()
    return np.linalg.solve(R, B.T @ P)


n = len(space.states)
K = lqr(space.A, space.B, np.eye(n), 0.1 * np.eye(1))
closed = np.linalg.eigvals(space.A - space.B @ K)
print(f"slowest pole with control: {closed.real.max():.3f} 1/s")
assert closed.real.max() < 0

# The non-linear model starts with its first link off by 1 degree. x are coordinates, then speeds, as space.states says.
start = m.state()
start.q[m.q_names.index("hinge0")] = np.radians(1)
sim = calder.Sim(m, state=start)
sim.control(lambda t, s: {"slide": -K @ np.concatenate([s.q, s.u])})
r = sim.record(["q"], 15.0, interval=0.05)
r.to_csv(folder / "lqr_pendulum.csv")
q = r["q"]
print(f"largest way of the cart {np.abs(q[:, 0]).max():.3f} m, largest angle {np.degrees(np.abs(q[:, 1:]).max()):.2f} deg, "
      f"at the end {np.abs(q[-1]).max():.1e}")
assert np.abs(q[-1]).max() < 1e-3 and np.degrees(np.abs(q[:, 1:]).max()) < 30
