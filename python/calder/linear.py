# SPDX-License-Identifier: Apache-2.0
"""Linear equations of motion about a state, modes of the system and of flexible bodies (calder/linear.h, flex.h)."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ._arrays import Array, output, pointer, vector
from ._calder import ffi, lib
from ._core import Core
from ._names import mat3, text, vec3
from .dynamics import Input, Wrenches
from .errors import ArgumentError, check, name_bytes, new_error, unknown

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors
    from .fe import Modal
    from .state import State

_UNRETAINED = {"frozen": 0, "bounded": 1}
_KINDS = ("rigid", "oscillation", "aperiodic")


def _array(p: Any, *shape: int) -> Array:
    count = int(np.prod(shape))
    return np.array(ffi.unpack(p, count)).reshape(shape) if count else np.empty(shape)


@dataclass(frozen=True, eq=False)
class SystemMode:
    """A mode of the linear system."""

    kind: str
    """"rigid", "oscillation" or "aperiodic"."""
    frequency: float
    """|eigenvalue| of an oscillation [rad/s]."""
    damping: float
    """Ratio of an oscillation; negative: it grows."""
    eigenvalue: complex
    """[1/s]"""
    shape: npt.NDArray[np.complex128]
    """[nu] displacements of the model's speeds."""
    participation: Array
    """[nu] shares of the speeds; sum 1."""


