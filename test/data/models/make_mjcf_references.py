#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reference dynamics of the MJCF models in this folder, by another way than Calder's: a reader of its own for what these
files use, mass properties of geoms by Gauss quadrature over their volume, Newton's and Euler's equations of each body in
world axes, one degree of freedom at a time for the mass matrix, dense solves. Needs numpy.

    python3 make_mjcf_references.py [FOLDER]    # writes NAME/NAME.ref.json, in the layout of docs/import.md#references
"""
import copy
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

import numpy as np

GRAVITY = np.array([0, 0, -9.81])


def numbers(text):
    return np.array([float(x) for x in text.split()])


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def about(axis, angle):
    k = cross(axis / np.linalg.norm(axis))
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def turn(q):  # w x y z
    w, v = q[0], np.array(q[1:])
    n = w * w + v @ v
    return np.eye(3) + 2 / n * (w * cross(v) + cross(v) @ cross(v))


def quaternion(r):  # by the eigenvector of the largest eigenvalue
    k = np.zeros((4, 4))
    k[0, 0] = np.trace(r)
    k[0, 1:] = k[1:, 0] = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    k[1:, 1:] = r + r.T - np.trace(r) * np.eye(3)
    q = np.linalg.eigh(k)[1][:, 3]
    return q if q[0] >= 0 else -q


# ---- the file --------------------------------------------------------------------------------------------------


class File:
    def __init__(self, path):
        self.root = xml.parse(path).getroot()
        compiler = self.root.find("compiler")
        self.unit = 1.0 if compiler.get("angle") == "radian" else np.pi / 180
        self.sequence = compiler.get("eulerseq", "xyz")
        self.total = float(compiler.get("settotalmass", -1))
        self.groups = numbers(compiler.get("inertiagrouprange", "0 5"))
        self.classes = {None: {}}
        for top in self.root.findall("default"):
            self.read_class(top, None, None)

    def read_class(self, element, name, parent):
        own = copy.deepcopy(self.classes[parent])
        for child in element:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(child.attrib)
        self.classes[name] = own
        for child in element.findall("default"):
            self.read_class(child, child.get("class"), name)

    def attributes(self, element, around):
        return {**self.classes[element.get("class", around)].get(element.tag, {}), **element.attrib}

    def orientation(self, a):
        if "quat" in a:
            return turn(numbers(a["quat"]))
        if "euler" in a:  # axes that turn
            r = np.eye(3)
            for axis, angle in zip(self.sequence, numbers(a["euler"])):
                r = r @ about(np.eye(3)["xyz".index(axis)], angle * self.unit)
            return r
        if "axisangle" in a:
            v = numbers(a["axisangle"])
            return about(v[:3], v[3] * self.unit)
        if "xyaxes" in a:
            q, _ = np.linalg.qr(np.reshape(numbers(a["xyaxes"]), (2, 3)).T)
            v = numbers(a["xyaxes"])
            x, y = q[:, 0] * np.sign(q[:, 0] @ v[:3]), q[:, 1] * np.sign(q[:, 1] @ v[3:])
            return np.array([x, y, np.cross(x, y)]).T
        if "zaxis" in a:
            z = numbers(a["zaxis"]) / np.linalg.norm(numbers(a["zaxis"]))
            return about(np.cross([0, 0, 1], z), np.arccos(z[2]))
        return np.eye(3)

    def pose(self, a):
        return self.orientation(a), numbers(a.get("pos", "0 0 0"))


# ---- masses ------------------------------------------------------------------------------------------------------


def quadrature(shape, s):
    """Points and weights of a volume about its center: exact for polynomials of the second degree."""
    x, w = np.polynomial.legendre.leggauss(8)

    def ball(r, half, low, high):  # polar about z, a part of a sphere that is shifted by half along z
        for t, wt in zip(x, w):
            c = low + (high - low) * (t + 1) / 2
            for u, wu in zip(x, w):
                rho = r * (u + 1) / 2
                for k in range(8):
                    phi = 2 * np.pi * k / 8
                    d = np.sqrt(1 - c * c)
                    yield (rho * np.array([d * np.cos(phi), d * np.sin(phi), c]) + [0, 0, half],
                           wt * (high - low) / 2 * wu * r / 2 * rho**2 * 2 * np.pi / 8)

    def tube(r, half):
        for t, wt in zip(x, w):
            for u, wu in zip(x, w):
                rho = r * (u + 1) / 2
                for k in range(8):
                    phi = 2 * np.pi * k / 8
                    yield np.array([rho * np.cos(phi), rho * np.sin(phi), half * t]), wt * half * wu * r / 2 * rho * np.pi / 4

    if shape == "box":
        for i, a in enumerate(x):
            for j, b in enumerate(x):
                for k, c in enumerate(x):
                    yield np.array([a, b, c]) * s, w[i] * w[j] * w[k] * np.prod(s)
    elif shape == "sphere":
        yield from ball(s[0], 0, -1, 1)
    elif shape == "ellipsoid":
        for p, weight in ball(1, 0, -1, 1):
            yield p * s, weight * np.prod(s)
    elif shape == "cylinder":
        yield from tube(s[0], s[1])
    else:  # capsule
        yield from tube(s[0], s[1])
        yield from ball(s[0], s[1], 0, 1)
        yield from ball(s[0], -s[1], -1, 0)


def moments(points):
    mass = sum(w for _, w in points)
    first = sum(w * p for p, w in points)
    second = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for p, w in points)
    return mass, first, second  # about the origin


def geom_moments(file, a):
    shape, s = a.get("type", "sphere"), numbers(a["size"])
    r, p = file.pose(a)
    if "fromto" in a:
        v = numbers(a["fromto"])
        d = v[3:] - v[:3]
        s, p = np.array([s[0], np.linalg.norm(d) / 2]), (v[:3] + v[3:]) / 2
        r = np.linalg.svd(d[None, :])[2].T[:, [1, 2, 0]]
        r = r if np.linalg.det(r) > 0 else -r
    points = [(p + r @ x, w) for x, w in quadrature(shape, s)]
    mass, first, second = moments(points)
    factor = float(a["mass"]) / mass if "mass" in a else float(a.get("density", 1000))
    return factor * mass, factor * first, factor * second


# ---- bodies ------------------------------------------------------------------------------------------------------


class Joint:
    def __init__(self, file, a, frame):
        r, p = frame
        self.name, self.type = a.get("name", ""), a.get("type", "hinge")
        self.axis = r @ numbers(a.get("axis", "0 0 1"))
        self.axis = self.axis / np.linalg.norm(self.axis)
        self.pos = p + r @ numbers(a.get("pos", "0 0 0"))
        self.armature = float(a.get("armature", 0))
        self.ref = float(a.get("ref", 0)) * (file.unit if self.type == "hinge" else 1)
        self.nq, self.nv = {"free": (7, 6), "ball": (4, 3)}.get(self.type, (1, 1))


class Body:
    def __init__(self, name, parent, pose):
        self.name, self.parent, self.pose, self.joints = name, parent, pose, []
        self.moments, self.inertial = (0.0, np.zeros(3), np.zeros((3, 3))), False

    def add(self, m):
        self.moments = tuple(x + y for x, y in zip(self.moments, m))


class Robot:
    def __init__(self, path):
        self.file = File(path)
        self.bodies, self.nq, self.nv = [], 0, 0
        self.read(self.file.root.find("worldbody"), None, (np.eye(3), np.zeros(3)), None, "")
        for b in self.bodies:
            for j in b.joints:
                j.q, j.v = self.nq, self.nv
                self.nq, self.nv = self.nq + j.nq, self.nv + j.nv
        total = sum(b.moments[0] for b in self.bodies)
        if self.file.total > 0:
            for b in self.bodies:
                b.moments = tuple(x * self.file.total / total for x in b.moments)
        self.by_name = {b.name: b for b in self.bodies}
        self.joints = {j.name: j for b in self.bodies for j in b.joints}

    def read(self, element, body, frame, around, suffix):
        r, p = frame
        for e in element:
            a = self.file.attributes(e, around)
            if e.tag == "frame":
                r1, p1 = self.file.pose(a)
                self.read(e, body, (r @ r1, p + r @ p1), around, suffix)
            elif e.tag == "replicate":
                for i in range(int(a["count"])):  # here without offset
                    turned = about([0, 0, 1], i * numbers(a["euler"])[2] * self.file.unit)
                    self.read(e, body, (r @ turned, p), around, a.get("sep", "") + str(i))
            elif e.tag == "body":
                r1, p1 = self.file.pose(a)
                child = Body(a["name"] + suffix, body, (r @ r1, p + r @ p1))
                self.bodies.append(child)
                self.read(e, child, (np.eye(3), np.zeros(3)), a.get("childclass", around), suffix)
            elif e.tag in ("joint", "freejoint"):
                a = dict(e.attrib, type="free") if e.tag == "freejoint" else a
                a["name"] = a.get("name", "") + suffix
                body.joints.append(Joint(self.file, a, frame))
            elif e.tag == "inertial":
                f = numbers(a["fullinertia"])
                m, c = float(a["mass"]), numbers(a["pos"])
                body.inertial = True
                body.moments = m, m * c, np.array([[f[0], f[3], f[4]], [f[3], f[1], f[5]], [f[4], f[5], f[2]]]) + m * (
                    c @ c * np.eye(3) - np.outer(c, c))
            elif e.tag == "geom" and body is not None and not body.inertial:
                if self.file.groups[0] <= int(a.get("group", 0)) <= self.file.groups[1]:
                    body.add(geom_moments(self.file, a))

    def move(self, q, v, a):
        """Pose, angular velocity, velocity and accelerations of every body's origin; directions and points of the joints."""
        state, lines = {None: (np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))}, {}
        for b in self.bodies:
            r0, p0, w, u, alpha, acc = state[b.parent]
            r, p = r0 @ b.pose[0], p0 + r0 @ b.pose[1]
            d = p - p0
            u, acc = u + np.cross(w, d), acc + np.cross(alpha, d) + np.cross(w, np.cross(w, d))
            for j in b.joints:
                s, v1, a1 = r @ j.axis, v[j.v:j.v + j.nv], a[j.v:j.v + j.nv]
                if j.type == "free":
                    r, p = turn(q[j.q + 3:j.q + 7]), q[j.q:j.q + 3]
                    w, u, alpha, acc = r @ v1[3:], v1[:3], r @ a1[3:], a1[:3]
                    lines[j] = [(np.zeros(3), e, p) for e in np.eye(3)] + [(r @ e, np.zeros(3), p) for e in np.eye(3)]
                elif j.type == "slide":
                    move = s * (q[j.q] - j.ref)
                    p, lines[j] = p + move, [(np.zeros(3), s, p)]
                    u = u + np.cross(w, move) + s * v1[0]
                    acc = acc + np.cross(alpha, move) + np.cross(w, np.cross(w, move)) + 2 * np.cross(w, s) * v1[0] + s * a1[0]
                else:  # the body turns about a point that moves with what carries it
                    at = p + r @ j.pos
                    to = at - p
                    ua = u + np.cross(w, to)
                    aa = acc + np.cross(alpha, to) + np.cross(w, np.cross(w, to))
                    r = r @ (turn(q[j.q:j.q + 4]) if j.type == "ball" else about(j.axis, q[j.q] - j.ref))
                    columns = [r @ e for e in np.eye(3)] if j.type == "ball" else [s]
                    relative = sum(c * x for c, x in zip(columns, v1))
                    alpha = alpha + np.cross(w, relative) + sum(c * x for c, x in zip(columns, a1))
                    w = w + relative
                    lines[j] = [(c, np.zeros(3), at) for c in columns]
                    back = -(r @ j.pos)
                    p, u = at + back, ua + np.cross(w, back)
                    acc = aa + np.cross(alpha, back) + np.cross(w, np.cross(w, back))
            state[b] = r, p, w, u, alpha, acc
        return state, lines

    def inverse(self, q, v, a, gravity=GRAVITY):
        state, lines = self.move(q, v, a)
        tau, load = np.zeros(self.nv), {b: [np.zeros(3), np.zeros(3)] for b in [None] + self.bodies}
        for b in reversed(self.bodies):
            r, p, w, _, alpha, acc = state[b]
            m, c, i = b.moments[0], r @ b.moments[1], r @ b.moments[2] @ r.T  # first and second moments about the origin
            field = acc - gravity
            force = m * field + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
            moment = i @ alpha + np.cross(w, i @ w) + np.cross(c, field) + np.cross(p, force)
            load[b][0] += force
            load[b][1] += moment
            for j in b.joints:
                for k, (turns, moves, point) in enumerate(lines[j]):
                    at_point = load[b][1] - np.cross(point, load[b][0])
                    tau[j.v + k] = turns @ at_point + moves @ load[b][0] + j.armature * a[j.v + k]
            load[b.parent][0] += load[b][0]
            load[b.parent][1] += load[b][1]
        return tau

    def mass_matrix(self, q):
        zero = np.zeros(self.nv)
        m = np.array([self.inverse(q, zero, unit, np.zeros(3)) for unit in np.eye(self.nv)])
        return (m + m.T) / 2

    def center(self, q):
        state, _ = self.move(q, np.zeros(self.nv), np.zeros(self.nv))
        return sum(b.moments[0] * state[b][1] + state[b][0] @ b.moments[1] for b in self.bodies) / sum(
            b.moments[0] for b in self.bodies)

    def qpos0(self):
        q = np.zeros(self.nq)
        for j, b in ((j, b) for b in self.bodies for j in b.joints):
            if j.type == "free":
                q[j.q:j.q + 7] = [*b.pose[1], *quaternion(b.pose[0])]
            else:
                q[j.q] = 1 if j.type == "ball" else j.ref
        return q

    def constraint(self, q0):
        """The matrix of all equalities at qpos0."""
        rows, zero = [], np.zeros(self.nv)
        at, _ = self.move(q0, zero, zero)
        speeds = [self.move(q0, unit, zero)[0] for unit in np.eye(self.nv)]
        for e in self.file.root.findall("equality/*"):
            if e.tag == "connect":
                one, two = self.by_name[e.get("body1")], self.by_name[e.get("body2")]
                point = at[one][1] + at[one][0] @ numbers(e.get("anchor"))
                velocity = lambda s, b: s[b][3] + np.cross(s[b][2], point - at[b][1])
                rows += list(np.array([velocity(s, one) - velocity(s, two) for s in speeds]).T)
            else:
                row = np.zeros(self.nv)
                row[self.joints[e.get("joint1")].v] = 1
                row[self.joints[e.get("joint2")].v] = -numbers(e.get("polycoef", "0 1"))[1]
                rows.append(row)
        return np.array(rows)


