# SPDX-License-Identifier: Apache-2.0
"""Golden cases (docs/golden.md) through calder.Builder and the algorithms of the package."""
from __future__ import annotations

import json

import numpy as np
import pytest

import calder

from conftest import ROOT

CASES = sorted((ROOT / "test/data/golden").glob("s*.json"))
ELEMENTS = {"revolute", "prismatic", "screw", "spherical"}


def placement(offset):
    if not offset:
        return None
    r = offset.get("r", [0, 0, 0])
    return (r, offset["quat"]) if "quat" in offset else r


def elements_of(joint):
    """The types and axes of a joint; `free` within a longer list is three translations and a spherical element."""
    found = []
    for e in joint["elements"]:
        if e["type"] == "free" and len(joint["elements"]) > 1:
            found += [("prismatic", axis) for axis in "xyz"] + [("spherical", "z")]
        else:
            found.append((e["type"], e.get("axis", "z"), e.get("pitch", 0.0)))
    return found


def add_joint(b, body):
    joint = body["joint"]
    elements = elements_of(joint)
    from_ = body["parent"] and (body["parent"] if body.get("parent_node", "head") == "head"
                                else f"{body['parent']}/{body['parent_node']}")
    to = f"{body['name']}/{body['head']}" if body.get("head", "head") != "head" else body["name"]
    frames = {"inboard": placement(joint.get("parent_offset")), "outboard": placement(joint.get("child_offset"))}
    name = body["name"]
    if len(elements) == 0:
        b.joint(name, "weld", to=to, from_=from_, **frames)
    elif len(elements) == 1:
        kind, axis, pitch = elements[0]
        b.joint(name, kind, to=to, from_=from_, axis=axis, pitch=pitch, **frames)
    else:
        b.joint(name, "sequence", to=to, from_=from_, elements=elements, **frames)


def lumped(body):
    """A rigid body with the masses of its nodes."""
    rigid = body.get("rigid", {})
    parts = [(rigid.get("mass", 0.0), np.array(rigid.get("com", [0, 0, 0]), float),
              np.array(rigid.get("inertia", np.zeros((3, 3))), float))]
    if not body.get("nm"):
        parts += [(n.get("m", 0.0), np.array(n["p"], float), np.array(n.get("J", np.zeros((3, 3))), float))
                  for n in body.get("nodes", ())]
    mass = sum(m for m, _, _ in parts)
    com = sum(m * c for m, c, _ in parts) / mass if mass else np.zeros(3)
    inertia = np.zeros((3, 3))
    for m, c, J in parts:
        d = c - com
        inertia += J + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, inertia


def add_body(b, body):
    mass, com, inertia = lumped(body)
    nodes = body.get("nodes", [])
    b.body(body["name"], mass=mass, com=com, inertia=inertia, idealized=True,
           nodes={n["name"]: (n["p"], n["quat"]) if "quat" in n else n["p"] for n in nodes})
    if body.get("nm"):
        names = {"m": "mass", "J": "inertia", "phi": "phi", "psi": "psi", "phi2": "phi2"}
        shapes = {n["name"]: {names[k]: v for k, v in n.items() if k in names} for n in nodes}
        b.flexible(body["name"], stiffness=body["K"], damping=body.get("D"), nodes=shapes)


def add_end(b, end, name):
    """A node where a spring or constraint is tied."""
    body = end["body"] or "ground"
    base = end.get("node", "head")
    if base != "head":
        return f"{body}/{base}", placement(end)
    if "r" not in end and "quat" not in end:
        return body, None
    b.node(body, name, placement(end))
    return f"{body}/{name}", None


def build(case, solver="auto"):
    model = case["model"]
    b = calder.Builder(gravity=model.get("gravity", [0, 0, 0]))
    for body in model["bodies"]:
        add_body(b, body)
    for body in model["bodies"]:
        add_joint(b, body)
    for i, c in enumerate(model.get("constraints", ())):
        a, frame_a = add_end(b, c["A"], f"loop{i}a")
        z, frame_b = add_end(b, c["B"], f"loop{i}b") if "B" in c else (None, None)
        b.loop(c.get("name", f"loop{i}"), {"point": "spherical"}.get(c["type"], c["type"]), a, z, frame_a=frame_a, frame_b=frame_b)
    springs = []
    for i, spring in enumerate(model.get("springs", ())):
        springs.append((*(add_end(b, spring[side], f"spring{i}{side}") for side in "AB"), spring))
    return b.model(solver=solver), springs