class Linear:
    """M y'' + C y' + K y = N' tau about a state, with delta = N y the displacement in the tangent space of q.

    y are the displacements of independent speeds (`names`); loops and prescribed degrees of freedom are held.
    """

    def __init__(self, c: Any, names: Sequence[str]) -> None:
        self._c = ffi.gc(c, lib.cal_linear_release)
        n, nu = c.count, c.nu
        self.u_names = tuple(names)
        self.dof: tuple[int, ...] = tuple(c.dof[i] for i in range(n))
        self.N, self.M, self.C, self.K = _array(c.N, nu, n), _array(c.M, n, n), _array(c.C, n, n), _array(c.K, n, n)
        self.udot: Array = _array(c.udot, nu)
        """Accelerations at the state [nu]: zero in equilibrium."""
        self.imbalance: float = c.imbalance

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the independent speeds."""
        return tuple(self.u_names[i] for i in self.dof)

    @property
    def A(self) -> Array:
        """[2n, 2n] of d/dt (y, y') = A (y, y') + B tau."""
        n = len(self.dof)
        A = np.empty((2 * n, 2 * n))
        check(lib.cal_linear_state_matrix(self._c, pointer(A)), where="state matrix")
        return A

    @property
    def B(self) -> Array:
        """[2n, nu]: effect of generalized forces on (y, y')."""
        n = len(self.dof)
        return np.vstack([np.zeros((n, self.N.shape[0])), np.linalg.solve(self.M, self.N.T)])

    def modes(self, *, max_frequency: float = 0.0, most: int = 0) -> list[SystemMode]:
        """Modes: rigid ones first, then by frequency, aperiodic ones last; up to max_frequency [rad/s], at most so many."""
        options = ffi.new("CalSystemModesOptions *", {"max_frequency": max_frequency, "most": most})
        c, error = ffi.new("CalSystemModes *"), new_error()
        check(lib.cal_linear_modes(self._c, options, ffi.NULL, c, error), error)
        nu = len(self.u_names)
        try:
            return [SystemMode(_KINDS[m.kind], m.frequency, m.damping, complex(m.real, m.imag),
                               _array(m.shape, nu) + 1j * _array(m.shape_imag, nu), _array(m.participation, nu))
                    for m in (c.mode[i] for i in range(c.count))]
        finally:
            lib.cal_system_modes_release(c)

    def __reduce__(self) -> Any:
        raise TypeError("a linearization is not pickled; keep its matrices")

    def __repr__(self) -> str:
        return f"<calder.Linear: {len(self.dof)} coordinates>"


@dataclass(frozen=True, eq=False)
class FlexMode:
    """A mode of a flexible body whose frame is held, and the free body's mode of the same number."""

    frequency: float
    """Frame held [rad/s]."""
    free_frequency: float
    """Body free in space [rad/s]."""
    damping_ratio: float
    """Of critical damping."""
    effective_mass: Array
    """Along x, y, z [kg]."""
    effective_inertia: Array
    """About x, y, z through the body's origin [kg m^2]."""


@dataclass(frozen=True, eq=False)
class FlexNode:
    """A node of a flexible body, and how the modes move it."""

    name: str
    position: Array
    """In the body frame, undeformed [m]."""
    mass: float
    """Lumped there [kg]."""
    inertia: Array
    """Lumped there, about the node [kg m^2]."""
    phi: Array
    """Translation per modal coordinate [3, modes]."""
    psi: Array
    """Rotation per modal coordinate [3, modes]."""
    phi2: Array | None
    """Second-order translation [3, modes, modes]; None: there is none."""


@dataclass(frozen=True, eq=False)
class FlexReport:
    """Mass properties and modes of a flexible body, undeformed."""

    mass: float
    """[kg]"""
    com: Array
    """[m]"""
    inertia: Array
    """About the center of mass [kg m^2]."""
    modes: tuple[FlexMode, ...]
    nodes: tuple[FlexNode, ...]
    summed_masses: int
    """Masses that the compiled model sums over whenever the inertia is needed."""
    invariant_masses: int
    """Masses that precomputed invariants stand for."""
    linear: bool
    """Forward dynamics eliminates the modes at a cost linear in their number."""


@dataclass(frozen=True)
class SystemFormInfo:
    """The last update of a SystemForm."""

    modes: int
    retained: int
    highest: float
    """Frequency of the highest mode that is retained [rad/s]; 0: not known, all are."""
    next: float
    """Of the one after it [rad/s]; 0: there is none."""
    time: float
    """[s]"""
    updates: int


@dataclass(frozen=True)
class FormulationReport:
    """What `formulation: system` did in a run, all groups together."""

    updates: int
    """0: the run is of order N."""
    modes: int
    retained: int
    highest: float
    """Frequency of the last mode that is retained [rad/s]; 0: none."""
    next: float
    """Of the first that is not [rad/s]; 0: none."""
    error: float
    """Root mean square error of accelerations of the retained modes against order N, as part of theirs."""
    last: float
    """The same before the last update alone."""
    largest: float
    """The largest error, as part of the largest acceleration."""
    largest_time: float
    """When [s]."""
    missing_energy: float
    """Strain energy of deflections that modes do not have because they are not retained, the largest [J]."""
    energy_removed: float
    """With the speeds of modes that were no longer retained [J]."""


class SystemForm:
    """Accelerations from system matrices that are formed at an update and held until the next (docs/modes.md).

    update(s) decomposes the matrices at a state; dynamics(s, tau) uses them at others. All modes, with an update before every
    evaluation, are forward dynamics. Made by group.system_form().
    """

    def __init__(self, group: LinearAlgorithms, retain: float, unretained: str) -> None:
        if unretained not in _UNRETAINED:
            raise unknown("choice of unretained", unretained, _UNRETAINED)
        if not (retain >= 0 and np.isfinite(retain)):
            raise ArgumentError(f"retain: expected a frequency >= 0 [rad/s], not {retain!r}")
        place = ffi.new("CalSystemForm **")
        options = ffi.new("CalFormulationOptions *", {"kind": lib.CAL_FORMULATION_SYSTEM, "retain": retain,
                                                      "unretained": _UNRETAINED[unretained]})
        check(lib.cal_system_form_create(group._m, options, ffi.NULL, place), where="system form")
        self._pointer = ffi.gc(place[0], lib.cal_system_form_destroy)
        self._group = group
        self._guard = group.neutral()  # its lock guards the matrices: calls must not overlap

    @property
    def _c(self) -> Any:
        """The matrices, which need the model: raises where that is gone with a change of topology."""
        return self._pointer if self._group._m else None

    def update(self, state: State, *, prescribed: Any = None) -> SystemFormInfo:
        """Forms and decomposes the matrices at a state; prescribed [nu] flags: degrees of freedom that are given."""
        group = self._group
        group._own(state)
        given = Input(group, prescribed=prescribed)
        with self._guard, state:
            status = lib.cal_system_form_update(self._c, state._c, given.c.prescribed, state._work)
            if status:
                group._fail(status, state, "system matrices")
        return self.info

    def dynamics(self, state: State, tau: npt.ArrayLike | None = None, *, out: Array | None = None,
                 wrenches: Wrenches | None = None, prescribed: Any = None,
                 udot: npt.ArrayLike | None = None) -> tuple[Array, Array]:
        """(udot [nu], force [nu]) as group.hybrid(), from the matrices of the last update; the first call updates by itself."""
        group = self._group
        group._own(state)
        given = Input(group, tau, wrenches, prescribed, udot)
        result, force = output(out, group._shape_u), np.empty(group.nu)
        with self._guard, state:
            status = lib.cal_system_form_dynamics(self._c, state._c, given.c, state._work, pointer(result), pointer(force))
            if not status and not np.isfinite(result).all():
                status = lib.CAL_NOT_FINITE  # which hybrid dynamics would have found
            if status:
                group._fail(status, state, "dynamics by system matrices")
        return result, force

    def project(self, u: npt.ArrayLike) -> tuple[Array, float]:
        """(u [nu] without the speed of frozen modes, kinetic energy that this takes away [J]). After an update."""
        v = self._speeds(u, "u").copy()
        with self._guard:
            lost = lib.cal_system_form_project(self._updated(), pointer(v))
        return v, float(lost)

    def norm(self, a: npt.ArrayLike) -> float:
        """sqrt(sum (phi'M a)^2) over the retained modes: the size of a [nu] as far as it is theirs. After an update."""
        v = self._speeds(a, "a")
        with self._guard:
            return float(lib.cal_system_form_norm(self._updated(), pointer(v)))

    def filter(self, tau: npt.ArrayLike) -> Array:
        """tau [nu] without the forces of the last evaluation on modes that are not retained."""
        v = self._speeds(tau, "tau").copy()
        with self._guard:
            lib.cal_system_form_filter(self._updated(), pointer(v))
        return v

    @property
    def missing_energy(self) -> float:
        """Strain energy of the deflections that modes do not have because they are not retained, at the last evaluation [J]."""
        with self._guard:
            return float(lib.cal_system_form_missing_energy(self._updated()))

    @property
    def info(self) -> SystemFormInfo:
        """What there is to know of the last update."""
        i = lib.cal_system_form_info(self._c)
        return SystemFormInfo(i.modes, i.retained, i.highest, i.next, i.time, i.updates)

    def _updated(self) -> Any:
        """The matrices after an update."""
        if self.info.updates == 0:
            raise ArgumentError("there are no system matrices yet: call update() or dynamics() first")
        return self._c

    def _speeds(self, x: npt.ArrayLike, what: str) -> Array:
        return vector(x, self._group.nu, what, self._group.u_names)

    def __reduce__(self) -> Any:
        raise TypeError("system matrices are not pickled; make them anew")


class LinearAlgorithms(Core):
    """Linearization and modes of a group."""

    def system_form(self, *, retain: float = 0.0, unretained: Literal["frozen", "bounded"] = "frozen") -> SystemForm:
        """Accelerations from system matrices that are held between updates.

        retain: frequency up to which modes of the system are retained [rad/s]; 0: all are. unretained: the others keep their
        displacement ("frozen"), or have the retained frequency instead of their own ("bounded").
        """
        return SystemForm(self, retain, unretained)

    def linearize(self, state: State, *, structural: bool = False) -> Linear:
        """Linear equations of motion at a state, without loads and devices (those: sim.linearize()).

        structural: inertia, springs, dampers and modes alone, at rest and without gravity.
        """
        self._own(state)
        c, error = ffi.new("CalLinear *"), new_error()
        options = ffi.new("CalLinearOptions *", {"structural": int(structural)})
        with state:
            check(lib.cal_linearize(self._m, state._c, ffi.NULL, ffi.NULL, options, state._work, c, error), error,
                  "linearization")
        return Linear(c, self.u_names)

    def flexible(self, body: str) -> FlexReport:
        """Mass properties, modes and nodes of a flexible body, and how it is evaluated."""
        info = self._flexible_body(body)
        desc = lib.cal_setup_desc(self._setup)
        report, modes, error = ffi.new("CalFlexReport *"), ffi.new("CalFlexMode[]", info.modes), new_error()
        check(lib.cal_flex_report(desc, lib.cal_desc_find_body(desc, name_bytes(body)), report, modes, info.modes, error), error)
        listed = tuple(FlexMode(m.frequency, m.free_frequency, m.damping_ratio, np.array(list(m.effective_mass)),
                                np.array(list(m.effective_inertia))) for m in modes[0 : report.modes])
        how = ffi.new("CalFlexEvaluation *")
        check(lib.cal_flex_evaluation(self._m, info.index, how), where=f"body {body!r}")
        return FlexReport(report.mass, vec3(report.com), mat3(report.inertia), listed, tuple(self._flex_nodes(body, info.modes)),
                          how.summed_masses, how.invariant_masses, bool(how.linear))

    def modal(self, body: str, *, first_order: bool = False, name: str | None = None) -> Modal:
        """A flexible body as a modal body, which can be saved as a SID or modal file.

        first_order: without second-order shapes and geometric stiffness. name: of the body in files (None: as here).
        """
        from .fe import Modal

        desc, place, error = lib.cal_setup_desc(self._setup), ffi.new("CalModal **"), new_error()
        self._flexible_body(body)
        id = lib.cal_desc_find_body(desc, name_bytes(body))
        check(lib.cal_flex_modal(desc, id, int(first_order), ffi.NULL, place, error), error)
        status = 0 if name is None else lib.cal_modal_set_name(place[0], name_bytes(name))
        made = Modal(place[0])
        check(status, where="name of a modal body")
        return made

    def _flex_nodes(self, body: str, m: int) -> Iterator[FlexNode]:
        desc, node, i = lib.cal_setup_desc(self._setup), ffi.new("CalFlexNodeInfo *"), 0
        while lib.cal_flex_node(desc, lib.cal_desc_find_body(desc, name_bytes(body)), i, node) == 0:
            f, i = node.flex, i + 1
            phi, psi = (np.zeros((3, m)) if p == ffi.NULL else _array(p, 3, m) for p in (f.phi, f.psi))
            yield FlexNode(text(node.name), vec3(node.placement.position), f.mass, mat3(f.inertia), phi, psi,
                           None if f.phi2 == ffi.NULL else _array(f.phi2, 3, m, m))


class SimLinear:
    """Linearization of a Sim."""

    _handle: SimHandle
    _mirrors: Mirrors
    _error: Any

    if TYPE_CHECKING:

        def _started(self, c: Any) -> Any: ...

    def linearize(self, group: str | None = None, *, structural: bool = False) -> Linear:
        """A group at its present state, with its loads and devices; does not change the run."""
        with self._handle as sim:
            self._started(sim)
            index = self._mirrors.index(group)
            c = ffi.new("CalLinear *")
            options = ffi.new("CalLinearOptions *", {"structural": int(structural)})
            check(lib.cal_sim_linearize(sim, index, options, c, self._error), self._error)
            return Linear(c, self._mirrors.named(group).group.u_names)

    def mode_masses(self, group: str | None = None, *, structural: bool = False, max_frequency: float = 0.0) -> tuple[Array, Array]:
        """(frequencies [modes] in rad/s, effective masses [modes, 6]) of a group at its present state: along x, y, z [kg] and about
        them through the center of mass [kg m^2], world axes. Modes are in the order of linearize().modes()."""
        linear = self.linearize(group, structural=structural)
        options = ffi.new("CalSystemModesOptions *", {"max_frequency": max_frequency})
        c = ffi.new("CalSystemModes *")
        with self._handle as sim:
            check(lib.cal_linear_modes(linear._c, options, ffi.NULL, c, self._error), self._error)
            try:
                mass = np.zeros((c.count, 6))
                rows = ffi.cast("double (*)[6]", pointer(mass)) if c.count else ffi.new("double[1][6]")
                check(lib.cal_sim_mode_masses(sim, self._mirrors.index(group), linear._c, c, rows, self._error), self._error)
                return np.array([c.mode[i].frequency for i in range(c.count)]), mass
            finally:
                lib.cal_system_modes_release(c)

    @property
    def formulation(self) -> FormulationReport:
        """What `formulation: system` of the model file did in the run so far."""
        with self._handle as sim:
            r = lib.cal_sim_formulation(sim)
            return FormulationReport(r.updates, r.modes, r.retained, r.highest, r.next, r.error, r.last, r.largest, r.largest_time,
                                     r.missing_energy, r.energy_removed)
