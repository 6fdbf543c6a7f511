#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reference dynamics of the URDF models in this folder, by another way than Calder's: Newton's and Euler's equations of
each link in world axes, one degree of freedom at a time for the mass matrix, dense solves. Needs numpy.

    python3 make_references.py [FOLDER]    # writes NAME/NAME.ref.json, in the layout of docs/import.md#references
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

import numpy as np

GRAVITY = np.array([0, 0, -9.81])
FREE = {"walker"}  # models whose root floats


def numbers(text, default):
    return np.array([float(x) for x in text.split()]) if text else np.array(default, float)


def about(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def turn(q):  # w x y z
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def quaternion(r):  # by the eigenvector of the largest eigenvalue
    k = np.array([[r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
                  [0, r[0, 0] - r[1, 1] - r[2, 2], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
                  [0, 0, r[1, 1] - r[0, 0] - r[2, 2], r[1, 2] + r[2, 1]],
                  [0, 0, 0, r[2, 2] - r[0, 0] - r[1, 1]]])
    _, vectors = np.linalg.eigh(k, UPLO="U")
    q = vectors[:, 3]
    return q if q[0] >= 0 else -q


def origin(element):
    o = element.find("origin") if element is not None else None
    if o is None:
        return np.eye(3), np.zeros(3)
    rpy = numbers(o.get("rpy"), [0, 0, 0])
    r = about([0, 0, 1], rpy[2]) @ about([0, 1, 0], rpy[1]) @ about([1, 0, 0], rpy[0])
    if o.get("quat_xyzw"):
        x, y, z, w = numbers(o.get("quat_xyzw"), [])
        r = turn(np.array([w, x, y, z]))
    return r, numbers(o.get("xyz"), [0, 0, 0])


class Link:
    def __init__(self, element):
        self.name, inertial = element.get("name"), element.find("inertial")
        self.mass, self.com, self.inertia, self.children = 0.0, np.zeros(3), np.zeros((3, 3)), []
        if inertial is not None:
            r, self.com = origin(inertial)
            self.mass = float(inertial.find("mass").get("value"))
            i = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
            self.inertia = r @ np.array([[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]],
                                         [i["ixz"], i["iyz"], i["izz"]]]) @ r.T


class Joint:
    def __init__(self, element, robot):
        self.name, self.type = element.get("name"), element.get("type")
        self.parent, self.child = element.find("parent").get("link"), element.find("child").get("link")
        self.turned, self.at = origin(element)
        axis = element.find("axis")
        axis = numbers(axis.get("xyz"), []) if axis is not None else np.array([1.0, 0, 0])
        self.axis = axis / np.linalg.norm(axis)
        self.mimic, self.armature = element.find("mimic"), 0.0
        for t in robot.findall("transmission"):
            if t.find("joint").get("name") == self.name:
                actuator = t.find("actuator")
                self.armature = float(actuator.find("mechanicalReduction").text)**2 * float(
                    actuator.find("rotorInertia").text)


class Robot:
    def __init__(self, path, free):
        tree = xml.parse(path).getroot()
        self.links = {e.get("name"): Link(e) for e in tree.findall("link")}
        joints = [Joint(e, tree) for e in tree.findall("joint")]
        for j in joints:
            self.links[j.parent].children.append(j)
        children = {j.child for j in joints}
        self.root = next(n for n in self.links if n not in children)
        self.free, self.order = free, []  # (link, parent, joint, first coordinate, first speed)
        self.nq, self.nv = (7, 6) if free else (0, 0)
        self.add(self.root, None, None)

    def add(self, name, parent, joint):
        moves = joint is not None and joint.type != "fixed"
        self.order.append((name, parent, joint, self.nq if moves else -1, self.nv if moves else -1))
        self.nq, self.nv = self.nq + moves, self.nv + moves
        for j in self.links[name].children:
            self.add(j.child, name, j)

    def move(self, q, v, a):
        """Pose, velocity and acceleration of every link's origin."""
        state = {}
        for name, parent, joint, iq, iv in self.order:
            if parent is None:
                r, p, w, u, alpha, acc = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
                if self.free:
                    r, p = turn(q[3:7]), q[:3]
                    w, u, alpha, acc = r @ v[3:6], v[:3], r @ a[3:6], a[:3]
            else:
                r0, p0, w0, u0, alpha0, acc0 = state[parent]
                r, p = r0 @ joint.turned, p0 + r0 @ joint.at
                s, w, alpha = r @ joint.axis, w0, alpha0
                slide = joint.type == "prismatic"
                if iq >= 0 and slide:
                    p = p + s * q[iq]
                elif iq >= 0:
                    r = r @ about(joint.axis, q[iq])
                    w, alpha = w0 + s * v[iv], alpha0 + s * a[iv] + np.cross(w0, s * v[iv])
                d = p - p0
                u = u0 + np.cross(w0, d)
                acc = acc0 + np.cross(alpha0, d) + np.cross(w0, np.cross(w0, d))
                if iq >= 0 and slide:
                    u, acc = u + s * v[iv], acc + 2 * np.cross(w0, s * v[iv]) + s * a[iv]
            state[name] = r, p, w, u, alpha, acc
        return state

    def inverse(self, q, v, a, gravity=GRAVITY):
        state, tau, load = self.move(q, v, a), np.zeros(self.nv), {}
        for name, parent, joint, _, iv in reversed(self.order):
            link, (r, p, w, _, alpha, acc) = self.links[name], state[name]
            c, inertia = r @ link.com, r @ link.inertia @ r.T
            force = link.mass * (acc + np.cross(alpha, c) + np.cross(w, np.cross(w, c)) - gravity)
            moment = inertia @ alpha + np.cross(w, inertia @ w) + np.cross(p + c, force)  # about the world's origin
            f0, m0 = load.get(name, (np.zeros(3), np.zeros(3)))
            force, moment = force + f0, moment + m0
            here = moment - np.cross(p, force)
            if iv >= 0:
                s = state[parent][0] @ joint.turned @ joint.axis
                tau[iv] = s @ (force if joint.type == "prismatic" else here) + joint.armature * a[iv]
            elif parent is None and self.free:
                tau[:3], tau[3:6] = force, r.T @ here
            if parent is not None:
                f0, m0 = load.get(parent, (np.zeros(3), np.zeros(3)))
                load[parent] = f0 + force, m0 + moment
        return tau

    def mass_matrix(self, q):
        zero = np.zeros(self.nv)
        return np.array([self.inverse(q, zero, unit, np.zeros(3)) for unit in np.eye(self.nv)]).T

    def center(self, q):
        state = self.move(q, np.zeros(self.nv), np.zeros(self.nv))
        total = sum(l.mass for l in self.links.values())
        return sum(self.links[n].mass * (state[n][1] + state[n][0] @ self.links[n].com) for n in state) / total


def rows(m):
    return [list(m[i, :i + 1]) for i in range(len(m))]


def state_of(robot, q, v, tau, poses):
    m, bias = robot.mass_matrix(q), robot.inverse(q, v, np.zeros(robot.nv))
    out = {"qpos": list(q), "qvel": list(v), "tau": list(tau), "qacc": list(np.linalg.solve(m, tau - bias)),
           "bias": list(bias), "M_lower": rows((m + m.T) / 2), "com": list(robot.center(q))}
    if poses:
        state = robot.move(q, np.zeros(robot.nv), np.zeros(robot.nv))
        names = [n for n, *_ in robot.order if n != "world"]
        out["xpos"] = [list(state[n][1]) for n in names]
        out["xquat"] = [list(quaternion(state[n][0])) for n in names]
    return out


def closed(robot, joints, q, rng):
    """Accelerations at rest with the mimics as ideal constraints."""
    index = {j["name"]: j["vadr"] for j in joints}
    followers = [j for _, _, j, _, _ in robot.order if j is not None and j.mimic is not None]
    g = np.zeros((len(followers), robot.nv))
    for row, j in zip(g, followers):
        row[index[j.name]], row[index[j.mimic.get("joint")]] = 1, -float(j.mimic.get("multiplier", 1))
    n, k, tau = robot.nv, len(followers), rng.standard_normal(robot.nv)
    m, bias = robot.mass_matrix(q), robot.inverse(q, np.zeros(n), np.zeros(n))
    both = np.block([[m, g.T], [g, np.zeros((k, k))]])
    a = np.linalg.solve(both, np.concatenate([tau - bias, np.zeros(k)]))[:n]
    return {"hard": {"qpos": "qpos0", "tau": list(tau), "rows": k, "rank": k, "well_posed": True, "qacc": list(a)}}


def reference(path, free):
    robot, rng = Robot(path, free), np.random.default_rng(2026)
    number = {n: i + 1 for i, n in enumerate(n for n, *_ in robot.order if n != "world")}
    joints = [{"name": "root", "type": "free", "body": 1, "qadr": 0, "vadr": 0}] if free else []
    for name, _, joint, iq, iv in robot.order:
        if iq >= 0:
            joints.append({"name": joint.name, "type": "slide" if joint.type == "prismatic" else "hinge",
                           "body": number[name], "qadr": iq, "vadr": iv})
    home, zero = np.zeros(robot.nq), np.zeros(robot.nv)
    if free:
        home[3] = 1
    states = []
    for i in range(3):
        q = rng.uniform(-1, 1, robot.nq)
        if free:
            q[3:7] = rng.standard_normal(4)
            q[3:7] /= np.linalg.norm(q[3:7])
        states.append(state_of(robot, q, rng.standard_normal(robot.nv), rng.standard_normal(robot.nv), i == 0))
    out = {"id": path.stem, "file": path.name, "format": "urdf",
           "urdf": {"base": "free joint added" if free else "fixed to world"},
           "generator": "make_references.py, Newton-Euler in world axes",
           "counts": {"nq": robot.nq, "nv": robot.nv},
           "total_mass": sum(l.mass for n, l in robot.links.items() if n != "world"),
           "settings": {"gravity": list(GRAVITY)}, "bodies": [{"name": n} for n in number], "joints": joints,
           "qpos0": list(home), "home": state_of(robot, home, zero, zero, True), "states": states}
    if any(j is not None and j.mimic is not None for _, _, j, _, _ in robot.order):
        out["equalities"] = closed(robot, joints, home, rng)
    return out


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for path in sorted(folder.glob("*/*.urdf")):
        text = json.dumps(reference(path, path.stem in FREE), separators=(",", ":"), default=float)
        path.with_name(path.stem + ".ref.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
