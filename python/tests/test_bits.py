# SPDX-License-Identifier: Apache-2.0
"""Every algorithm gives the bits of the C library: a C program computes the same at the same state."""
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import calder

from conftest import EXAMPLES, ROOT

SEED = 20261118


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    sys.path.insert(0, str(ROOT / "python"))
    import build_extension

    build = ROOT / "build/release"
    program = tmp_path_factory.mktemp("c") / "reference"
    command = ["cc", "-O1", f"-I{ROOT / 'include'}", str(ROOT / "python/tests/reference.c"), str(build / "libcalder.a"),
               "-o", str(program), *build_extension.link_options(build)]
    subprocess.run(command, check=True)
    return str(program)


def run_reference(program, path, node, *arrays):
    text = "\n".join(float(x).hex() for a in arrays for x in a)
    return printed([program, str(path), node], text)


def printed(command, text=None):
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: np.array([float.fromhex(x) for x in line.split()[1:]]) for line in out.splitlines()}


def computed(m, s, node, tau, udot):
    """What the C program prints, by the package."""
    motion = m.kinematics(s, udot)
    i = m.node_index(node)
    e, p, linear = m.energy(s), m.momentum(s), m.linearize(s)
    modes = linear.modes()
    columns = m.joint_columns(s, udot, transpose=True)
    found = {
        "forward": m.forward(s, tau), "implicit": m.implicit(s, 1e-3, tau), "inverse": m.inverse(s, udot),
        "bias": m.bias(s), "gravity": m.gravity(s), "elastic": m.elastic(s), "mass_matrix": m.mass_matrix(s),
        "mass_lower": m.mass_matrix(s, lower=True), "mass_sparse": m.sparse_mass(s).values,
        "mass_sparse_pattern": np.concatenate([m.sparse_mass(s).rows, m.sparse_mass(s).columns]),
        "mass_sparse_mul": m.sparse_mass(s) @ udot, "mass_sparse_factor": m.sparse_mass(s).factor().values,
        "mass_sparse_solve": m.sparse_mass(s).factor().solve(udot),
        "mass_mul": m.mass_mul(s, udot), "mass_trace": m.mass_trace(s), "mass_solve": m.mass_solve(s, udot),
        "mass_inverse": m.mass_inverse(s), "mass_logdet": m.mass_logdet(s), "innovations": m.innovations(s, udot),
        "innovations_solve_transpose": m.innovations(s, udot, transpose=True, inverse=True),
        "innovations_transpose": m.innovations(s, udot, transpose=True), "innovations_solve": m.innovations(s, udot, inverse=True),
        "scatter_articulated": m.operator(s, "scatter_articulated", columns), "link": m.link_inertia(s, m.nlinks - 1),
        "compliance_tree": m.compliance(s, node, tree=True),
        "innovations_diagonal": m.innovations_diagonal(s), "columns_transpose": columns,
        "scatter": m.operator(s, "scatter", columns), "gather": m.operator(s, "gather", columns),
        "gather_articulated": m.operator(s, "gather_articulated", columns), "columns": m.joint_columns(s, columns),
        "articulated": m.link_inertia(s, m.nlinks - 1, "articulated"), "compliance": m.compliance(s, node),
        "operational_inertia": m.operational_inertia(s, node)[0], "position": s[node].position,
        "rotation": s[node].rotation, "velocity": s[node].velocity, "acceleration": motion.acceleration[i],
        "node_bias": m.node_bias(s, node), "jacobian": m.jacobian(s, node), "jacobians": m.jacobians(s, [node, 0]),
        "jacobian_path": m.jacobian_path(s, node), "node_path": m.node_path(node),
        "mass_solve_many": m.mass_solve(s, [udot, tau, udot, tau, udot]),
        "energy": [e.kinetic, e.gravity, e.elastic, e.total],
        "momentum": np.concatenate([[p.mass], p.com, p.linear, p.angular, p.angular_com]),
        "closed_solve": m.closed_solve(s, udot), "impulse": m.impulse(s)[0], "K": linear.K, "C": linear.C,
        "M": linear.M, "N": linear.N, "A": linear.A,
        "modes": [(x.frequency, x.damping, x.eigenvalue.real, x.eigenvalue.imag) for x in modes],
        "mode_shape": modes[-1].shape.real, "mode_shares": modes[-1].participation,
    }
    if m.nrows:
        found["multipliers"] = m.loop_forces(s, tau)[0]
        found["loop_jacobian"] = np.concatenate([np.ravel(x) for x in m.loop_jacobian(s)])
        found["residual"] = np.concatenate(m.loop_residual(s))
    found |= given(m, s, node, tau, udot) | independent(m, s, tau, udot) | held_matrices(m, s, tau, udot)
    found |= in_branches(m, s, tau)
    for name in m.mechanisms:
        found |= dict(zip(("mechanism_q", "mechanism_u", "mechanism_udot"), m.mechanism_motion(s, name, udot)))
    if m.nrows:
        found |= loops(m, s, tau, udot)
    assert np.array_equal(motion.position[i], found["position"]) and np.array_equal(motion.velocity[i], found["velocity"])
    return {name: np.ravel(np.asarray(x, float)) for name, x in found.items()}


