#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models of the zoo whose numbers have to be computed: arm.urdf and hand.urdf, with their inertias; the same leg as
leg.sdf and leg.xml; and dish.obj, a mesh of spacecraft.sdf. The other models are written by hand.

A link of a URDF file is a list of parts: primitives with a mass each. The parts are its visuals, the first is its collision
shape, and its inertia is the exact sum of theirs.

  examples/zoo/make_zoo.py [FOLDER]    # default: the folder of this script
"""
import math
import sys
from pathlib import Path

WHITE, GRAY, DARK, ORANGE, BLUE, SKIN = "white", "gray", "dark", "orange", "blue", "skin"
COLORS = {WHITE: "0.92 0.92 0.90", GRAY: "0.62 0.65 0.68", DARK: "0.17 0.18 0.20", ORANGE: "0.95 0.48 0.12",
          BLUE: "0.16 0.42 0.70", SKIN: "0.86 0.80 0.72"}


# ---- mass properties ----

def rotation(rpy):
    """About fixed x, then y, then z."""
    (cr, cp, cy), (sr, sp, sy) = map(math.cos, rpy), map(math.sin, rpy)
    return [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr]]


def principal_moments(shape, size, mass):
    if shape == "box":
        x, y, z = (s * s for s in size)
        return [mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y)]
    radius, length = size[0], size[1] if len(size) > 1 else 0
    if shape == "sphere":
        return [0.4 * mass * radius ** 2] * 3
    if shape == "cylinder":
        across = mass / 12 * (3 * radius ** 2 + length ** 2)
        return [across, across, mass / 2 * radius ** 2]
    # A capsule: a cylinder, and two half spheres whose centers of mass are 3/8 of the radius beyond its ends.
    ends = mass * (4 / 3 * radius) / (4 / 3 * radius + length)
    tube = mass - ends
    along = tube / 2 * radius ** 2 + 0.4 * ends * radius ** 2
    across = tube / 12 * (3 * radius ** 2 + length ** 2) + ends * (0.4 * radius ** 2 + length ** 2 / 4 + 3 / 8 * radius * length)
    return [across, across, along]


class Part:
    def __init__(self, shape, size, mass, color, at=(0, 0, 0), rpy=(0, 0, 0)):
        self.shape, self.size, self.mass, self.color, self.at, self.rpy = shape, size, mass, color, at, rpy

    def inertia(self):
        """About its center, in the axes of the link."""
        turn, moments = rotation(self.rpy), principal_moments(self.shape, self.size, self.mass)
        return [[sum(turn[i][k] * moments[k] * turn[j][k] for k in range(3)) for j in range(3)] for i in range(3)]


def along_x(shape, size, mass, color, at=(0, 0, 0)):
    return Part(shape, size, mass, color, at, (0, math.pi / 2, 0))


def along_y(shape, size, mass, color, at=(0, 0, 0)):
    return Part(shape, size, mass, color, at, (math.pi / 2, 0, 0))


def mass_properties(parts):
    """Mass, center and inertia about the center of all parts."""
    mass = sum(part.mass for part in parts)
    center = [sum(part.mass * part.at[i] for part in parts) / mass for i in range(3)]
    total = [[0.0] * 3 for _ in range(3)]
    for part in parts:
        arm, own = [part.at[i] - center[i] for i in range(3)], part.inertia()
        square = sum(a * a for a in arm)
        for i in range(3):
            for j in range(3):
                total[i][j] += own[i][j] + part.mass * ((square if i == j else 0) - arm[i] * arm[j])
    return mass, center, total


# ---- URDF ----

def numbers(values):
    return " ".join(f"{value:.7g}" if abs(value) > 1e-12 else "0" for value in values)


def geometry(part):
    if part.shape == "box":
        text = f'<box size="{numbers(part.size)}"/>'
    elif part.shape == "sphere":
        text = f'<sphere radius="{part.size[0]:g}"/>'
    else:
        text = f'<{part.shape} radius="{part.size[0]:g}" length="{part.size[1]:g}"/>'
    return f'<origin xyz="{numbers(part.at)}" rpy="{numbers(part.rpy)}"/><geometry>{text}</geometry>'


def link(name, parts):
    mass, center, inertia = mass_properties(parts)
    entries = {"ixx": inertia[0][0], "ixy": inertia[0][1], "ixz": inertia[0][2], "iyy": inertia[1][1], "iyz": inertia[1][2],
               "izz": inertia[2][2]}
    tensor = " ".join(f'{key}="{numbers([value])}"' for key, value in entries.items())
    lines = [f'  <link name="{name}">', "    <inertial>", f'      <origin xyz="{numbers(center)}"/>',
             f'      <mass value="{mass:.6g}"/>', f"      <inertia {tensor}/>", "    </inertial>"]
    lines += [f'    <visual>{geometry(part)}<material name="{part.color}"/></visual>' for part in parts]
    lines += [f"    <collision>{geometry(parts[0])}</collision>", "  </link>"]
    return lines


def joint(name, kind, parent, child, at, axis=None, rpy=(0, 0, 0), limit=None, damping=None, friction=None, mimic=None):
    """limit: lower, upper, effort, velocity. mimic: leader, multiplier."""
    lines = [f'  <joint name="{name}" type="{kind}">', f'    <origin xyz="{numbers(at)}" rpy="{numbers(rpy)}"/>',
             f'    <parent link="{parent}"/>', f'    <child link="{child}"/>']
    if axis:
        lines.append(f'    <axis xyz="{axis}"/>')
    if limit:
        lines.append('    <limit lower="{:g}" upper="{:g}" effort="{:g}" velocity="{:g}"/>'.format(*limit))
    if damping:
        dry = f' friction="{friction:g}"' if friction else ""
        lines.append(f'    <dynamics damping="{damping:g}"{dry}/>')
    if mimic:
        lines.append(f'    <mimic joint="{mimic[0]}" multiplier="{mimic[1]:g}"/>')
    return lines + ["  </joint>"]


def robot(name, says, lines):
    used = [color for color in COLORS if any(f'material name="{color}"' in text for text in lines)]
    head = ['<?xml version="1.0"?>', "<!-- SPDX-License-Identifier: Apache-2.0", *says, "Written by make_zoo.py. -->",
            f'<robot name="{name}">']
    head += [f'  <material name="{color}"><color rgba="{COLORS[color]} 1"/></material>' for color in used]
    return "\n".join(head + lines + ["</robot>", ""])


# ---- the URDF models ----

X, Y, Z = "1 0 0", "0 1 0", "0 0 1"


def arm():
    """Seven axes in the order of most: pan, lift, roll, elbow, roll, flex, roll."""
    out = link("base_link", [Part("cylinder", (0.09, 0.12), 3.0, DARK, (0, 0, 0.06)),
                             Part("cylinder", (0.115, 0.02), 1.0, GRAY, (0, 0, 0.01))])
    out += link("shoulder_link", [Part("cylinder", (0.075, 0.13), 2.4, WHITE, (0, 0, 0.065)),
                                  along_y("cylinder", (0.075, 0.15), 1.6, WHITE, (0, 0, 0.15)),
                                  along_y("cylinder", (0.06, 0.17), 0.4, ORANGE, (0, 0, 0.15))])
    out += link("upper_arm_link", [Part("cylinder", (0.06, 0.2), 2.2, WHITE, (0, 0, 0.1)),
                                   Part("cylinder", (0.063, 0.02), 0.3, DARK, (0, 0, 0.2))])
    out += link("upper_arm_roll_link", [Part("cylinder", (0.057, 0.15), 1.5, WHITE, (0, 0, 0.085)),
                                        along_y("cylinder", (0.06, 0.13), 1.2, WHITE, (0, 0, 0.19)),
                                        along_y("cylinder", (0.047, 0.15), 0.3, ORANGE, (0, 0, 0.19))])
    out += link("forearm_link", [Part("cylinder", (0.048, 0.16), 1.2, WHITE, (0, 0, 0.08)),
                                 Part("cylinder", (0.051, 0.02), 0.2, DARK, (0, 0, 0.16))])
    out += link("forearm_roll_link", [Part("cylinder", (0.044, 0.14), 0.9, WHITE, (0, 0, 0.08)),
                                      along_y("cylinder", (0.046, 0.1), 0.7, WHITE, (0, 0, 0.17)),
                                      along_y("cylinder", (0.035, 0.115), 0.1, ORANGE, (0, 0, 0.17))])
    out += link("wrist_link", [Part("cylinder", (0.04, 0.09), 0.7, WHITE, (0, 0, 0.05))])
    out += link("gripper_palm", [Part("box", (0.05, 0.16, 0.05), 0.6, DARK, (0, 0, 0.045)),
                                 Part("cylinder", (0.035, 0.02), 0.15, GRAY, (0, 0, 0.01))])
    for side, sign in (("left", 1), ("right", -1)):
        out += link(f"{side}_finger", [Part("box", (0.024, 0.014, 0.08), 0.06, GRAY, (0, sign * 0.007, 0.04)),
                                       Part("box", (0.02, 0.006, 0.03), 0.01, ORANGE, (0, -sign * 0.003, 0.062))])
    pitch = math.radians
    out += joint("shoulder_pan", "revolute", "base_link", "shoulder_link", (0, 0, 0.12), Z, limit=(-2.9, 2.9, 180, 2),
                 damping=3, friction=0.5)
    out += joint("shoulder_lift", "revolute", "shoulder_link", "upper_arm_link", (0, 0, 0.15), Y, (0, pitch(25), 0),
                 (-1.9, 1.9, 180, 2), 4, 0.5)
    out += joint("upper_arm_roll", "revolute", "upper_arm_link", "upper_arm_roll_link", (0, 0, 0.2), Z, (0, 0, pitch(20)),
                 (-2.9, 2.9, 90, 2.5), 1.5, 0.3)
    out += joint("elbow_flex", "revolute", "upper_arm_roll_link", "forearm_link", (0, 0, 0.19), Y, (0, pitch(70), 0),
                 (-2.2, 1.2, 90, 2.5), 1.5, 0.3)
    out += joint("forearm_roll", "revolute", "forearm_link", "forearm_roll_link", (0, 0, 0.16), Z, (0, 0, 0),
                 (-2.9, 2.9, 40, 3), 0.4, 0.1)
    out += joint("wrist_flex", "revolute", "forearm_roll_link", "wrist_link", (0, 0, 0.17), Y, (0, pitch(50), 0),
                 (-2.1, 2.1, 40, 3), 0.4, 0.1)
    out += joint("wrist_roll", "revolute", "wrist_link", "gripper_palm", (0, 0, 0.095), Z, (0, 0, 0), (-3, 3, 20, 3), 0.1)
    out += joint("left_finger_slide", "prismatic", "gripper_palm", "left_finger", (0, 0.006, 0.07), Y, (0, 0, 0),
                 (0, 0.05, 60, 0.2), 8)
    out += joint("right_finger_slide", "prismatic", "gripper_palm", "right_finger", (0, -0.006, 0.07), "0 -1 0", (0, 0, 0),
                 (0, 0.05, 60, 0.2), 8, mimic=("left_finger_slide", 1))
    says = ["A seven-axis arm, 0.97 m from shoulder to fingertips, with a gripper whose right finger mimics the left one. The",
            "brakes are released: it sinks from its working pose, slowed by the friction of its gears."]
    return robot("arm", says, out)


# Of each finger: place on the palm, size in relation to the middle one, damping of its first joint.
FINGERS = {"index": (0.093, 0.034, 0.0, 0.94, 0.0022), "middle": (0.097, 0.0115, 0.0, 1.0, 0.0034),
           "ring": (0.093, -0.011, 0.0, 0.95, 0.0046), "little": (0.083, -0.033, -0.002, 0.8, 0.0032)}


def finger(name, x, y, z, scale, damping):
    """Three phalanges: the knuckle is free, the others bend with it as tendons would make them."""
    out = []
    sizes = [("proximal", 0.046, 0.0095, 0.024), ("middle", 0.029, 0.0085, 0.013), ("distal", 0.02, 0.0078, 0.008)]
    for phalanx, length, radius, mass in sizes:
        length, radius, mass = length * scale, radius * scale, mass * scale ** 3
        out += link(f"{name}_{phalanx}", [along_x("capsule", (radius, length - radius), 0.7 * mass, SKIN, (length / 2, 0, 0)),
                                          along_y("cylinder", (0.8 * radius, 2.1 * radius), 0.3 * mass, DARK)])
    steps = [("palm", f"{name}_proximal", "mcp", (x, y, z), None),
             (f"{name}_proximal", f"{name}_middle", "pip", (0.046 * scale, 0, 0), 0.95),
             (f"{name}_middle", f"{name}_distal", "dip", (0.029 * scale, 0, 0), 0.65)]
    for parent, child, place, at, ratio in steps:
        out += joint(f"{name}_{place}", "revolute", parent, child, at, Y, limit=(-0.1, 1.75, 1, 6),
                     damping=damping if ratio is None else 0.0003, mimic=(f"{name}_mcp", ratio) if ratio else None)
    return out


def hand():
    out = link("forearm", [along_x("cylinder", (0.03, 0.1), 0.5, DARK, (-0.075, 0, 0)),
                           along_x("cylinder", (0.033, 0.012), 0.1, ORANGE, (-0.03, 0, 0))])
    out += link("palm", [Part("box", (0.086, 0.086, 0.026), 0.28, GRAY, (0.045, 0, 0)),
                         along_y("cylinder", (0.015, 0.08), 0.08, DARK, (0.002, 0, 0)),
                         Part("box", (0.05, 0.06, 0.006), 0.03, ORANGE, (0.045, 0, 0.016))])
    out += joint("wrist", "revolute", "forearm", "palm", (0, 0, 0), Y, limit=(-0.9, 0.9, 10, 4), damping=0.25)
    for name, (x, y, z, scale, damping) in FINGERS.items():
        out += finger(name, x, y, z, scale, damping)
    out += link("thumb_base", [Part("sphere", (0.015,), 0.018, DARK),
                               along_x("capsule", (0.012, 0.014), 0.014, SKIN, (0.013, 0, 0))])
    out += link("thumb_metacarpal", [along_x("capsule", (0.0115, 0.03), 0.024, SKIN, (0.022, 0, 0)),
                                     along_y("cylinder", (0.0095, 0.024), 0.006, DARK)])
    out += link("thumb_proximal", [along_x("capsule", (0.0105, 0.022), 0.014, SKIN, (0.016, 0, 0)),
                                   along_y("cylinder", (0.0085, 0.022), 0.004, DARK)])
    out += link("thumb_distal", [along_x("capsule", (0.0095, 0.016), 0.01, SKIN, (0.012, 0, 0)),
                                 along_y("cylinder", (0.008, 0.02), 0.003, DARK)])
    out += joint("thumb_opposition", "revolute", "palm", "thumb_base", (0.02, 0.048, -0.004), X, (0, 0, 0.75),
                 (-0.2, 1.3, 2, 4), 0.004)
    out += joint("thumb_flex", "revolute", "thumb_base", "thumb_metacarpal", (0.026, 0, 0), Y, (0, 0, 0), (-0.2, 1.2, 2, 4), 0.004)
    out += joint("thumb_mp", "revolute", "thumb_metacarpal", "thumb_proximal", (0.044, 0, 0), Y, (0, 0, -0.2), (-0.2, 1.2, 1, 4),
                 0.0003, mimic=("thumb_flex", 0.8))
    out += joint("thumb_ip", "revolute", "thumb_proximal", "thumb_distal", (0.032, 0, 0), Y, (0, 0, 0), (-0.2, 1.2, 1, 4), 0.0003,
                 mimic=("thumb_flex", 0.6))
    says = ["A hand with four fingers and a thumb, palm down: 17 joints, 10 of which mimic others. Nobody holds the fingers: they",
            "fall closed, each at its own rate, and the wrist follows."]
    return robot("hand", says, out)


# ---- the leg, in two formats ----

# All is in the plane y = 0 and turns about y; points are (x, z) in the pose of the file, in which both loops are closed.
HIP, KNEE, ANKLE, TOE = (0, 1.1), (0.241, 0.756), (0.041, 0.41), (0.266, 0.142)
SHIN, ROD_TOP, HEEL = (0.216, 0.713), (-0.012, 1.03), (-0.059, 0.43)
CRANK, CRANK_END, TOE_END = (0.0796, 0.364), (0.0375, 0.3286), (0.2239, 0.1066)
# Bodies: parent, place of the joint on it, ends and radius of the capsule, mass, color, other capsules without mass.
LEG = {
    "thigh": ("pelvis", HIP, (HIP, KNEE, 0.055), 4.2, WHITE, [((0, 1.1), ROD_TOP, 0.02)]),
    "knee_link": ("thigh", KNEE, (KNEE, SHIN, 0.042), 0.7, DARK, []),
    "shin": ("knee_link", SHIN, (SHIN, ANKLE, 0.028), 0.9, WHITE, []),
    "tarsus": ("shin", ANKLE, (ANKLE, TOE, 0.026), 1.1, WHITE, []),
    "heel_spring": ("tarsus", ANKLE, (ANKLE, HEEL, 0.014), 0.15, ORANGE, []),
    "achilles_rod": ("thigh", ROD_TOP, (ROD_TOP, HEEL, 0.011), 0.3, GRAY, []),
    "foot_crank": ("tarsus", CRANK, (CRANK, CRANK_END, 0.014), 0.12, ORANGE, []),
    "plantar_rod": ("foot_crank", CRANK_END, (CRANK_END, TOE_END, 0.009), 0.12, GRAY, []),
    "toe": ("tarsus", TOE, ((0.235, 0.128), (0.345, 0.128), 0.022), 0.35, DARK, [(TOE, TOE_END, 0.01)]),
}
# Joints about y: body, stiffness, angle at which the spring is relaxed, damping. The rods have universal joints.
LEG_JOINTS = {
    "hip_pitch": ("thigh", 60, -0.7, 3.5), "knee": ("knee_link", 45, 0.75, 2.5), "shin_spring": ("shin", 1500, 0, 2),
    "ankle": ("tarsus", 0, 0, 0.1), "heel_spring_joint": ("heel_spring", 1250, 0, 1),
    "foot_crank_joint": ("foot_crank", 6, 0.5, 0.3), "toe_joint": ("toe", 0, 0, 0.02),
}
RODS = {"achilles_joint": "achilles_rod", "plantar_joint": "plantar_rod"}
CLOSURES = {"achilles_closure": ("achilles_rod", "heel_spring", HEEL), "plantar_closure": ("plantar_rod", "toe", TOE_END)}
LEG_SAYS = ["A leg in a test stand, built like those of robots that run: springs in the shin and at the heel, a rod along the leg",
            "that closes a loop over knee and ankle, and a second rod that turns the toe. Springs draw hip, knee and foot to",
            "another pose."]


DRUM = "<cylinder><radius>0.062</radius><length>0.13</length></cylinder>"


def local(point, origin):
    return point[0] - origin[0], point[1] - origin[1]


def leg_sdf():
    out = ['<?xml version="1.0"?>', "<!-- SPDX-License-Identifier: Apache-2.0", *LEG_SAYS,
           "Written by make_zoo.py; leg.xml is the same leg. -->", '<sdf version="1.11">',
           '  <world name="stand">', "    <gravity>0 0 -9.81</gravity>", '    <model name="leg">',
           '      <joint name="stand" type="fixed"><parent>world</parent><child>pelvis</child></joint>']

    def visual(name, geometry, color, pose):
        paint = f"<material><diffuse>{COLORS[color]} 1</diffuse></material>"
        return f'        <visual name="{name}"><pose>{numbers(pose)}</pose><geometry>{geometry}</geometry>{paint}</visual>'

    def capsule(ends, origin):
        a, b, radius = local(ends[0], origin), local(ends[1], origin), ends[2]
        pose = ((a[0] + b[0]) / 2, 0, (a[1] + b[1]) / 2, 0, math.atan2(b[0] - a[0], b[1] - a[1]), 0)
        return f"<capsule><radius>{radius:g}</radius><length>{math.dist(a, b):.9g}</length></capsule>", pose

    def sdf_link(name, origin, mass, geometry, pose, visuals):
        return [f'      <link name="{name}">', f"        <pose>{numbers((origin[0], 0, origin[1], 0, 0, 0))}</pose>",
                f'        <inertial auto="true"><mass>{mass:g}</mass></inertial>',
                f'        <collision name="collision"><pose>{" ".join(f"{x:.12g}" for x in pose)}</pose>'
                f"<geometry>{geometry}</geometry></collision>", *visuals, "      </link>"]

    block, pose = "<box><size>0.22 0.16 0.1</size></box>", (0, 0, 0.1, 0, 0, 0)
    mast = "<box><size>0.06 0.06 0.2</size></box>"
    out += sdf_link("pelvis", HIP, 8, block, pose, [visual("housing", block, DARK, pose),
                                                    visual("mast", mast, GRAY, (0, 0, 0.25, 0, 0, 0)),
                                                    visual("motor", DRUM, ORANGE, (0, 0, 0, math.pi / 2, 0, 0))])
    for name, (_, origin, ends, mass, color, others) in LEG.items():
        geometry, pose = capsule(ends, origin)
        visuals = [visual("shell", geometry, color, pose)]
        for other in others:
            shape, place = capsule(other, origin)
            visuals.append(visual("horn", shape, color, place))
        out += sdf_link(name, origin, mass, geometry, pose, visuals)
    for name, (child, stiffness, rest, damping) in LEG_JOINTS.items():
        spring = f"<spring_stiffness>{stiffness:g}</spring_stiffness><spring_reference>{rest:g}</spring_reference>"
        spring = spring if stiffness else ""
        out += [f'      <joint name="{name}" type="revolute">', f"        <parent>{LEG[child][0]}</parent><child>{child}</child>",
                f"        <axis><xyz>0 1 0</xyz><dynamics><damping>{damping:g}</damping>{spring}</dynamics></axis>",
                "      </joint>"]
    for name, child in RODS.items():
        damping = "<dynamics><damping>0.01</damping></dynamics>"
        out += [f'      <joint name="{name}" type="universal">', f"        <parent>{LEG[child][0]}</parent><child>{child}</child>",
                f"        <axis><xyz>1 0 0</xyz>{damping}</axis><axis2><xyz>0 1 0</xyz>{damping}</axis2>", "      </joint>"]
    for name, (parent, child, place) in CLOSURES.items():
        at = local(place, LEG[child][1])
        out += [f'      <joint name="{name}" type="ball">', f"        <pose>{numbers((at[0], 0, at[1], 0, 0, 0))}</pose>",
                f"        <parent>{parent}</parent><child>{child}</child>", "      </joint>"]
    return "\n".join(out + ["    </model>", "  </world>", "</sdf>", ""])


def leg_mjcf():
    out = ["<!-- SPDX-License-Identifier: Apache-2.0", *LEG_SAYS, "Written by make_zoo.py; leg.sdf is the same leg. -->",
           '<mujoco model="leg">', '  <compiler angle="radian"/>', '  <option gravity="0 0 -9.81"/>', "  <default>",
           '    <geom type="capsule" contype="0" conaffinity="0"/>', '    <joint axis="0 1 0"/>',
           '    <default class="rod"><joint damping="0.01"/></default>']
    out += [f'    <default class="{color}"><geom rgba="{COLORS[color]} 1"/></default>' for color in (WHITE, GRAY, DARK, ORANGE)]
    out += ["  </default>", "  <worldbody>", f'    <body name="pelvis" pos="{numbers((HIP[0], 0, HIP[1]))}">',
            '      <geom class="dark" type="box" size="0.11 0.08 0.05" pos="0 0 0.1" mass="8"/>',
            '      <geom class="gray" type="box" size="0.03 0.03 0.1" pos="0 0 0.25" mass="0"/>',
            '      <geom class="orange" type="cylinder" size="0.062 0.065" zaxis="0 1 0" mass="0"/>']

    def add(name, around, depth):
        _, origin, ends, mass, color, others = LEG[name]
        pad, at = "  " * depth, local(origin, around)
        out.append(f'{pad}<body name="{name}" pos="{numbers((at[0], 0, at[1]))}">')
        for joint_name, (child, stiffness, rest, damping) in LEG_JOINTS.items():
            spring = f' stiffness="{stiffness:g}" springref="{rest:g}"' if stiffness else ""
            if child == name:
                out.append(f'{pad}  <joint name="{joint_name}" damping="{damping:g}"{spring}/>')
        for joint_name, child in RODS.items():
            if child == name:
                out.append(f'{pad}  <joint name="{joint_name}_x" class="rod" axis="1 0 0"/>')
                out.append(f'{pad}  <joint name="{joint_name}_y" class="rod"/>')
        for capsule, weight in [(ends, mass)] + [(other, 0) for other in others]:
            (x, z), (u, w) = local(capsule[0], origin), local(capsule[1], origin)
            line = numbers((x, 0, z, u, 0, w))
            out.append(f'{pad}  <geom class="{color}" fromto="{line}" size="{capsule[2]:g}" mass="{weight:g}"/>')
        for child, entry in LEG.items():
            if entry[0] == name:
                add(child, origin, depth + 1)
        out.append(f"{pad}</body>")

    add("thigh", HIP, 3)
    out.extend(["    </body>", "  </worldbody>", "  <equality>"])
    for name, (parent, child, place) in CLOSURES.items():
        at = local(place, LEG[parent][1])
        out.append(f'    <connect name="{name}" body1="{parent}" body2="{child}" anchor="{numbers((at[0], 0, at[1]))}"/>')
    return "\n".join(out + ["  </equality>", "</mujoco>", ""])


# ---- a mesh ----

def dish(radius=0.6, depth=0.16, thickness=0.012, rings=8, sectors=32):
    """A paraboloid that opens along z, with its back face: a closed mesh."""
    vertices = []
    for back in (0, thickness):
        vertices.append((0, 0, -back))
        for ring in range(1, rings + 1):
            r = radius * ring / rings
            for sector in range(sectors):
                a = 2 * math.pi * sector / sectors
                vertices.append((r * math.cos(a), r * math.sin(a), depth * (r / radius) ** 2 - back))
    count = 1 + rings * sectors

    def at(ring, sector):
        return 0 if ring == 0 else 1 + (ring - 1) * sectors + sector % sectors

    faces = []
    for sector in range(sectors):
        front = [(0, at(1, sector), at(1, sector + 1))]
        for ring in range(1, rings):
            a, b, c, d = at(ring, sector), at(ring + 1, sector), at(ring + 1, sector + 1), at(ring, sector + 1)
            front += [(a, b, c), (a, c, d)]
        faces += front + [(c + count, b + count, a + count) for a, b, c in front]
        a, b = at(rings, sector), at(rings, sector + 1)
        faces += [(a, a + count, b + count), (a, b + count, b)]
    lines = ["# A dish of 1.2 m; written by make_zoo.py"]
    lines += ["v " + " ".join(f"{x:.5f}" for x in vertex) for vertex in vertices]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    files = {"arm.urdf": arm, "hand.urdf": hand, "leg.sdf": leg_sdf, "leg.xml": leg_mjcf, "dish.obj": dish}
    for file, write in files.items():
        (folder / file).write_text(write())