# ---- references --------------------------------------------------------------------------------------------------


def state_of(robot, q, v, tau, poses):
    m, bias = robot.mass_matrix(q), robot.inverse(q, v, np.zeros(robot.nv))
    out = {"qpos": list(q), "qvel": list(v), "tau": list(tau), "qacc": list(np.linalg.solve(m, tau - bias)),
           "bias": list(bias), "M_lower": [list(m[i, :i + 1]) for i in range(robot.nv)], "com": list(robot.center(q))}
    if poses:
        state, _ = robot.move(q, np.zeros(robot.nv), np.zeros(robot.nv))
        out["xpos"] = [list(state[b][1]) for b in robot.bodies]
        out["xquat"] = [list(quaternion(state[b][0])) for b in robot.bodies]
    return out


def hard(robot, rng):
    q, zero, tau = robot.qpos0(), np.zeros(robot.nv), rng.standard_normal(robot.nv)
    m, bias, g = robot.mass_matrix(q), robot.inverse(q, zero, zero), robot.constraint(q)
    k = len(g)
    a = np.linalg.solve(np.block([[m, g.T], [g, np.zeros((k, k))]]), np.concatenate([tau - bias, np.zeros(k)]))[:robot.nv]
    return {"qpos": "qpos0", "tau": list(tau), "rows": k, "rank": int(np.linalg.matrix_rank(g)), "well_posed": True,
            "qacc": list(a)}