def order(m, case):
    """Speeds of the model in the order of the case: bodies as listed, joint before modes."""
    found = []
    for body in case["model"]["bodies"]:
        info = m.body(body["name"])
        found += range(info.u.start, info.u.stop + info.modes)
    return np.array(found, int)


def state_of(m, case):
    s = m.state()
    for name, values in case["state"].items():
        body = m.body(name)
        for array, own, modes, q, eta in ((s.q, body.q, body.modes, "q", "eta"), (s.u, body.u, body.modes, "u", "etadot")):
            if values.get(q):
                array[own] = values[q]
            if values.get(eta):
                array[own.stop : own.stop + modes] = values[eta]
    return s


def inputs_of(m, case, s, springs):
    applied = case.get("applied", {})
    tau = np.zeros(m.nu)
    for name, values in applied.get("tau", {}).items():
        tau[m.body(name).u] = values
    for name, values in applied.get("modal", {}).items():
        body = m.body(name)
        tau[body.u.stop : body.u.stop + body.modes] = values
    wrenches = []
    for w in applied.get("wrenches", ()):
        node = w["body"] if w.get("node", "head") == "head" else f"{w['body']}/{w['node']}"
        wrenches.append(calder.Wrench(node, w.get("moment", (0, 0, 0)), w.get("force", (0, 0, 0)), w.get("frame") == "node"))
    for a, z, spring in springs:
        wrenches += spring_wrenches(m, s, a, z, spring)
    prescribed, udot = np.zeros(m.nu, bool), np.zeros(m.nu)
    for name, given in case.get("prescribed", {}).items():
        start = m.body(name).u.start
        for dof, value in zip(given["dofs"], given["udot"]):
            prescribed[start + dof], udot[start + dof] = True, value
    return tau, wrenches, prescribed, udot


def spring_wrenches(m, s, a, z, spring):
    """A spring between two points as wrenches on the nodes that they are fixed to."""
    def motion(end):
        node, frame = end
        if node.startswith("ground") and node not in m.nodes:
            return np.zeros(3), np.zeros(3), np.zeros(3)
        arm = s[node].rotation @ np.array(frame if frame is not None else [0, 0, 0], float)
        return s[node].position + arm, s[node].linear_velocity + np.cross(s[node].angular_velocity, arm), arm

    (ra, va, arm_a), (rb, vb, arm_b) = motion(a), motion(z)
    d = rb - ra
    length = np.linalg.norm(d)
    n = d / length
    pull = spring["k"] * (length - spring.get("l0", 0.0)) + spring.get("c", 0.0) * (n @ (vb - va))
    pairs = ((a[0], arm_a, pull * n), (z[0], arm_b, -pull * n))
    return [calder.Wrench(node, tuple(np.cross(arm, f)), tuple(f)) for node, arm, f in pairs if not node.startswith("ground")]


