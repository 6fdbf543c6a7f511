# SPDX-License-Identifier: Apache-2.0
"""A flexible body from CalculiX: its modes alone, with a load at its tip, and in a run.

examples/fe/bracket.json holds nine modes of an aluminum bracket. CalculiX assembled its matrices from examples/fe/bracket.inp and
`calder modes` reduced them (docs/fe.md); with 1 kg on its hand CalculiX itself finds 51.7 Hz and 85.3 Hz.

    python3 examples/python/flexible_boom.py [FOLDER FOR THE PLOT]
"""
import sys
from pathlib import Path

import matplotlib
import numpy as np

import calder

matplotlib.use("Agg")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
root = Path(__file__).resolve().parents[2]

MODEL = """
calder: 1
title: Bracket with a load
bodies:
  bracket: {modal: {file: bracket.json, mass: 583.2 g}}
  load: {mass: 1 kg, inertia: [1e-9, 1e-9, 1e-9]}
joints:
  bolts: {type: weld, to: bracket/foot}
  mount: {type: weld, from: bracket/hand, to: load}
"""
m = calder.loads(MODEL, name=str(root / "examples/fe/bracket.yaml"))  # files are sought beside the name
print(m, m.u_names)

# The body alone, its foot held.
alone = [mode.frequency / (2 * np.pi) for mode in m.flexible("bracket").modes]
print("frame held:", np.round(alone, 1), "Hz")

# The system with its load, linearized: M y'' + C y' + K y = 0.
linear = m.linearize(m.state(), structural=True)
hertz = [mode.frequency / (2 * np.pi) for mode in linear.modes()]
print("with 1 kg:", np.round(hertz[:4], 1), "Hz; CalculiX: 51.7, 85.3")
assert abs(hertz[0] - 51.7) < 0.3 and abs(hertz[1] - 85.3) < 0.5

# Pluck it: 10 N along x at the hand, then nothing. The tip rings at the first frequency.
static = np.linalg.solve(linear.K, linear.N.T @ m.external(m.state(), {"load": [0, 0, 0, 10, 0, 0]}))
s = m.state()
s.q[:] = linear.N @ static
sim = calder.Sim(m, method="implicit-midpoint", step=1e-4, state=s)
r = sim.record(["deflection:bracket/hand", "energy"], 1.0, interval=1e-3)
dx = r["deflection:bracket/hand.dx"]
spectrum = np.abs(np.fft.rfft(dx * np.hanning(len(dx)), 16 * len(dx)))
rings = np.fft.rfftfreq(16 * len(dx), 1e-3)[np.argmax(spectrum)]
print(f"pulled {1e6 * dx[0]:.1f} um aside, it rings at {rings:.1f} Hz")
assert abs(rings - hertz[0]) < 0.5 and r["energy:total"][-1] < r["energy:total"][0]

r.plot("deflection:bracket/hand.dx", "energy:total").savefig(folder / "flexible_boom.png")
