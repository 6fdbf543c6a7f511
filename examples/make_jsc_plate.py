#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes jsc_plate.yaml: a free base plate, three legs, a top plate, two manipulators and the object that they hold.

    python3 make_jsc_plate.py [--rigid] > jsc_plate.yaml

The topology is that of T. K. Ghosh, L. J. Quiocho, "Development and Evaluation of an Order-N Formulation for Multi-flexible
Body Space Systems", Industrial Simulation Conference 2013, and of A. Huynh et al., on the same family, with 49 bodies. The papers
give counts and timings but no masses, lengths or loads; those below are choices.
"""
import math
import sys

RIGID = "--rigid" in sys.argv[1:]
AXES = "xzyyyzx"  # of the seven joints of an arm
ANGLES = [0, 0, 0.6, -1.2, 0.6, 0, 0]  # [rad] at the start: folded at the knee, the end points up
BOOMS = (2, 4)  # which of the seven links are booms
SHORT, BOOM, EFFECTOR = 0.35, 5.0, 0.2  # lengths [m]
SHORT_MASS, BOOM_MASS, EFFECTOR_MASS, RADIUS, EI = 25.0, 120.0, 15.0, 0.12, 2.4e6


def numbers(values):
    return "[" + ", ".join(f"{v:.16g}" for v in values) + "]"


def rows(matrix):
    return "[" + ", ".join(numbers(row) for row in matrix) + "]"


def rigid_link(anchor, mass, length):
    print(f"""  - {anchor}
    mass: {mass:g} kg
    cylinder: {{radius: {RADIUS} m, from: [0, 0, 0], to: [{length:g}, 0, 0]}}
    nodes: {{tip: [{length:g}, 0, 0]}}""")


def flexible_boom(anchor, mass, length):
    """Two shapes in each plane, under a force and under a moment at the tip, and masses lumped at five nodes."""
    # With s = x/L: s^2 (3-s)/2 and s^2; integrals of the products of their second derivatives are 3, 3 and 4.
    bend = [[3, 3], [3, 4]]
    stiffness = [[bend[i % 2][j % 2] * EI / length**3 * (i // 2 == j // 2) for j in range(4)] for i in range(4)]
    damping = [[0.002 * k for k in row] for row in stiffness]
    print(f"  - {anchor}")
    print("    nodes: {" + ", ".join(f"n{k}: [{length * k / 4:g}, 0, 0]" for k in range(4)) + f", tip: [{length:g}, 0, 0]" + "}")
    print("    flexible:")
    print(f"      stiffness: {rows(stiffness)}")
    print(f"      damping: {rows(damping)}")
    print("      nodes:")
    print(f"        n0: {{mass: {mass / 8:g}}}")
    for k in range(1, 5):
        s, m = k / 4, mass / (8 if k == 4 else 4)
        f = [s * s * (3 - s) / 2, s * s]
        slope = [(6 * s - 3 * s * s) / 2 / length, 2 * s / length]
        inertia = [m * RADIUS**2, m * RADIUS**2 / 2, m * RADIUS**2 / 2]
        phi = [[0, 0, 0, 0], [f[0], f[1], 0, 0], [0, 0, f[0], f[1]]]
        psi = [[0, 0, 0, 0], [0, 0, -slope[0], -slope[1]], [slope[0], slope[1], 0, 0]]
        print(f"        {'tip' if k == 4 else f'n{k}'}:")
        print(f"          {{mass: {m:g}, inertia: {numbers(inertia)},")
        print(f"           phi: {rows(phi)},")
        print(f"           psi: {rows(psi)}}}")


def links(arm):
    """Bodies of an arm: name, what it is, axis of its joint or None for a weld."""
    for i, axis in enumerate(AXES):
        if i in BOOMS and arm.startswith("leg"):  # booms of the legs are split in two halves
            yield f"{arm}_{i + 1}a", "half", axis
            yield f"{arm}_{i + 1}b", "half", None
        else:
            yield f"{arm}_{i + 1}", "boom" if i in BOOMS else "short", axis
    yield f"{arm}_end", "effector", None


def reach():
    """How far the end of a folded arm is off its start: sideways and up."""
    angle, out, up = 0.0, 0.0, 0.0
    for i, axis in enumerate(AXES):
        angle += ANGLES[i] if axis == "y" else 0
        length = BOOM if i in BOOMS else SHORT
        out, up = out + length * math.sin(angle), up + length * math.cos(angle)
    return out, up + EFFECTOR


# An arm starts along its x axis, which points up; its sideways direction is then -z of the arm, x of the plate.
OUT, UP = reach()
HEIGHT = 0.2 + UP + 0.1  # of the top plate's center above the base


def leg_foot(i):
    a = math.radians(120 * i)
    return 2 * math.cos(a), 2 * math.sin(a), 0.2


def leg_end(i):
    """Where leg i meets the top plate, from its center."""
    a = math.radians(120 * i)
    return (2 + OUT) * math.cos(a), (2 + OUT) * math.sin(a), -0.1


def plate(name, mass, width):
    print(f"  {name}: {{mass: {mass} kg, inertia: {numbers([mass * width**2 / 12] * 2 + [mass * width**2 / 6])}, nodes: {{")


def frame(name, at, turn):
    """A node whose x axis points up, turned about the vertical."""
    return f"    {name}: {{at: {numbers(at)}, orientation: [{{z: {turn} deg}}, {{y: -90 deg}}]}}"


LEGS, ARMS = ["leg1", "leg2", "leg3"], ["arm1", "arm2"]
what = "rigid" if RIGID else "flexible, with four bending modes each"
print(f"""# A base plate of 4 t floats free; three legs carry a top plate of 2.5 t; two manipulators on it hold an object of 400 kg. Legs and
# manipulators have seven hinges each, and end in welds: a tree of 49 bodies with three loops, of six rows each. Booms are
# {what}.
#
# Forces and moments act on the top plate and on the object, and motors on the first leg; every 20 s all of them change sign.
# Expected: the top plate is pushed away and the legs follow. What acts from outside are the forces on plate and object: linear
# momentum is their sum, (220, -90, 35) N, times the time, until they turn at 20 s.
# Written by make_jsc_plate.py, which says where this system comes from.
calder: 1
title: Three legs, two arms
define:""")
rigid_link("&short", SHORT_MASS, SHORT)
rigid_link("&effector", EFFECTOR_MASS, EFFECTOR)
(rigid_link if RIGID else flexible_boom)("&boom", BOOM_MASS, BOOM)
(rigid_link if RIGID else flexible_boom)("&half", BOOM_MASS / 2, BOOM / 2)
print("bodies:")
plate("base", 4000, 6)
print(",\n".join(frame(f"foot{i + 1}", leg_foot(i), 120 * i) for i in range(3)) + "}}")
plate("top", 2500, 6)
print(",\n".join([frame(f"foot{i + 1}", leg_end(i), 120 * i) for i in range(3)] +
                 [frame(f"shoulder{i + 1}", (0, 1.5 - 3 * i, 0.2), 0) for i in range(2)]) + "}}")
print(f"  object: {{mass: 400 kg, inertia: {numbers([400 * 4 / 12] * 2 + [400 * 4 / 6])}, nodes: {{")
print(f"    grip: {{at: [0, -3, 0]}}}}}}  # where the second manipulator holds it, along the axes of the manipulators")
for arm in LEGS + ARMS:
    for name, kind, _ in links(arm):
        print(f"  {name}: *{kind}")
print("joints:")
print("  flight: {type: free, to: base}")
state = []
for arm in LEGS + ARMS:
    number = arm[-1]
    inboard = f"base/foot{number}" if arm in LEGS else f"top/shoulder{number}"
    angles = iter(ANGLES)
    if arm == "arm1":  # the top plate is the child of the first leg
        print("  top: {type: weld, from: leg1_end/tip, to: top/foot1}")
    for name, _, axis in links(arm):
        kind = f"revolute, axis: {axis}" if axis else "weld"
        print(f"  {name}: {{type: {kind}, from: {inboard}, to: {name}}}")
        inboard = f"{name}/tip"
        angle = next(angles) if axis else 0
        if angle:
            state.append(f"  {name}: {{q: {angle}}}")
print("  grip: {type: weld, from: arm1_end/tip, to: object}")
print("loops:")
for i in (2, 3):
    print(f"  leg{i}: {{type: weld, from: top/foot{i}, to: leg{i}_end/tip}}")
print("  arm2: {type: weld, from: object/grip, to: arm2_end/tip}")
print("state:")
print("\n".join(state))
print("loads:")
motors = [name for name, _, axis in links("leg1") if axis]
for segment in range(5):
    sign = 1 - 2 * (segment % 2)
    when = f"start: {20 * segment} s, end: {20 * segment + 20} s"
    for node, force, moment in (("top", (200, -100, 50), (30, 80, -60)), ("object", (20, 10, -15), (5, -4, 6))):
        print(f"  - {{node: {node}, force: {numbers(sign * f for f in force)}, "
              f"moment: {numbers(sign * m for m in moment)}, {when}}}")
    for name in motors:
        print(f"  - {{joint: {name}, effort: {20 * sign} N*m, {when}}}")
print(f"""run:
  duration: 24 s
  method: {"rk4" if RIGID else "implicit-midpoint"}
  step: {10 if RIGID else 4} ms
  output:
    interval: 100 ms
    signals: ["node:top", "node:object", "q:leg2_3a", "q:leg2_4", energy, momentum]""")