def close(got, expected, tolerance, what, scale=0.0):
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    size = max(np.max(np.abs(expected), initial=0.0), scale)
    assert got.shape == expected.shape, what
    assert np.max(np.abs(got - expected), initial=0.0) <= tolerance * max(size, 1e-300), what


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_golden_state(path):
    case = json.loads(path.read_text())
    m, springs = build(case)
    s, at, expected = state_of(m, case), order(m, case), case["expected"]
    tau, wrenches, prescribed, udot = inputs_of(m, case, s, springs)
    T = max(1e-11, 100 * case["accuracy"]["double_vs_mp_udot"])
    if case["accuracy"]["cond_mass_matrix"] < 1e6:
        T = min(T, 1e-10)
    got, force = m.hybrid(s, tau, wrenches=wrenches, prescribed=prescribed, udot=udot)
    assert m.nu == expected["n_speeds"]
    close(got[at], expected["udot"], T, "udot")
    if "prescribed_force" in expected:
        where = [i for i, k in enumerate(at) if prescribed[k]]
        assert where == list(expected["prescribed_speeds"])
        close(force[at][where], expected["prescribed_force"], T, "prescribed_force")
    M = m.mass_matrix(s)
    if "mass_matrix" in expected:  # the large cases store none
        close(M[np.ix_(at, at)], expected["mass_matrix"], 1e-11, "mass_matrix")
    e, p = m.energy(s), m.momentum(s)
    scale = np.max(np.abs(expected.get("gen_applied", [0]))) + np.max(np.abs(expected.get("gen_gravity", [0])))
    values = {"bias": (m.bias(s)[at], 1e-3 * scale), "gen_gravity": (m.gravity(s)[at], 1e-3 * scale), "mass": (p.mass, 0),
              "kinetic_energy": (e.kinetic, 0), "com": (p.com, 1e-3), "linear_momentum": (p.linear, 1e-3),
              "angular_momentum_origin": (p.angular, 1e-3)}
    for name in values.keys() & expected.keys():
        close(values[name][0], expected[name], 1e-11, name, values[name][1])
    assert "kinetic_energy" in expected
    for name in expected.get("bodies", ()):
        b, view = expected["bodies"][name], s[name]
        close(view.position, b["r"], 1e-11, f"r of {name}", 1.0)
        close(view.rotation, b["R"], 1e-11, f"R of {name}")
        close(view.linear_velocity, b["v"], 1e-11, f"v of {name}", 1.0)
        close(view.angular_velocity, b["w"], 1e-11, f"w of {name}", 1.0)
    if "constraint_residual" in expected:
        g, rate = m.loop_residual(s)
        close(g, expected["constraint_residual"], 1e-11, "residual", 1.0)
        G, gamma = m.loop_jacobian(s)
        close(G[:, at], expected["constraint_jacobian"], 1e-11, "constraint_jacobian")
        close(gamma, expected["gamma"], 1e-11, "gamma", 1.0)
        assert m.mobility(s, np.zeros(m.nu, bool)).rank == expected["constraint_rank"]


def test_there_are_golden_cases():
    assert len(CASES) >= 25


# ---- impulses -----------------------------------------------------------------------------------

EXACT, SMALL = 1e-11, 1e-3  # of what needs no linear solve; floor of a scale, in natural units


def largest(x):
    return np.max(np.abs(np.asarray(x, float)), initial=0.0)


class Hit:
    """An impulse case: its sizes, its locks, and where its rows and speeds are in the model."""

    def __init__(self, case, solver):
        self.m, _ = build(case, solver)
        self.e = e = case["expected"]
        self.s, self.at = state_of(self.m, case), order(self.m, case)
        self.locked = np.zeros(self.m.nu, bool)
        for name, dofs in case["impulse"].get("lock", {}).items():
            self.locked[self.m.body(name).u.start + np.array(dofs)] = True
        self.locks = self.at[np.array(e["locked_speeds"], int)]
        places = [self.m.loops[c["name"]].rows for c in case["model"]["constraints"]]
        self.rows = np.concatenate([np.arange(rows.start, rows.stop) for rows in places])
        bodies = e["before"]["bodies"].values()
        self.length = max(max(largest(b["r"]) for b in bodies), SMALL)
        self.velocity = max(max(largest(b["v"]), largest(b["w"])) for b in bodies)
        self.energy = e["before"]["kinetic_energy"]
        self.momentum = np.sqrt(2 * self.energy * e["mass"])
        self.tolerance = max(EXACT, 100 * case["accuracy"]["double_vs_mp_u_after"])

    def by_row(self, rows, speeds):
        """Rows in the order of the case: constraints, then locked speeds."""
        return np.concatenate([np.asarray(rows)[self.rows], np.asarray(speeds)[self.locks]])


