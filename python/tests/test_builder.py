# SPDX-License-Identifier: Apache-2.0
"""Builder, flexible bodies, loops, linearization, parallel evaluation."""
from __future__ import annotations

import numpy as np
import pytest

import calder

from conftest import EXAMPLES, ROOT


def rod() -> calder.Builder:
    b = calder.Builder(title="rod", gravity=(0, 0, -9.81))
    b.body("rod", mass=2, com=(0, 0, -0.5), inertia=(1 / 6, 1 / 6, 0), nodes={"tip": (0, 0, -1)})
    b.joint("hinge", "revolute", to="rod", axis="y").state("hinge", q=np.pi / 3)
    return b


def test_a_built_model_is_the_file():
    file = calder.load(EXAMPLES / "pendulum.yaml")
    built = rod().run(10, signals=["q"], interval=0.02).model()
    assert np.allclose(built.forward(built.state()), file.forward(file.state()), rtol=1e-14)
    again = calder.loads(built.to_text())
    assert np.array_equal(again.state().q, built.state().q)
    assert np.array_equal(again.forward(again.state()), built.forward(built.state()))
    assert again.run_settings.duration == 10 and again.run_settings.signals == ("q",)


def test_devices_loads_events_and_visuals(tmp_path):
    b = rod()
    b.device("spring", "s", from_="ground", to="rod/tip", stiffness=20, length=0.5)
    b.device("friction", "f", joint="hinge", coulomb=0.1, smoothing_speed=0.01)
    b.load(node="rod/tip", force=(1, 0, 0), start=0.1, end=0.2).load(joint="hinge", effort=[0.2])
    b.event("hold", ("lock", "hinge"), ("note", "held"), at=0.3).event("end", ("stop", "enough"), after="hold", delay=0.2)
    b.visual("rod", "cylinder", size=(0.02, 0, 1), at=(0, 0, -0.5))
    b.run(5, method="rk4", step=1e-3)
    m = b.model()
    assert m.devices == {"s": "spring", "f": "friction"} and m.events == {"hold": ["lock", "note"], "end": ["stop"]}
    sim = calder.Sim(m)
    r = sim.record(["q", "device:s"])
    assert sim.t == pytest.approx(0.5) and sim.stopped == "enough" and sim.u["hinge"] == 0
    assert [entry.event for entry in sim.log] == ["hold", "hold", "end"] and r.units["device:s.pull"] == "N"
    m.save(tmp_path / "m.yaml")
    again = calder.load(tmp_path / "m.yaml")
    assert again.devices == m.devices and again.events == m.events
    assert np.array_equal(calder.Sim(again).run().q, calder.Sim(m).run().q)


def test_controllers_take_lists_and_matrices():
    b = rod()
    b.device("encoder", "e", joint="hinge", resolution=1e-3, sample_period=0.01)
    b.device("state_space", "s", inputs=["device(e.position)", "device(e.rate)"], A=[[0.9, 0], [0, 0.8]], B=[[1, 0], [0, 1]],
             C=[[1, 1]], D=[[-20, -2]], initial=[0.1, 0], sample_period=0.01)
    b.device("transfer_function", "t", input="device(s.y1)", numerator=[1], denominator=[0.05, 1], sample_period=0.01)
    b.device("pid", "c", measured="q(hinge)", set_point=0.5, proportional=3, joint="hinge", sample_period=0.02, delay=1)
    m = b.run(1).model()
    r = calder.Sim(m).record(["q", "device:t", "device:c"])
    assert np.abs(r["device:t.y"][-1]) > 0 and r["device:c.error"][-1] == pytest.approx(0.5 - r["q:hinge"][-1], abs=0.1)
    again = calder.loads(m.to_text())
    assert np.array_equal(calder.Sim(again).record(["q"])["q:hinge"], calder.Sim(m).record(["q"])["q:hinge"])
    b = rod().device("state_space", "s", inputs="t", A=[[1, 2]], B=[[1]], C=[[1]], sample_period=1).run(1)
    with pytest.raises(calder.Error, match="A has 1 rows and 2 columns"):
        calder.Sim(b.model())


