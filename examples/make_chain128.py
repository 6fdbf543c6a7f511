#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes chain128.yaml: 128 equal links, hinged about y and x in turn, hanging from the ground.

    python3 make_chain128.py > chain128.yaml
"""

COUNT = 128

print(f"""# A chain of {COUNT} links, hinged about y and x in turn, that hangs from the ground and is let go bent.
#
# Shows the cost of a long tree: one evaluation grows in proportion to the number of links. The links share one
# description through a YAML anchor. Written by make_chain{COUNT}.py.
calder: 1
title: Chain of {COUNT} bodies

gravity: [0, 0, -9.81]

define:
  - &link
    mass: 0.2 kg
    cylinder: {{radius: 10 mm, from: [0, 0, 0], to: [0, 0, -10 cm]}}
    nodes: {{end: [0, 0, -10 cm]}}
  - &y {{type: revolute, axis: y, dof: {{damping: 1e-4 N*m*s/rad}}}}
  - &x {{type: revolute, axis: x, dof: {{damping: 1e-4 N*m*s/rad}}}}

bodies:""")
for i in range(1, COUNT + 1):
    print(f"  b{i:03}: *link")
print("\njoints:")
for i in range(1, COUNT + 1):
    inboard = "ground" if i == 1 else f"b{i - 1:03}/end"
    print(f"  j{i:03}: {{<<: *{'yx'[(i + 1) % 2]}, from: {inboard}, to: b{i:03}}}")
print("""
state:
  j001: {q: 45 deg}
  j002: {q: 10 deg}
  j064: {q: 20 deg}

run:
  duration: 2 s
  rtol: 1e-8
  atol: 1e-10
  output:
    interval: 20 ms""")
print(f'    signals: [energy, "node:b{COUNT:03}/end", "reaction:j001"]')