def expect_moment(hit, when):
    """Energy, momentum, motion of bodies and rates before or after an impulse."""
    m, s, e = hit.m, hit.s, hit.e[when]
    p, angular = m.momentum(s), SMALL * hit.momentum * hit.length
    close(m.energy(s).kinetic, e["kinetic_energy"], EXACT, "kinetic_energy", SMALL * hit.energy)
    close(p.linear, e["linear_momentum"], EXACT, "linear_momentum", SMALL * hit.momentum)
    close(p.angular, e["angular_momentum_origin"], EXACT, "angular_momentum_origin", angular)
    close(p.angular_com, e["angular_momentum_com"], EXACT, "angular_momentum_com", angular)
    close(p.mass, hit.e["mass"], EXACT, "mass")
    close(p.com, hit.e["com"], EXACT, "com", SMALL * hit.length)
    for name, b in e["bodies"].items():
        close(s[name].position, b["r"], EXACT, f"r of {name}", hit.length)
        close(s[name].rotation, b["R"], EXACT, f"R of {name}")
        close(s[name].linear_velocity, b["v"], EXACT, f"v of {name}", hit.velocity)
        close(s[name].angular_velocity, b["w"], EXACT, f"w of {name}", hit.velocity)
    g, rate = m.loop_residual(s)
    close(hit.by_row(rate, s.u), hit.e[f"rate_{when}"], EXACT, f"rate_{when}", hit.velocity)
    close(g[hit.rows], hit.e["constraint_residual"], EXACT, "constraint_residual", min(hit.length, 1))


def expect_system(hit):
    """What the impulse is computed from."""
    m, s, e, at = hit.m, hit.s, hit.e, hit.at
    G = np.vstack([m.loop_jacobian(s)[0][hit.rows], np.eye(m.nu)[hit.locks]])
    assert (m.nu, len(G)) == (e["n_speeds"], e["rows"]) and np.array_equal(np.flatnonzero(hit.locked), np.sort(hit.locks))
    close(np.asarray(s.u)[at], e["u_before"], EXACT, "u_before", SMALL * hit.velocity)
    close(m.mass_matrix(s)[np.ix_(at, at)], e["mass_matrix"], EXACT, "mass_matrix")
    close(G[:, at], e["jacobian"], EXACT, "jacobian")


def expect_impulse(hit):
    """The impulse itself; returns the speeds after it."""
    m, s, e, T = hit.m, hit.s, hit.e, hit.tolerance
    after, force, lost = m.impulse(s, locked=hit.locked)
    impulses, wrenches = m.loop_impulses(s)
    rank = m.loop_rank(s)[0] + hit.locked.sum()
    close(after[hit.at], e["u_after"], T, "u_after", SMALL * hit.velocity)
    close(lost, e["kinetic_energy_of_jump"], T, "kinetic_energy_of_jump", SMALL * hit.energy)
    close(hit.by_row(impulses, force), e["impulse"], T, "impulse", SMALL * hit.momentum)
    assert rank == e["rank"] and (rank == e["rows"]) == e["impulse_unique"]
    push = max([largest(c["force_impulse"]) for c in e["constraints"].values()] + [SMALL * hit.momentum])
    turn = max([largest(c["moment_impulse"]) for c in e["constraints"].values()] + [push * min(hit.length, 1)])
    for name, c in e["constraints"].items():
        f, point = wrenches[name]
        close(point, c["point"], EXACT, f"point of {name}", hit.length)
        close(f[3:], c["force_impulse"], T, f"force_impulse of {name}", push)
        close(f[:3], c["moment_impulse"], T, f"moment_impulse of {name}", turn)
    Q = force + m.loop_jacobian(s)[0].T @ impulses
    close(Q[hit.at], e["gen_impulse"], T, "gen_impulse", SMALL * hit.momentum)
    for name, values in e["state_after"].items():
        body = m.body(name)
        close(after[body.u], values["u"], T, f"u of {name}", hit.velocity)
        close(after[body.u.stop : body.u.stop + body.modes], values.get("etadot", []), T, f"etadot of {name}", hit.velocity)
    return after