@pytest.mark.parametrize("wrong", [
    lambda b: b.body("rod", mass=1), lambda b: b.body("x", mass=float("nan"), inertia=(1, 1, 1)), lambda b: b.joint("j", "hinge", to="rod"),
    lambda b: b.joint("j", "revolute", to="nobody"), lambda b: b.joint("j", "revolute", to="rod", axis="w"),
    lambda b: b.joint("j", "revolute", to="rod", dof={"stifness": 1}), lambda b: b.node("nobody", "n"),
    lambda b: b.state("hinge", q=[1, 2]), lambda b: b.state("nothing", q=1), lambda b: b.device("sprng", "s"),
    lambda b: b.device("spring", "s", stiffnes=1), lambda b: b.event("e", ("explode", "x"), at=1), lambda b: b.load(),
    lambda b: b.loop("l", "rope", "rod"), lambda b: b.run(1, method="rk9"),
    lambda b: b.body("x", mass=1, inertia=np.ones((2, 2))), lambda b: b.flexible("rod", stiffness=[[1]], nodes={"tip": {"phi": [1]}}),
    lambda b: b.beam("x", length=1, section={"shape": "round"}), lambda b: b.coupling("c", []),
])
def test_wrong_definitions_are_refused(wrong):
    b = rod()
    with pytest.raises(calder.Error):
        wrong(b)
    assert b.model().nu == 1  # the builder stays usable
    with pytest.raises(calder.ArgumentError, match="nothing more"):
        b.body("late", mass=1)


def test_modes_of_a_beam_are_those_of_euler_and_bernoulli():
    b = calder.Builder()
    EI, rhoA, L = 100.0, 2.0, 3.0
    b.beam("boom", length=L, section={"EA": 1e6, "GJ": 50, "EIy": EI, "EIz": EI, "rhoA": rhoA}, modes=4, deformation=("bend_z",))
    b.joint("root", "weld", to="boom/root")
    m = b.model()
    expected = np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2 * np.sqrt(EI / rhoA) / L**2
    assert [mode.frequency for mode in m.flexible("boom").modes][:3] == pytest.approx(expected, rel=1e-6)
    assert [mode.frequency for mode in m.linearize(m.state()).modes()][:3] == pytest.approx(expected, rel=1e-6)
    s = m.state()
    s.q["boom.eta"] = [0.01, 0, 0, 0]
    assert s.q["boom.eta1"] == 0.01 and m.energy(s).elastic > 0 and s["boom/tip"].position[2] != 0
    E, Mee = m.flex_inertia(s, "boom")
    assert E.shape == (6, 4) and np.allclose(Mee, Mee.T)
    with pytest.raises(calder.ArgumentError):
        calder.load(EXAMPLES / "pendulum.yaml").flexible("rod")


def test_finite_elements_become_a_body(tmp_path):
    fe = calder.FiniteElements(ROOT / "test/data/fe/beam.pch")
    modal = fe.reduce(modes=4)
    assert fe.format == "DMIG" and modal.mass == pytest.approx(fe.mass, rel=1e-9) and modal.frames
    modal.save(tmp_path / "beam.json")
    again = calder.Modal.read(tmp_path / "beam.json")
    assert np.allclose(again.stiffness, modal.stiffness)
    m = calder.Builder().modal(modal, "beam").joint("root", "weld", to=f"beam/{modal.frames[0]}").model()
    assert m.bodies[0].modes == modal.modes and m.flexible("beam").mass == pytest.approx(modal.mass)


def test_linearization_has_the_period_of_a_pendulum():
    m = rod().model()
    linear = m.linearize(m.neutral())
    w = np.sqrt(9.81 * 0.5 * 2 / (2 / 3))
    assert linear.modes()[0].frequency == pytest.approx(w, rel=1e-8) and linear.names == ("hinge",)
    assert linear.A.shape == (2, 2) and linear.B.shape == (2, 1) and linear.A[1, 0] == pytest.approx(-w * w, rel=1e-8)
    sim = calder.Sim(m, state=m.neutral())
    assert sim.linearize().K == pytest.approx(linear.K)