WRENCH = (0.1, -0.2, 0.3, 1.5, -2.5, 0.7)


def given(m, s, node, tau, udot):
    """Given motion, wrenches, reactions, flexible bodies."""
    wrenches = [calder.Wrench(node, WRENCH[:3], WRENCH[3:], local) for local in (False, True)]
    last = np.arange(m.nu) == m.nu - 1
    after, impulse, lost = m.impulse(s, locked=last, speed=udot)
    a, force = m.hybrid(s, tau, wrenches=wrenches, prescribed=np.arange(m.nu) == 0, udot=udot)
    found = {"locked": after, "locked_impulse": impulse, "locked_lost": lost, "held_solve": m.closed_solve(s, udot, held=last),
             "hybrid": a, "hybrid_force": force, "external": m.external(s, wrenches),
             "inverse_wrenches": m.inverse(s, udot, wrenches=wrenches),
             "wrench_shift": calder.wrench_shift(WRENCH, s[node].position, (0.3, 0.2, -0.1)),
             "wrench_express": calder.wrench_express(WRENCH, s[node].rotation), "config_rate": s.rate(udot),
             "composite": m.link_inertia(s, 0, "composite")}
    if not m.mechanisms:  # reactions of joints inside of one are not known
        found["reactions"] = [*m.reactions(s, tau).values()]
    for body in m.bodies:
        if body.modes:
            found[f"flex_links:{body.index}"] = m.flex_links(body.name)
            found[f"flex_E:{body.index}"], found[f"flex_M:{body.index}"] = m.flex_inertia(s, body.name)
    return found


def loops(m, s, tau, udot):
    m.impulse(s)
    impulses, at = m.loop_impulses(s)
    forces = m.loop_forces(s, tau)[1]
    error, (rank, rows) = m.loop_error(s), m.loop_rank(s)  # of the forward dynamics in loop_forces()
    mobility, moved = m.mobility(s), s.copy().integrate(0.01 * udot)
    found = {"loop_wrenches": [np.concatenate(f) for f in forces.values()], "loop_error": error,
             "loop_impulses": impulses, "loop_impulse_wrenches": [np.concatenate(f) for f in at.values()], "rank": rank,
             "rank_rows": rows, "mobility": [mobility.dofs, mobility.rank, mobility.mobility],
             "mobility_rows": mobility.independent_rows, "mobility_speeds": mobility.independent_speeds,
             "independent_speeds": m.independent_speeds(s)}
    done = m.project(moved)
    return found | {"project_q": moved.q, "project_u": moved.u, "project_left": [done.iterations, done.residual, done.rate]}