IMPULSES = sorted((ROOT / "test/data/golden").glob("i*.json"))


@pytest.mark.parametrize("solver", ["dense", "recursive"])
@pytest.mark.parametrize("path", IMPULSES, ids=lambda p: p.stem)
def test_golden_impulse(path, solver):
    hit = Hit(json.loads(path.read_text()), solver)
    expect_system(hit)
    expect_moment(hit, "before")
    hit.s.u = expect_impulse(hit)
    expect_moment(hit, "after")


def test_there_are_golden_impulses():
    assert len(IMPULSES) >= 3


# ---- trajectories -------------------------------------------------------------------------------


class Applied(calder.Device):
    """What acts in an interval of a schedule: torques, wrenches and springs, from Python."""

    wrench_count = 64

    def __init__(self, m, springs):
        self.m, self.springs, self.now = m, springs, {}

    def evaluate(self, context, x, d):
        for name, values in self.now.get("tau", {}).items():
            for i, value in enumerate(values):
                context.apply_effort((name, i), value)
        for w in self.now.get("wrenches", ()):
            node = w["body"] if w.get("node", "head") == "head" else f"{w['body']}/{w['node']}"
            context.apply_wrench(node, w.get("moment", (0, 0, 0)), w.get("force", (0, 0, 0)), local=w.get("frame") == "node")
        for a, z, spring in self.springs:
            self.apply_spring(context, a, z, spring)

    @staticmethod
    def point(context, end):
        node, frame = end
        pose, v = context.pose(node), context.velocity(node)
        arm = pose.rotation @ np.array(frame if frame is not None else [0, 0, 0], float)
        return pose.position + arm, v[3:] + np.cross(v[:3], arm), arm

    def apply_spring(self, context, a, z, spring):
        (ra, va, arm_a), (rb, vb, arm_b) = self.point(context, a), self.point(context, z)
        d = rb - ra
        length = np.linalg.norm(d)
        n = d / length
        pull = spring["k"] * (length - spring.get("l0", 0.0)) + spring.get("c", 0.0) * (n @ (vb - va))
        for (node, _), arm, f in ((a, arm_a, pull * n), (z, arm_b, -pull * n)):
            context.apply_wrench(node, np.cross(arm, f), f)


def expect_sample(m, sim, sample, tolerance):
    expected = state_of(m, sample)
    for body in m.bodies:
        q, e = np.asarray(sim.q)[body.q], np.asarray(expected.q)[body.q]
        start = {"free": 3, "spherical": 0}.get(body.joint_type)
        if start is not None and q[start:] @ e[start:] < 0:
            e = np.concatenate([e[:start], -e[start:]])
        assert np.max(np.abs(q - e), initial=0) <= tolerance * max(1, np.max(np.abs(e), initial=0)), (sim.t, body.name, "q")
    error = np.max(np.abs(np.asarray(sim.u) - np.asarray(expected.u)))
    assert error <= tolerance * max(1, np.max(np.abs(expected.u))), (sim.t, "u", error)


@pytest.mark.parametrize("path", sorted((ROOT / "test/data/golden").glob("t*.json")), ids=lambda p: p.stem)
def test_golden_trajectory(path):
    case = json.loads(path.read_text())
    m, springs = build(case)
    given = case["accuracy"]["vs_rk4_richardson"]
    if m.nrows:
        given = max(given, case["accuracy"]["vs_dop853_1e11"])
    tolerance = min(max(10 * given, 1e-10), 1e-9)
    sim = calder.Sim(m, state=state_of(m, case), method="dopri5", rtol=1e-13, atol=1e-15)
    acts = Applied(m, springs)
    if springs or any(part["applied"] for part in case["schedule"]):
        sim.add_device(acts)
    samples = sorted(case["samples"], key=lambda s: s["t"])
    for part in case["schedule"]:
        acts.now = part["applied"]
        sim.restart()
        for sample in samples:
            if part["t0"] < sample["t"] <= part["t1"]:
                sim.run(until=sample["t"])
                expect_sample(m, sim, sample, tolerance)
        sim.run(until=part["t1"])