def test_independent_dynamics_agree_with_forward():
    m = calder.load(EXAMPLES / "four_bar.yaml")
    s = m.state()
    assert m.project(s).residual < 1e-12
    d = m.independent(s)
    tau = np.array([0.3, -0.1, 0.2])
    vdot, udot = d.forward(tau)
    assert np.allclose(udot, m.forward(s, tau), rtol=1e-9)
    assert np.allclose(d.inverse(vdot), d.forces(tau), rtol=1e-9) and np.allclose(d.accelerations(vdot), udot)
    assert np.allclose(d.solve(d.mass_matrix() @ vdot), vdot) and np.allclose(d.X.T @ d.actuation(d.forces(tau)), d.forces(tau))
    assert d.diagonal().shape == (1,) and np.isfinite(d.logdet()) and np.allclose(d.innovations(d.innovations([1.0]), inverse=True), 1)
    report = m.mobility(s)
    assert report.mobility == 1 and report.rank == 2
    _, forces = m.loop_forces(s, tau)
    assert set(forces) == {"wrist"} and m.loop_rank(s)[0] == 2 and m.loop_error(s) < 1e-9
    after, _, lost = m.impulse(s, locked=[True, False, False])
    assert abs(after[0]) < 1e-12 and lost > 0


def test_embedded_loops_are_a_tree():
    b = calder.Builder(gravity=(0, 0, -9.81))
    for name, length in (("crank", 1.0), ("coupler", 2.0), ("rocker", 2.0)):
        b.body(name, mass=1, com=(length / 2, 0, 0), inertia=(1e-3, 0.1, 0.1), nodes={"end": (length, 0, 0)})
    b.node("ground", "right", (2, 0, 0))
    b.joint("a", "revolute", to="crank", axis="y").joint("b", "revolute", to="coupler", from_="crank/end", axis="y")
    b.joint("c", "revolute", to="rocker", from_="ground/right", axis="y")
    b.loop("d", "revolute", "coupler/end", "rocker/end", frame_a=((0, 0, 0), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)),
           frame_b=((0, 0, 0), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)))
    for joint, angle in (("a", -0.5), ("b", 0.2), ("c", -2.0)):
        b.state(joint, q=angle)
    m = b.model()
    s = m.state()
    m.project(s, search=1)
    assert m.mobility(s).mobility == 1 and np.max(np.abs(m.loop_residual(s)[0])) < 1e-10


def test_branches_agree_with_one_piece():
    m = calder.load(EXAMPLES / "chain128.yaml")
    s = m.state()
    divided = m.parallel(2, 2, forced=True)
    tau = np.linspace(-1, 1, m.nu)
    expected = m.forward(s, tau)
    assert divided.count >= 2 and np.allclose(divided.forward(s, tau), expected, rtol=1e-8, atol=1e-8 * np.max(np.abs(expected)))


def test_reports_of_robot_files():
    paths = sorted((ROOT / "test/data/models").rglob("*.urdf"))
    assert paths
    m = calder.load(paths[0], partial=True)
    assert m.format == "urdf" and all(note.kind in ("ignored", "assumed", "changed", "missing") for note in m.import_report)
    assert isinstance(m.doctor(), list) and isinstance(m.check(), list) and isinstance(m.warnings, list)


def test_monitors_and_assembly():
    sim = calder.Sim(calder.load(EXAMPLES / "four_bar.yaml")).run(0.5)
    monitor = sim.monitor()
    assert monitor.residual < 1e-9 and isinstance(sim.assembly(), str)


PANEL = """
calder: 1
bodies:
  sheet:
    panel:
      {length: 2 m, width: 1 m, cells_x: 4, cells_y: 2, rib_x: %s, rib_y: %s, cover_mass: 1.5 kg, modes: 3, hinges: [0, 2]}
joints: {root: {type: weld, to: sheet/root}}
"""


