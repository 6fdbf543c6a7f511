#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes n_four_bar.yaml: N four-bar windows side by side, 2N + 1 equal rods (IFToMM benchmark A02).

    python3 make_n_four_bar.py [N] > n_four_bar.yaml
"""
import sys

N = int(sys.argv[1]) if len(sys.argv) > 1 else 10

print(f"""# {N} four-bar windows side by side, IFToMM benchmark A02: {N + 1} rods are hinged to the ground, {N} connect their tops, all of 1 m and
# 1 kg. The hinge at the right end of each connecting rod is a loop: {5 * N} constraint equations, of which {3 * N} are redundant.
#
# Whenever the rods are level the mechanism is singular: {N} more equations are redundant, and it could continue in {N + 1} ways. It has to
# pass there again and again, without a jump. Expected: it stays a row of parallelograms, whose angle th obeys th'' = -c cos(th)
# with c = g ((N+1)/2 + N)/((N+1)/3 + N), like a pendulum's that goes over the top; total energy stays.
# Data: M. Gonzalez et al., Multibody System Dynamics 16 (2006), 179-190. Written by make_n_four_bar.py.
calder: 1
title: {N} four-bar windows (IFToMM A02)
gravity: [0, -9.81, 0]
define:
  - &rod {{mass: 1 kg, rod: {{from: [0, 0, 0], to: [1, 0, 0]}}, nodes: {{end: [1, 0, 0]}}}}
bodies:""")
for i in range(N + 1):
    print(f"  stand{i}: *rod")
for i in range(1, N + 1):
    print(f"  lie{i}: *rod")
print("joints:")
for i in range(N + 1):
    print(f"  foot{i}: {{type: revolute, to: stand{i}, inboard: [{i}, 0, 0]}}")
for i in range(1, N + 1):
    print(f"  left{i}: {{type: revolute, from: stand{i - 1}/end, to: lie{i}}}")
print("loops:")
for i in range(1, N + 1):
    print(f"  right{i}: {{type: revolute, from: lie{i}/end, to: stand{i}/end}}")
print("state: # upright, the tops move to the right at 1 m/s")
for i in range(N + 1):
    print(f"  foot{i}: {{q: 90 deg, u: -1 rad/s}}")
for i in range(1, N + 1):
    print(f"  left{i}: {{q: -90 deg, u: 1 rad/s}}")
print("""run:
  duration: 10 s
  method: rk4
  step: 5 ms
  output: {interval: 20 ms, signals: ["q:foot0", "u:foot0", energy, "node:stand0/end"]}""")