def independent(m, s, tau, udot):
    p = m.independent(s)
    x = udot[: p.count]
    Q, (vdot, a) = p.inverse(x), p.forward(tau)
    return {"projection_map": p.X, "projection_drift": p.drift, "projection_bias": p.bias, "projection_speeds": p.speeds(x),
            "projection_accelerations": p.accelerations(x), "projection_forces": p.forces(tau),
            "projected_mass": p.mass_matrix(), "projected_inverse": Q, "projected_actuation": p.actuation(Q),
            "projected_forward": vdot, "projected_udot": a, "projected_solve": p.solve(x), "projected_logdet": p.logdet(),
            "projected_diagonal": p.diagonal(), "projected_innovations": p.innovations(x),
            "projected_innovations_transpose": p.innovations(x, transpose=True),
            "projected_innovations_solve": p.innovations(x, inverse=True),
            "projected_innovations_solve_transpose": p.innovations(x, transpose=True, inverse=True)}


def held_matrices(m, s, tau, udot):
    form = m.system_form(retain=10.0)
    info = form.update(s)
    a, force = form.dynamics(s, tau)
    found = {"form_info": [info.modes, info.retained, info.highest, info.next, info.time, info.updates], "form_udot": a,
             "form_force": force, "form_missing": form.missing_energy, "form_filter": form.filter(tau),
             "form_norm": form.norm(udot)}
    found["form_project"], found["form_lost"] = form.project(s.u)
    return found


def in_branches(m, s, tau):
    b = m.parallel(1, 2, forced=True, cross_loops="always")
    found = {"branches_forward": b.forward(s, tau), "branches_about": [b.count, b.work, b.speedup, b.error, b.cross_loops]}
    if b.cross_loops:
        found["branches_multipliers"] = b.multipliers()
    return found | {"branches_implicit": b.implicit(s, 1e-3, tau)}


CASES = [("double_pendulum", "lower"), ("free_flying_arm", "lee_b"), ("flexible_arm", None), ("four_bar", "coupler"),
         ("stewart", None), ("heavy_top", None), ("chain128", None), ("slider_crank", None),
         ("linkage_arm", "bucket")]


@pytest.mark.parametrize("name,node", CASES)
def test_results_have_the_bits_of_c(reference, name, node):
    path = EXAMPLES / f"{name}.yaml"
    m = calder.load(path)
    node = node or m.body_names[-1]
    random = np.random.default_rng(SEED)
    s = m.state()
    s.integrate(0.1 * random.standard_normal(m.nu))
    if m.nrows:
        m.project(s)
    s.u = 0.3 * random.standard_normal(m.nu)
    tau, udot = random.standard_normal(m.nu), random.standard_normal(m.nu)
    expected = run_reference(reference, path, node, s.q, s.u, tau, udot)
    got = computed(m, s, node, tau, udot)
    assert set(got) == set(expected)
    for quantity, value in expected.items():
        assert np.array_equal(got[quantity], value), f"seed {SEED}: {quantity} of {name} differs in its bits"


def test_mass_properties_of_meshes_have_the_bits_of_c(reference, tetrahedron):
    mesh = calder.Mesh(tetrahedron, scale=1e-3)
    check = mesh.check(1.0)
    expected = printed([reference, "--mesh", str(tetrahedron)])
    assert np.array_equal(expected.pop("mesh"), [check.volume, check.area, check.suggested_scale])
    assert set(expected) == {"exact", "convex", "legacy", "shell"}
    for solid, value in expected.items():
        p = mesh.mass_properties(solid=solid, density=2700)
        assert np.array_equal(np.concatenate([[p.mass], p.com, np.ravel(p.inertia)]), value), solid


def test_a_run_has_the_bits_of_the_command_line(command, tmp_path):
    for name in ("double_pendulum", "docking", "four_bar", "wheel_slew"):
        path, file = EXAMPLES / f"{name}.yaml", tmp_path / f"{name}.h5"
        subprocess.run([command, "run", str(path), "-q", "-o", str(file), "--duration", "5 s"], check=True, capture_output=True)
        theirs = calder.open(file)
        ours = calder.Sim(calder.load(path)).record(duration=5)
        assert theirs.columns == ours.columns and theirs.units == ours.units
        for column in theirs.columns:
            assert np.array_equal(theirs[column], ours[column], equal_nan=True), (name, column)