def test_a_panel_is_that_of_the_file():
    rib = {"shape": "box", "width": 0.02, "height": 0.03, "youngs_modulus": 7e10, "poissons_ratio": 0.3, "density": 2700}
    listed = "{shape: box, width: 0.02, height: 0.03, youngs_modulus: 7.0e10, poissons_ratio: 0.3, density: 2700}"
    file = calder.loads(PANEL % (listed, listed))
    b = calder.Builder().panel("sheet", length=2, width=1, rib_x=rib, rib_y=rib, cells=(4, 2), cover_mass=1.5, modes=3,
                               hinges=(0, 2))
    built = b.joint("root", "weld", to="sheet/root").model()
    s, t = built.state(), file.state()
    s.q = t.q = [0.01, -0.02, 0.03]
    assert np.array_equal(built.mass_matrix(s), file.mass_matrix(t)) and np.array_equal(built.forward(s), file.forward(t))
    report = built.flexible("sheet")
    assert len(report.modes) == 3 and report.summed_masses + report.invariant_masses > 0
    assert sum(node.mass for node in report.nodes) == pytest.approx(report.mass)
    tip = next(node for node in report.nodes if node.name == "tip")
    assert np.allclose(tip.position + tip.phi @ s.q, s["sheet/tip"].position, atol=1e-3) and tip.phi2 is None
    with pytest.raises(calder.ArgumentError, match="at most 16"):
        calder.Builder().panel("x", length=1, width=1, rib_x=rib, rib_y=rib, hinges=range(17))


def test_invariants_make_the_body_of_the_file():
    file = calder.loads("""
calder: 1
bodies:
  rod:
    mass: 3 kg
    com: [0.5, 0, 0]
    inertia: [0, 0.25, 0.25]
    nodes: {tip: [1, 0, 0]}
    flexible:
      stiffness: [100]
      nodes: {tip: {phi: [0, 1, 0], psi: [0, 0, 2]}}
      invariants: {linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6}}
joints: {hinge: {type: revolute, axis: z, to: rod}}
""")
    position, shape = np.zeros((3, 3, 1)), np.zeros((3, 3, 1, 1))
    position[0, 1], shape[1, 1] = 0.75, 0.6
    given = {"mass": 3, "com": (0.5, 0, 0), "inertia": (0, 0.25, 0.25), "linear": [[0], [1], [0]], "position": position,
             "shape": shape}

    def made(**changed):
        b = calder.Builder().body("rod", mass=0, nodes={"tip": (1, 0, 0)}, idealized=True)
        b.joint("hinge", "revolute", to="rod", axis="z")
        tip = {"phi": [[0], [1], [0]], "psi": [[0], [0], [2]]}
        return b.flexible("rod", stiffness=[[100]], nodes={"tip": tip}, invariants={**given, **changed}).model()

    built = made()
    s, t = built.state(q=[0.3, 0.1], u=[1, 2]), file.state(q=[0.3, 0.1], u=[1, 2])
    assert np.array_equal(built.mass_matrix(s), file.mass_matrix(t)) and np.array_equal(built.forward(s), file.forward(t))
    for wrong in ({"position": np.zeros((3, 3))}, {"lineer": [1]}, {"shape": -shape}):
        with pytest.raises(calder.Error):
            made(**wrong)


def test_mechanisms_give_the_joints_that_follow():
    m = calder.load(EXAMPLES / "linkage_arm.yaml")
    s = m.state()
    (name, of), = m.mechanisms.items()
    q, u, a = m.mechanism_motion(s, name)
    assert of.base == "boom" and of.dependent == 2 and a is None and len(q) == len(of.q_names) == 3 and u.shape == (3,)
    assert q[of.q_names.index("crank")] == s.q["crank"]
    with pytest.raises(calder.Error, match="wrist"):
        m.mechanism_motion(s, "wrst")
    s.q["crank"] = np.nan
    with pytest.raises(calder.NumericalError, match='"crank": its coordinate or speed is not finite'):
        m.mechanism_motion(s, name)


def test_loops_go_by_name_and_number():
    m = calder.load(EXAMPLES / "stewart.yaml")
    for i, (name, loop) in enumerate(m.loops.items()):
        assert m.loop_index(name) == m.loop_index(loop.id) == i
    for wrong in ("leg99", 99, 0, -1, 2**40):
        with pytest.raises(calder.Error):
            m.loop_index(wrong)