def reference(path):
    robot, rng = Robot(path), np.random.default_rng(50)
    states, zero = [], np.zeros(robot.nv)
    for i in range(3):
        q = rng.uniform(-1, 1, robot.nq)
        for j in (j for b in robot.bodies for j in b.joints if j.nq > 1):
            part = slice(j.q + j.nq - 4, j.q + j.nq)
            q[part] = rng.standard_normal(4)
            q[part] /= np.linalg.norm(q[part])
        states.append(state_of(robot, q, rng.standard_normal(robot.nv), rng.standard_normal(robot.nv), i == 0))
    number = {b: i + 1 for i, b in enumerate(robot.bodies)}
    joints = [{"name": j.name, "type": j.type, "body": number[b], "qadr": j.q, "vadr": j.v} for b in robot.bodies
              for j in b.joints]
    out = {"id": path.stem, "file": path.name, "format": "mjcf",
           "generator": "make_mjcf_references.py, quadrature and Newton-Euler in world axes",
           "counts": {"nq": robot.nq, "nv": robot.nv}, "total_mass": sum(b.moments[0] for b in robot.bodies),
           "settings": {"gravity": list(GRAVITY)}, "bodies": [{"name": b.name} for b in robot.bodies], "joints": joints,
           "qpos0": list(robot.qpos0()), "home": state_of(robot, robot.qpos0(), zero, zero, True), "states": states}
    if robot.file.root.find("equality") is not None:
        out["equalities"] = {"hard": hard(robot, rng)}
    return out


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for path in sorted(folder.glob("*/*.xml")):
        text = json.dumps(reference(path), separators=(",", ":"), default=float)
        path.with_name(path.stem + ".ref.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
