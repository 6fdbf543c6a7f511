# SPDX-License-Identifier: Apache-2.0
"""Random models for the campaign in attack.py.

make(seed) returns a model as a dictionary with the keys of docs/format.md. Every seed picks one device type in turn,
and every third one a kind of event, so that all are used equally often; it adds other devices, a second group, loops and
flexible bodies at random. The initial states satisfy the loops: a run that has to assemble them would say so, which is
tested elsewhere.
"""
import math
import random

GRAVITY = 9.81


class Maker:
    """A model in the making, the random numbers it is made from, and what later parts can attach to."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.model = {"calder": 1, "bodies": {}, "joints": {}, "state": {}, "devices": {}, "run": {}}
        self.duration = self.number(0.4, 1.5)
        self.nodes = []  # paths of nodes at which bodies and devices can be attached
        self.one_dof = []  # (joint, "angle" or "length")

    def number(self, low, high):
        return float(f"{self.random.uniform(low, high):.6g}")

    def log_number(self, low, high):
        return float(f"{math.exp(self.random.uniform(math.log(low), math.log(high))):.6g}")

    def sign(self):
        return self.random.choice((-1, 1))

    def chance(self, probability):
        return self.random.random() < probability

    def vector(self, size):
        return [self.number(-size, size) for _ in range(3)]

    def direction(self):
        while True:
            v = [self.random.gauss(0, 1) for _ in range(3)]
            length = math.sqrt(sum(x * x for x in v))
            if length > 0.1:
                return [float(f"{x / length:.6g}") for x in v]

    def axis(self):
        return self.random.choice(("x", "y", "z")) if self.chance(0.5) else self.direction()

    def body(self, name):
        sides = [self.log_number(0.05, 0.5) for _ in range(3)]
        self.model["bodies"][name] = {
            "mass": self.log_number(0.1, 10),
            "com": self.vector(0.1),
            "box": sides,
            "nodes": {"end": [x * self.number(0.2, 0.6) for x in self.direction()]},
        }
        self.nodes += [name, f"{name}/end"]

    def beam(self, name):
        self.model["bodies"][name] = {
            "beam": {
                "length": self.number(0.5, 1.2),
                "section": {
                    "shape": "tube",
                    "diameter": 0.03,
                    "thickness": 0.002,
                    "youngs_modulus": self.log_number(1e9, 2e10),
                    "density": 2700,
                },
                "modes": self.random.randint(1, 3),
                "damping_ratio": self.random.choice((0, 0.01)),
            }
        }
        self.nodes += [f"{name}/root", f"{name}/tip"]

    def group_of(self, node):
        return self.model["bodies"][node.split("/")[0]].get("group")

    def node(self, group=None):
        """A node; of this group, if one is given."""
        return self.random.choice([n for n in self.nodes if not group or (self.group_of(n) or "main") == group])

    def two_nodes(self):
        """Two nodes of different bodies, or the ground and a node."""
        b = self.node()
        others = [n for n in self.nodes if n.split("/")[0] != b.split("/")[0]]
        return (self.random.choice(others) if others and self.chance(0.7) else "ground"), b

    def driven(self):
        """Joints whose motion is given, by a device or with their group."""
        groups = self.model.get("group_motions", {}).values()
        devices = [d["joint"] for d in self.model["devices"].values() if d["type"] == "joint_drive"]
        return devices + [joint for group in groups for joint in group]

    def joint_of_one_dof(self, without=()):
        found = [item for item in self.one_dof if item[0] not in without]
        if not found:
            add_link(self, len(self.model["bodies"]), "revolute")
            return self.one_dof[-1]
        return self.random.choice(found)


# ---- trees -----------------------------------------------------------------------------------------------------------

OTHER = "other"  # name of the second group
ANGLES = ("revolute", "screw")
JOINTS = ("revolute", "revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "free")


def joint_state(make, kind, moving):
    speed = 2 if moving else 0
    a = lambda: make.number(-1, 1)
    u = lambda: make.number(-speed, speed)
    if kind in ("revolute", "prismatic", "screw"):
        return {"q": a() * (1 if kind in ANGLES else 0.3), "u": u()}
    if kind in ("universal", "cylindrical"):
        return {"q": [a(), 0.3 * a()], "u": [u(), 0.3 * u()]}
    if kind == "planar":
        return {"q": [0.3 * a(), 0.3 * a(), a()], "u": [u(), u(), u()]}
    turn = {"axis": make.direction(), "angle": a()}
    if kind == "spherical":
        return {"orientation": turn, "angular_velocity": [u(), u(), u()]}
    return {"at": make.vector(0.5), "orientation": turn, "velocity": [u(), u(), u()], "angular_velocity": [u(), u(), u()]}


def add_link(make, index, kind=None, group="main"):
    """One more body on a random node of the group, by a joint of a random type."""
    model, name, joint = make.model, f"b{index}", f"j{index}"
    kind = kind or make.random.choice(JOINTS)
    there = any((make.group_of(n) or "main") == group for n in make.nodes)
    at = make.node(group) if there and make.chance(0.85) else "ground"
    flexible = make.flexible and make.chance(0.4)
    (make.beam if flexible else make.body)(name)
    if group != "main":
        model["bodies"][name]["group"] = group
    model["joints"][joint] = {"type": kind, "from": at, "to": f"{name}/root" if flexible else name}
    if kind not in ("spherical", "free", "weld"):
        model["joints"][joint]["axis"] = "x" if kind == "universal" else make.axis()
    if kind == "universal":
        model["joints"][joint]["axis2"] = "y"
    if kind == "planar":
        model["joints"][joint] |= {"axis": "z", "axis2": "x"}
    if kind == "screw":
        model["joints"][joint]["pitch"] = make.number(0.01, 0.1)
    if kind in ("revolute", "prismatic", "screw"):
        make.one_dof.append((joint, "angle" if kind in ANGLES else "length"))
        if make.chance(0.3):
            model["joints"][joint]["dof"] = {"stiffness": make.log_number(1, 300), "damping": make.number(0, 1)}
    model["state"][joint] = joint_state(make, kind, make.moving)


def add_tree(make):
    for index in range(make.random.randint(1, 5)):
        add_link(make, index)


def add_group(make, given):
    """A second group of one or two bodies, with its own gravity, or moving as given functions of time."""
    first = len(make.model["bodies"])
    make.model["groups"] = {OTHER: {"gravity": make.vector(5)}}
    for index in range(first, first + make.random.randint(1, 2)):
        add_link(make, index, make.random.choice(("revolute", "prismatic")) if given else None, OTHER)
    if given:
        joints = [f"j{index}" for index in range(first, len(make.model["bodies"]))]
        make.model["group_motions"] = {OTHER: {joint: {"q": drive_formula(make, joint)} for joint in joints}}


def drive_formula(make, joint):
    """A smooth motion that begins as the state of the joint says."""
    start, w = make.model["state"][joint], make.number(1, 10)
    return f"{start['q']} + {start['u'] / w}*sin({w}*t) + {make.number(-0.3, 0.3)}*(1 - cos({make.number(1, 10)}*t))"


# ---- loops -----------------------------------------------------------------------------------------------------------


def add_four_bar(make):
    """A planar four-bar of random lengths and very different masses, closed in positions and speeds."""
    l1, l2, l3, d = 0.3, make.number(0.7, 1.0), make.number(0.6, 0.9), make.number(0.8, 1.0)
    a, wa = make.number(0.4, 2.5), make.number(-4, 4)
    px, py = l1 * math.cos(a), l1 * math.sin(a)
    reach = math.hypot(d - px, -py)
    toward = math.atan2(-py, d - px)
    inner = math.acos((l2 * l2 + reach * reach - l3 * l3) / (2 * l2 * reach))
    b = toward + inner  # angle of the coupler
    ex, ey = px + l2 * math.cos(b), py + l2 * math.sin(b)
    c = math.atan2(ey, ex - d)  # angle of the rocker
    # -l1 sin a wa - l2 sin b wb = -l3 sin c wc, and the same with cosines
    det = l2 * l3 * (math.sin(b) * math.cos(c) - math.cos(b) * math.sin(c))
    wb = l1 * wa * l3 * (math.cos(a) * math.sin(c) - math.sin(a) * math.cos(c)) / det
    wc = (l1 * wa * math.sin(a) + l2 * wb * math.sin(b)) / (l3 * math.sin(c))
    scale = 1e-6 if make.chance(0.5) else 1
    masses = [make.log_number(0.1, 10), make.log_number(1e-6 * scale, 10), make.log_number(0.1, 10)]
    for name, mass, length in zip(("crank", "coupler", "rocker"), masses, (l1, l2, l3)):
        make.model["bodies"][name] = {
            "mass": mass,
            "com": [length / 2, 0, 0],
            "inertia": [1e-3 * mass, mass * (length**2 / 12 + 1e-3), mass * length**2 / 12],
            "nodes": {"end": [length, 0, 0]},
        }
        make.nodes += [name, f"{name}/end"]
    make.model["joints"] |= {
        "crank": {"type": "revolute", "to": "crank"},
        "pin": {"type": "revolute", "from": "crank/end", "to": "coupler"},
        "rocker": {"type": "revolute", "to": "rocker", "inboard": [d, 0, 0]},
    }
    make.model["loops"] = {"wrist": {"type": make.random.choice(("revolute", "spherical")), "from": "coupler/end", "to": "rocker/end"}}
    make.model["state"] |= {"crank": {"q": a, "u": wa}, "pin": {"q": b - a, "u": wb - wa}, "rocker": {"q": c, "u": wc}}
    make.one_dof += [("crank", "angle"), ("rocker", "angle")]


def add_gear(make):
    """Couples two coordinates of the tree: factor1 q1 + factor2 q2 stays what it is at the start."""
    driven, bodies = make.driven(), make.model["bodies"]
    in_main = [j for j, _ in make.one_dof if "group" not in bodies[make.model["joints"][j]["to"].split("/")[0]]]
    free = [joint for joint in in_main if joint not in driven]
    if len(free) < 2:
        return
    first, second = make.random.sample(free, 2)
    ratio = make.sign() * make.log_number(0.3, 3)
    start = make.model["state"]
    start[second]["u"] = -start[first]["u"] / ratio
    make.model["loops"] = {
        "gear": {
            "type": "coupling",
            "terms": [{"joint": first, "factor": 1}, {"joint": second, "factor": ratio}],
            "drive": {"offset": start[first]["q"] + ratio * start[second]["q"]},
        }
    }


# ---- devices ---------------------------------------------------------------------------------------------------------


def spring(make):
    a, b = make.two_nodes()
    kind = make.random.choice(({}, {"cable": True}, {"strut": True}))
    return {"from": a, "to": b, "stiffness": make.log_number(10, 1e4), "damping": make.number(0, 5), "length": make.number(0.1, 1)} | kind


def bushing(make):
    a, b = make.two_nodes()
    return {
        "from": a,
        "to": b,
        "stiffness": [make.log_number(10, 1e3) for _ in range(3)],
        "damping": [make.number(0, 2)] * 3,
        "angular_stiffness": [make.number(0, 5)] * 3,
        "angular_damping": [make.number(0, 1)] * 3,
    }


def limit(make):
    joint, kind = make.joint_of_one_dof()
    start = make.model["state"][joint]["q"]
    width = 0.5 if kind == "angle" else 0.1
    return {
        "joint": joint,
        "lower": start - make.number(0.01, 1) * width,
        "upper": start + make.number(0.01, 1) * width,
        "stiffness": make.log_number(100, 1e5),
        "damping": make.random.choice((0, make.number(0, 20))),
    }


def friction(make):
    law = {"smoothing_speed": make.log_number(1e-3, 0.1)}
    if make.chance(0.5):
        law = {"bristle_stiffness": make.log_number(100, 1e4), "bristle_damping": make.number(0, 1)}
    coulomb = make.log_number(0.01, 2)
    more = {"stiction": 1.5 * coulomb, "stribeck_speed": 0.1, "viscous": 0.1} if make.chance(0.5) else {}
    return {"joint": make.joint_of_one_dof()[0], "coulomb": coulomb} | law | more


def servo(make):
    joint, _ = make.joint_of_one_dof()
    start = make.model["state"][joint]["q"]
    ramp = [[0.1 * make.duration, start], [0.8 * make.duration, start + make.number(-0.5, 0.5)]]
    device = {
        "joint": joint,
        "reference": ramp if make.chance(0.5) else drive_formula(make, joint),
        "proportional": make.log_number(5, 200),
        "integral": make.number(0, 10),
        "derivative": make.number(0, 10),
    }
    if make.chance(0.3):
        device["effort_limit"] = make.log_number(0.5, 20)
    if make.chance(0.3):
        device["sample_period"] = make.log_number(0.005, 0.05)
    if make.chance(0.4):
        device |= {"rotor_inertia": make.number(0.05, 0.5), "gear_stiffness": make.log_number(100, 3000), "gear_damping": make.number(0, 3)}
        if make.chance(0.5):
            device["backlash"] = make.log_number(1e-3, 0.05)
    return device


def joint_drive(make):
    """Of a loop at most one joint is driven: the motion begins as the state says, so that the loop stays closed."""
    driven = make.driven()
    closed = [joint for joint, _ in make.one_dof] if driven and "loops" in make.model else []
    joint, _ = make.joint_of_one_dof(driven + closed)
    if "loops" in make.model or make.chance(0.6):
        return {"joint": joint, "q": drive_formula(make, joint)}
    start = make.model["state"][joint]["q"]
    make.model["state"][joint]["u"] = 0
    return {"joint": joint, "q": [[0.1 * make.duration, start], [0.8 * make.duration, start + make.number(-0.5, 0.5)]]}


def wheel(make):
    torque = {"shape": make.random.choice(("step", "linear")), "points": [[0, make.number(-1, 1)], [make.duration / 3, make.number(-1, 1)]]}
    return {"node": make.node(), "axis": make.axis(), "inertia": make.number(0.01, 0.1), "speed": make.number(-50, 50), "torque": torque, "drag": make.number(0, 1e-3)}


def control_moment_gyro(make):
    return {"node": make.node(), "gimbal": "x", "spin": "z", "momentum": make.number(-2, 2), "rate": make.number(-2, 2)}


def thruster(make):
    first = make.number(0, 0.6) * make.duration
    return {"node": make.node(), "direction": make.direction(), "thrust": make.log_number(0.1, 50), "pulses": [[first, first + make.log_number(1e-3, 0.3) * make.duration]]}


def slosh(make):
    return {"node": make.node(), "mass": make.number(0.1, 2), "stiffness": [make.log_number(10, 300)] * 3, "damping": [make.number(0, 1)] * 3, "position": make.vector(0.1)}


def gravity(make):
    return {"mu": 3.986e14, "position": [0, 0, 6.8e6]} | ({"orbit": True, "velocity": [7656, 0, 0]} if make.chance(0.5) else {})


def pulse(make):
    """A load by a table."""
    start = make.number(0.1, 0.7) * make.duration
    width = make.log_number(1e-3, 0.2) * make.duration
    table = [[0, 0], [start, 0], [start + width, make.number(-20, 20)], [start + 2 * width, 0]]
    if make.chance(0.5):
        return {"joint": make.joint_of_one_dof()[0], "effort": table}
    return {"node": make.node(), "force": [table, 0, 0]}


def contact(make):
    """Balls on some bodies above a floor and beside a wall that is thin against the way of a step."""
    bodies = [n for n in make.nodes if "/" not in n] or make.nodes
    shapes = {"floor": {"type": "plane", "at": [0, 0, make.number(-3, -1.5)]}}
    if make.chance(0.7):
        shapes["wall"] = {"type": "box", "at": [make.number(0.8, 2), 0, 0], "half": [make.log_number(0.01, 0.2), 5, 5]}
    for body in make.random.sample(bodies, min(2, len(bodies))):
        shapes[f"ball {body}"] = {"type": "sphere", "node": body, "radius": make.number(0.05, 0.2)}
    material = {"stiffness": make.log_number(1e4, 1e6), "dissipation": make.random.choice((0, make.number(0, 0.5)))}
    if make.chance(0.4):
        material |= {"friction_dynamic": make.number(0.1, 0.8), "transition_speed": 0.01}
    return {"shapes": shapes, "material": material}


def formula(make):
    """A load by a formula."""
    joint, _ = make.joint_of_one_dof()
    at = make.number(0.2, 0.8) * make.duration
    width = make.log_number(1e-3, 0.1) * make.duration
    size = make.number(-20, 20)
    start = make.model["state"][joint]["q"]
    formulas = (
        f"{size}*max(0, 1 - abs(t - {at})/{width})",
        f"if(t > {at} and t < {at + width}, {size}, 0)",
        f"{size}*exp(-((t - {at})/{width})^2)",
        f"if(q({joint}) > {start + 0.05}, {size}, 0)",
        f"-{abs(size)}*max(0, q({joint}) - {start + 0.1})",
        f"-{abs(size) / 4}*q({joint}) - 0.2*u({joint}) + sin(5*t)",
        f"clamp(-{abs(size)}*u({joint}), -1, 1)",
        f"-0.3*sign(u({joint}))",
    )
    return {"joint": joint, "effort": make.random.choice(formulas)}


def applied_load(make):
    return pulse(make) if make.chance(0.5) else formula(make)


def drag(make):
    flow = {"flow": make.vector(3)} if make.chance(0.5) else {}
    return {"node": make.node(), "density": 1.2, "coefficient": make.number(0.1, 2), "area": make.log_number(0.01, 1), "linear": make.number(0, 0.5)} | flow


def actuator(make):
    """The actuator of a robot file: a motor by a table, or a servo by its bias."""
    joint, _ = make.joint_of_one_dof()
    device = {"joint": joint, "gear": make.random.choice((1, make.number(-3, 3) or 1))}
    if make.chance(0.5):
        device |= {"control": [[0, make.number(-5, 5)], [make.duration / 2, make.number(-5, 5)]], "gain": make.number(0.5, 2)}
    else:
        stiffness = make.log_number(5, 100)
        device |= {"control": make.number(-0.5, 0.5), "gain": stiffness, "bias_length": -stiffness, "bias_speed": -make.number(0, 5)}
    return device | ({"lower": -3, "upper": 3} if make.chance(0.3) else {})


# ---- sampled devices: what they hold acts through a load, or on a joint ------------------------------------------------


def sampled(make):
    more = {"delay": make.random.choice((1, 2))} if make.chance(0.2) else {}
    return {"sample_period": make.log_number(0.005, 0.05)} | more


def act(make, kind, output, gain):
    """A load on some joint that follows an output of the device that is being made."""
    name = f"{kind.__name__}{len(make.model['devices']) + 1}"
    effort = f"{gain}*device('{name}.{output}')"
    make.after[f"use of {name}"] = {"type": "applied_load", "joint": make.joint_of_one_dof()[0], "effort": effort}


def noise(make, size):
    return {"noise": size, "seed": make.random.randrange(1000)} if make.chance(0.5) else {}


def pid(make):
    joint, _ = make.joint_of_one_dof()
    start = make.model["state"][joint]["q"]
    gains = {"proportional": make.log_number(5, 100), "integral": make.number(0, 10), "derivative": make.number(0, 5)}
    limits = {"lower": -5, "upper": 5, "anti_windup": make.random.choice(("clamping", "none"))} if make.chance(0.4) else {}
    set_point = start + make.number(-0.5, 0.5)
    return {"measured": f"q({joint})", "measured_rate": f"u({joint})", "set_point": set_point, "joint": joint} | gains | limits | sampled(make)


def state_space(make):
    joint, _ = make.joint_of_one_dof()
    act(make, state_space, "y1", -1)
    decay = make.number(0.2, 0.9)
    return {"inputs": [f"q({joint})", f"u({joint})"], "A": [[decay]], "B": [[0.1, 0.1]], "C": [[1]], "D": [[make.number(0, 5), make.number(0, 2)]]} | sampled(make)


def transfer_function(make):
    joint, _ = make.joint_of_one_dof()
    act(make, transfer_function, "y", -1)
    lag = make.log_number(0.01, 0.3)
    rule = make.random.choice(("hold", "tustin"))
    return {"input": f"q({joint})", "numerator": [make.number(0, 0.5), make.number(1, 10)], "denominator": [lag, 1], "discretization": rule} | sampled(make)


def filter(make):  # as the device is called
    joint, _ = make.joint_of_one_dof()
    act(make, filter, "y", -make.number(0.1, 2))
    return {"input": f"u({joint})", "kind": make.random.choice(("low_pass", "high_pass", "notch")), "frequency": make.log_number(2, 40)} | sampled(make)


def lookup(make):
    joint, _ = make.joint_of_one_dof()
    act(make, lookup, "y", -make.number(0.1, 2))
    table = {"x": [-1, 0.2, 1], "interpolation": make.random.choice(("linear", "step"))}
    if make.random.random() < 0.5:
        return {"inputs": f"q({joint})", "values": [-2, 0.1, 1.5]} | table | sampled(make)
    return {"inputs": [f"q({joint})", f"u({joint})"], "y": [-1, 1], "table": [[-3, -1], [0, 0.5], [1, 4]]} | table | sampled(make)


def rate_gyro(make):
    act(make, rate_gyro, "wy", -0.2)
    return {"node": make.node()} | noise(make, 0.01) | sampled(make)


def accelerometer(make):
    act(make, accelerometer, "az", 0.02)
    return {"node": make.node()} | noise(make, 0.01) | sampled(make)


def star_tracker(make):
    act(make, star_tracker, "qx", -0.5)
    return {"node": make.node()} | noise(make, 1e-3) | sampled(make)


def encoder(make):
    act(make, encoder, "position", -1)
    return {"joint": make.joint_of_one_dof()[0]} | noise(make, 1e-3) | sampled(make)


def force_sensor(make):
    act(make, force_sensor, "fz", 0.01)
    return {"joint": make.joint_of_one_dof()[0]} | sampled(make)


DEVICES = (spring, bushing, limit, friction, servo, joint_drive, wheel, control_moment_gyro, thruster, slosh, gravity, applied_load, contact, drag,
           actuator, pid, state_space, transfer_function, filter, lookup, rate_gyro, accelerometer, star_tracker, encoder, force_sensor)


def add_device(make, kind):
    name = f"{kind.__name__}{len(make.model['devices']) + 1}"
    make.after = {}
    make.model["devices"][name] = {"type": kind.__name__} | kind(make)
    make.model["devices"] |= make.after


# ---- keys of joints that are devices ----------------------------------------------------------------------------------


def with_several_dofs(make):
    return [name for name, joint in make.model["joints"].items() if joint["type"] in ("universal", "cylindrical")]


def joint_limits(make):
    keys = limit(make)
    make.model["joints"][keys.pop("joint")]["limits"] = keys


def joint_friction(make):
    """Of one of two degrees of freedom, where there are two."""
    keys, several = friction(make), with_several_dofs(make)
    joint = keys.pop("joint")
    if several:
        make.model["joints"][make.random.choice(several)]["friction"] = make.random.choice(([None, keys], [keys, None]))
    else:
        make.model["joints"][joint]["friction"] = keys


def joint_effort(make):
    """A limit of the servos, controllers and actuators on a joint: one at least that has no limit of its own."""
    limited = [device for device in make.model["devices"].values() if device["type"] in ("servo", "pid", "actuator")]
    if not limited:
        add_device(make, servo)
        limited = [list(make.model["devices"].values())[-1]]
    for key in ("effort_limit", "lower", "upper"):
        limited[0].pop(key, None)
    make.model["joints"][limited[0]["joint"]]["effort_limit"] = make.log_number(0.5, 20)


JOINT_KEYS = {"limits": joint_limits, "friction": joint_friction, "effort_limit": joint_effort}


# ---- events ----------------------------------------------------------------------------------------------------------


def lock(make, at):
    joint, _ = make.joint_of_one_dof(make.driven())
    return {"stop": {"at": at, "do": {"lock": joint}}, "go": {"after": "stop", "delay": 0.1, "do": {"unlock": joint}}}


def switch(make, at):
    return {"off": {"at": at, "do": {"switch_off": make.random.choice(list(make.model["devices"]))}}}


def condition(make, at):
    joint, _ = make.joint_of_one_dof()
    start = make.model["state"][joint]["q"]
    device = make.random.choice(list(make.model["devices"]))
    return {"pass": {"when": f"q({joint}) > {start + make.number(0.01, 0.2)}", "do": {"switch_off": device}}}


def attach(make, at):
    """Two nodes as they are then: of one group that closes a loop, of two it makes one tree."""
    a, b = make.two_nodes()
    latch = {"name": "latch", "type": make.random.choice(("weld", "spherical")), "from": a, "to": b, "fit": "from"}
    make.model.setdefault("groups", {})["loose"] = {}
    return {
        "meet": {"at": at, "do": {"attach": latch}},
        "part": {"after": "meet", "delay": 0.2 * make.duration, "do": {"detach": "latch", "group": "loose"}},
    }


def detach(make, at):
    driven = make.driven()
    joints = [joint for joint in make.model["joints"] if joint not in driven] or list(make.model["joints"])
    make.model.setdefault("groups", {})["loose"] = {"gravity": make.vector(3)}
    return {"part": {"at": at, "do": {"detach": make.random.choice(joints), "group": "loose"}}}


def release(make, at):
    return {"free": {"at": at, "do": {"release": OTHER}}}


TUNED = {
    "spring": ("stiffness", "damping", "length"),
    "bushing": ("stiffness.x", "damping.y", "angular_stiffness.z", "angular_damping.x"),
    "limit": ("stiffness", "damping"),
    "friction": ("coulomb", "viscous"),
    "servo": ("proportional", "derivative", "effort_limit"),
    "wheel": ("inertia", "drag"),
    "thruster": ("thrust",),
    "slosh": ("mass", "stiffness.x", "damping.y"),
    "drag": ("coefficient", "flow.x"),
    "pid": ("proportional", "integral", "derivative"),
    "actuator": ("gain", "bias_length", "bias_speed"),
}  # a number that is 0 may have to stay so: those are left alone


def parameters(make):
    """Numbers that may change in a run (docs/parameters.md), with their values."""
    found = {}
    for name, device in make.model["devices"].items():
        for key in TUNED.get(device["type"], ()):
            value = device.get(key.split(".")[0])
            value = value["xyz".index(key[-1])] if isinstance(value, list) else value
            if value:
                found[f"device:{name}.{key}"] = value
    for name, joint in make.model["joints"].items():
        for key, value in joint.get("dof", {}).items():
            if value:
                found[f"joint:{name}.{key}"] = value
    for name, body in make.model["bodies"].items():
        if "mass" in body:
            found[f"body:{name}.mass"] = body["mass"]
    for group in make.model.get("groups", {"main": {}}):
        found[f"group:{group}.gravity.z"] = -GRAVITY / 2
    return found


def change(make, at):
    known = parameters(make)
    names = make.random.sample(list(known), min(len(known), make.random.randint(1, 3)))
    return {"change": {"at": at, "do": [{"set": name, "value": known[name] * make.log_number(0.3, 3)} for name in names]}}


EVENTS = (lock, switch, condition, attach, detach, release, change)


def add_events(make, kind):
    make.model["events"] = kind(make, make.number(0.2, 0.6) * make.duration)


# ---- models ----------------------------------------------------------------------------------------------------------


def features(model):
    """What a model has of DEVICES, JOINT_KEYS and EVENTS, by name, and "two groups"."""
    found = {device["type"] for device in model["devices"].values()}
    found |= {"two groups"} if OTHER in model.get("groups", {}) else set()
    names = {"stop": "lock", "off": "switch", "pass": "condition", "meet": "attach", "free": "release", "change": "change"}
    events = list(model.get("events", {}))
    found |= {f"joint {key}" for key in JOINT_KEYS for joint in model["joints"].values() if key in joint}
    return found | ({names.get(events[0], "detach")} if events else set())


FEATURES = [kind.__name__ for kind in DEVICES + EVENTS] + [f"joint {key}" for key in JOINT_KEYS] + ["two groups"]


def make(seed):
    maker = Maker(seed)
    closed = maker.chance(0.25)
    maker.flexible, maker.moving = maker.chance(0.2), True
    if maker.chance(0.8):
        maker.model["gravity"] = [0, 0, -GRAVITY] if maker.chance(0.7) else maker.vector(10)
    add_four_bar(maker) if closed and maker.chance(0.6) else add_tree(maker)
    event = EVENTS[seed // 3 % len(EVENTS)] if seed % 3 == 0 and not closed else None
    if event is release or maker.chance(0.2):
        add_group(maker, event is release or maker.chance(0.4))
    first = DEVICES[seed % len(DEVICES)]
    for kind in [first] + maker.random.choices(DEVICES, k=maker.random.choice((0, 0, 1, 2))):
        if kind is gravity and any(d["type"] == "gravity" for d in maker.model["devices"].values()):
            continue
        add_device(maker, kind)
    if closed and "loops" not in maker.model:
        add_gear(maker)
    if seed % 4 == 1:
        list(JOINT_KEYS.values())[seed // 4 % len(JOINT_KEYS)](maker)
    if event:
        add_events(maker, event)
    maker.model["run"] = {"duration": maker.duration, "whole_steps": False}  # samples at the same times by all methods
    return maker.model