def test_held_matrices_are_forward_dynamics_where_they_are_fresh():
    m = calder.load(EXAMPLES / "flexible_arm.yaml")
    s, tau = m.state(), np.linspace(-1, 1, m.nu)
    s.u = np.linspace(0.1, 0.2, m.nu)
    form = m.system_form()
    assert np.allclose(form.dynamics(s, tau)[0], m.forward(s, tau), rtol=1e-8, atol=1e-8) and form.info.updates == 1
    few = m.system_form(retain=10.0)
    for early in (lambda: few.project(s.u), lambda: few.norm(s.u), lambda: few.filter(tau), lambda: few.missing_energy):
        with pytest.raises(calder.ArgumentError, match="first"):
            early()
    with pytest.raises(calder.NumericalError):
        m.system_form().dynamics(m.state(u=np.full(m.nu, np.nan)))
    info = few.update(s)
    u, lost = few.project(s.u)
    assert 0 < info.retained < info.modes and info.next > 10 and lost > 0 and few.norm(u) == pytest.approx(few.norm(s.u))
    assert s.u[0] == 0.1  # results are copies
    with pytest.raises(calder.Error, match="bounded"):
        m.system_form(unretained="bound")
    with pytest.raises(calder.ArgumentError):
        m.system_form(retain=float("nan"))


def test_branches_agree_with_the_model_in_one_piece():
    m = calder.load(EXAMPLES / "stewart.yaml")
    s, tau = m.state(), np.linspace(-1, 1, m.nu)
    b = m.parallel(2, 3, forced=True, cross_loops="always")
    with pytest.raises(calder.Error, match="first"):
        b.multipliers()
    assert b.cross_loops and len(b.branches) == b.count > 1 and sum(x.dofs for x in b.branches) == m.nu and b.work > 0
    assert np.allclose(b.forward(s, tau), m.forward(s, tau), rtol=1e-9, atol=1e-9) and b.error < 1e-9
    assert np.allclose(b.multipliers(), m.loop_forces(s, tau)[0], rtol=1e-7, atol=1e-7)
    assert np.allclose(b.implicit(s, 1e-3, tau), m.implicit(s, 1e-3, tau), rtol=1e-9, atol=1e-9)
    off, alone = s.copy().integrate(np.full(m.nu, 1e-3)), s.copy().integrate(np.full(m.nu, 1e-3))
    assert b.project(off).residual < 1e-10 and m.project(alone).residual < 1e-10 and np.allclose(off.q, alone.q, atol=1e-8)
    whole = m.parallel(1, cross_loops="never")
    assert not whole.cross_loops
    with pytest.raises(calder.Error):
        whole.multipliers()
    with pytest.raises(calder.Error, match="always"):
        m.parallel(1, cross_loops="allways")


def test_flexible_bodies_become_files(tmp_path):
    m = calder.load(EXAMPLES / "flexible_arm.yaml")
    body = next(b for b in m.bodies if b.modes)
    modal = m.modal(body.name, name="part")
    modal.save(tmp_path / "part.json")
    again = calder.Modal.read(tmp_path / "part.json")
    assert again.name == "part" and np.allclose(again.stiffness, modal.stiffness) and again.mass == pytest.approx(modal.mass)
    assert modal.modes == body.modes and modal.fidelity.mass == 0 and m.solver in ("recursive", "dense")
    assert m.flops() == m.flops(m.solver) > 0
    fe = calder.FiniteElements(ROOT / "test/data/fe/beam.pch")
    assert [source.endswith("beam.pch") for source in fe.sources] == [True] and 0 <= fe.reduce(modes=4).fidelity.modal_mass < 1e-3
    with pytest.raises(calder.ArgumentError, match="rigid"):
        calder.load(EXAMPLES / "pendulum.yaml").modal("rod")


def test_wrenches_move_and_turn():
    f = calder.wrench_shift([0, 0, 0, 0, 0, 2], (1, 0, 0), (0, 0, 0))
    assert np.array_equal(f, [0, -2, 0, 0, 0, 2])
    R = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])  # its x axis is y of the world
    assert np.array_equal(calder.wrench_express(f, R), [-2, 0, 0, 0, 0, 2])


def test_meshes_say_whether_they_are_solids(tetrahedron):
    mesh = calder.Mesh(tetrahedron)
    check = mesh.check()
    assert check.closed and check.volume == pytest.approx(1 / 6) and mesh.vertices.shape == (4, 3) and mesh.corners.max() == 3
    p = mesh.mass_properties(mass=3)
    assert p.mass == 3 and np.allclose(p.com, 0.25)
    with pytest.raises(calder.Error, match="exact"):
        mesh.mass_properties(solid="exakt")
    with pytest.raises(calder.FileError):
        calder.Mesh("nothing.stl")
