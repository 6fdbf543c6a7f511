# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse dynamics, mass matrix, energy and momentum (calder/dynamics.h).

M(q) udot + h(q, u) = tau + Q_gravity + Q_elastic + Q_external. `forward` is the call that control loops make: arrays that come
again are bound to C once (State._take_tau, _take_out), all others are copied into memory of the state and out of it.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ._arrays import Array, array, flags, is_array, output, pointer, vector
from ._calder import ffi, lib
from ._core import Core
from ._names import spatial, to_vec3, vec3
from .errors import ArgumentError
from .sparse_mass import SparseMass
from .state import State, busy

_State = State
_forward = lib.cal_forward_dynamics
_NULL = ffi.NULL


@dataclass(frozen=True)
class Energy:
    """Energy of a group [J]."""

    kinetic: float
    """Of the motion of bodies, modes and rotors [J]."""
    gravity: float
    """Of uniform gravity, zero at the height of the world's origin [J]."""
    elastic: float
    """Of joint springs and modes [J]."""
    total: float
    """Their sum [J]."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum of a group, world axes."""

    mass: float
    """[kg]"""
    com: Array
    """Center of mass [m]."""
    linear: Array
    """[kg m/s]"""
    angular: Array
    """About the world's origin [kg m^2/s]."""
    angular_com: Array
    """About the center of mass [kg m^2/s]."""


@dataclass(frozen=True)
class Wrench:
    """A wrench on a node: moment [N m], then force [N], in world axes or in those of the node."""

    node: str | int
    """Path "body/node" or index."""
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N m]"""
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N]"""
    local: bool = False
    """True: components in the axes of the node."""


Wrenches = Iterable[Wrench] | Mapping[str, npt.ArrayLike]


def _wrench(wrench: npt.ArrayLike) -> Any:
    """Six numbers as a CalSpatial."""
    six = vector(wrench, 6, "wrench (moment, force)").tolist()
    return ffi.new("CalSpatial *", [six[:3], six[3:]])[0]


def wrench_shift(wrench: npt.ArrayLike, o: npt.ArrayLike, p: npt.ArrayLike) -> Array:
    """The same wrench (moment [N m], force [N]) referred to the point p instead of o [m]."""
    return spatial(lib.cal_wrench_shift(_wrench(wrench), to_vec3(o, "o"), to_vec3(p, "p")))


def wrench_express(wrench: npt.ArrayLike, R: npt.ArrayLike) -> Array:
    """The same wrench (moment [N m], force [N]) in the axes of the rotation matrix R: components R' f."""
    axes = ffi.new("CalMat3 *", [array(R, (3, 3), "R").tolist()])
    return spatial(lib.cal_wrench_express(_wrench(wrench), axes))


class Input:
    """A CalInput and the memory that it points to."""

    __slots__ = ("c", "_held")

    def __init__(self, group: Core, tau: Any = None, wrenches: Wrenches | None = None, prescribed: Any = None,
                 udot: Any = None) -> None:
        self.c = ffi.new("CalInput *")
        self._held: list[Any] = []
        if tau is not None:
            self.c.tau = self._hold(vector(tau, group.nu, "tau", group.u_names))
        if prescribed is not None:
            held = ffi.from_buffer("uint8_t[]", flags(prescribed, group.nu, "prescribed", group.u_names))
            self._held.append(held)
            self.c.prescribed = held
        if udot is not None:
            self.c.udot = self._hold(vector(udot, group.nu, "udot", group.u_names))
        if wrenches is not None:
            self._set_wrenches(group, wrenches)

    def _hold(self, a: Array) -> Any:
        p = pointer(a)
        self._held.append(p)
        return p

    def _set_wrenches(self, group: Core, wrenches: Wrenches) -> None:
        if isinstance(wrenches, Mapping):
            items = []
            for node, f in wrenches.items():
                six = array(f, (6,), f"wrench on {node!r} (moment, force)").tolist()
                items.append(Wrench(node, (six[0], six[1], six[2]), (six[3], six[4], six[5])))
        else:
            items = list(wrenches)
        list_c = ffi.new("CalWrench[]", len(items))
        for c, wrench in zip(list_c, items):
            if not isinstance(wrench, Wrench):
                raise ArgumentError(f"wrenches: give calder.Wrench objects or {{node: (moment, force)}}, not {type(wrench).__name__}")
            c.node = group.node_index(wrench.node)
            c.frame = 1 if wrench.local else 0
            c.f.angular.x, c.f.angular.y, c.f.angular.z = vector(wrench.moment, 3, "moment")
            c.f.linear.x, c.f.linear.y, c.f.linear.z = vector(wrench.force, 3, "force")
        self._held.append(list_c)
        self.c.wrenches = list_c
        self.c.wrench_count = len(items)


class Dynamics(Core):
    """Algorithms of a group that take a state and give numbers."""

    # ---- forward ------------------------------------------------------------------------------

    @overload
    def forward(self, state: State, tau: npt.ArrayLike | None = None, *, out: Array | None = None,
                wrenches: Wrenches | None = None, prescribed: Any = None, udot: npt.ArrayLike | None = None) -> Array: ...
    @overload
    def forward(self, q: npt.ArrayLike, u: npt.ArrayLike | None = None, tau: npt.ArrayLike | None = None, *,
                out: Array | None = None, wrenches: Wrenches | None = None, prescribed: Any = None,
                udot: npt.ArrayLike | None = None, t: Any = None, status: Any = None, threads: int = 1) -> Array: ...
    def forward(  # type: ignore[misc]  # names of the overloads
            self, state: Any, u: Any = None, tau: Any = None, *, out: Any = None, **options: Any) -> Any:
        """Accelerations udot [nu]: forward(state, tau), or of many states forward(q [B, nq], u [B, nu], tau [B, nu]).

        tau: generalized forces [nu] (N m, N; None: zero). wrenches: {node: (moment, force)} or a list of Wrench. prescribed [nu]
        (flags): degrees of freedom whose acceleration is that of udot. Loops are held. out: an array for the result, which is
        returned. t, status and threads are of arrays of states: see calder.batch.
        """
        if type(state) is not _State or state.group is not self or tau is not None or options:
            return self._forward_with(state, u, tau, out, options)
        if not state._acquire(False):
            raise busy()
        try:
            if u is not state._tau_bound:  # forward(state, tau): tau is where arrays have u
                state._take_tau(u)
            if out is None:
                status = _forward(self._m, state._c, state._input, state._work, state._udot_p)
                if status:
                    self._fail(status, state, "forward dynamics")
                return state._udot.copy()
            if out is not state._out_bound:
                state._take_out(out)
            status = _forward(self._m, state._c, state._input, state._work, state._out_p)
            if status:
                self._fail(status, state, "forward dynamics")
            if state._out_bound is not out:
                out[...] = state._udot
            return out
        finally:
            state._release()

    def _forward_with(self, state: Any, u: Any, tau: Any, out: Any, options: dict[str, Any]) -> Array:
        """forward() of arrays, or of a State with anything beside tau and out, or with tau by its name."""
        if is_array(state):
            return self._forward_arrays(state, u, tau, out=out, **options)
        self._own(state)
        if u is not None and tau is not None:
            raise ArgumentError("forward: give u with arrays of states alone; a State has its own")
        if not options.keys().isdisjoint(("t", "status", "threads")):
            raise ArgumentError("forward: t, status and threads are of arrays of states; a State has its own")
        force = tau if u is None else u
        if type(state) is _State and not options:
            return self.forward(state, force, out=out)
        return self.hybrid(state, force, out=out, **options)[0]

    def hybrid(self, state: State, tau: npt.ArrayLike | None = None, *, out: Array | None = None,
               wrenches: Wrenches | None = None, prescribed: Any = None,
               udot: npt.ArrayLike | None = None) -> tuple[Array, Array]:
        """(udot [nu], force [nu]): accelerations, and what prescribed degrees of freedom need beyond tau."""
        self._own(state)
        given = Input(self, tau, wrenches, prescribed, udot)
        result, force = output(out, self._shape_u), np.empty(self.nu)
        with state:
            status = lib.cal_hybrid_dynamics(self._m, state._c, given.c, state._work, pointer(result), pointer(force))
            if status:
                self._fail(status, state, "forward dynamics")
        return result, force

    def implicit(self, state: State, h: float, tau: npt.ArrayLike | None = None, *, elastic: State | None = None,
                 wrenches: Wrenches | None = None, out: Array | None = None) -> Array:
        """Accelerations for a linearly implicit step of size h [s]: springs, dampers and modes as they will be h later."""
        self._own(state)
        if elastic is not None:
            self._own(elastic)
        if not (h >= 0 and math.isfinite(h)):
            raise ArgumentError(f"h: expected a time >= 0 [s], not {h!r}")
        given = Input(self, tau, wrenches, None, None)
        result = output(out, self._shape_u)
        with state:
            status = lib.cal_implicit_dynamics(self._m, state._c, (elastic or state)._c, given.c, h, state._work,
                                               pointer(result))
            if status:
                self._fail(status, state, "implicit dynamics")
        return result

    # ---- inverse ------------------------------------------------------------------------------

    def inverse(self, state: State, udot: npt.ArrayLike | None = None, *, wrenches: Wrenches | None = None,
                out: Array | None = None) -> Array:
        """tau [nu] that makes the system accelerate with udot [nu] (None: zero) under wrenches and gravity; of the tree."""
        self._own(state)
        result = output(out, self._shape_u)
        a = _NULL if udot is None else pointer(vector(udot, self.nu, "udot", self.u_names))
        given = None if wrenches is None else Input(self, None, wrenches, None, None)
        with state:
            status = lib.cal_inverse_dynamics(self._m, state._c, a, _NULL if given is None else given.c, state._work,
                                              pointer(result))
            if status:
                self._fail(status, state, "inverse dynamics")
        return result

    def bias(self, state: State, *, out: Array | None = None) -> Array:
        """h [nu]: velocity-dependent inertia forces alone (Coriolis, centrifugal, gyroscopic)."""
        return self._forces(lib.cal_bias_forces, state, out, "bias forces")

    def gravity(self, state: State, *, out: Array | None = None) -> Array:
        """Q [nu] of gravity alone."""
        return self._forces(lib.cal_gravity_forces, state, out, "gravity forces")

    def elastic(self, state: State, *, out: Array | None = None) -> Array:
        """Q [nu] of joint springs and dampers, and of the stiffness and damping of modes."""
        return self._forces(lib.cal_elastic_forces, state, out, "elastic forces")

    def external(self, state: State, wrenches: Wrenches, *, out: Array | None = None) -> Array:
        """Q [nu] of wrenches on nodes."""
        self._own(state)
        given, result = Input(self, None, wrenches, None, None), output(out, self._shape_u)
        with state:
            status = lib.cal_external_forces(self._m, state._c, given.c, state._work, pointer(result))
            if status:
                self._fail(status, state, "external forces")
        return result

    def _forces(self, call: Any, state: State, out: Array | None, where: str) -> Array:
        self._own(state)
        result = output(out, self._shape_u)
        with state:
            status = call(self._m, state._c, state._work, pointer(result))
            if status:
                self._fail(status, state, where)
        return result

    def reactions(self, state: State, tau: npt.ArrayLike | None = None, *,
                  wrenches: Wrenches | None = None) -> dict[str, Array]:
        """Wrench (moment, force) through every joint, by its name, in the motion that forward dynamics gives.

        World axes, on the outboard body at its head node's origin; actuation and loop forces are part of them.
        """
        self._own(state)
        given = Input(self, tau, wrenches, None, None)
        wrench, result = ffi.new("CalSpatial *"), {}
        with state:
            status = lib.cal_forward_dynamics(self._m, state._c, given.c, state._work, state._udot_p)
            status = status or lib.cal_reactions(self._m, state._c, state._udot_p, given.c, state._work)
            for body in self.bodies:
                status = status or lib.cal_joint_reaction(self._m, state._work, body.index, wrench)
                result[body.joint] = np.frombuffer(ffi.buffer(wrench)).copy()
            if status:
                self._fail(status, state, "reactions")
        return result

    # ---- mass matrix --------------------------------------------------------------------------

    def mass_matrix(self, state: State, *, lower: bool = False, out: Array | None = None) -> Array:
        """M [nu, nu], reflected rotor inertias included. lower: that triangle alone, the other as it is in `out`, or zero."""
        self._own(state)
        result = np.zeros((self.nu, self.nu)) if lower and out is None else output(out, (self.nu, self.nu))
        call = lib.cal_mass_matrix_lower if lower else lib.cal_mass_matrix
        with state:
            status = call(self._m, state._c, state._work, pointer(result))
            if status:
                self._fail(status, state, "mass matrix")
        return result

    def sparse_mass(self, state: State) -> SparseMass:
        """The lower triangle of M without the zeros that branches give: for its factor, and for sparse solvers."""
        self._own(state)
        return SparseMass(self, state)

    def mass_mul(self, state: State, x: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """M x [nu] in O(N)."""
        self._own(state)
        v, result = vector(x, self.nu, "x", self.u_names), output(out, self._shape_u)
        if np.shares_memory(v, result):
            v = v.copy()
        with state:
            status = lib.cal_mass_mul(self._m, state._c, pointer(v), state._work, pointer(result))
            if status:
                self._fail(status, state, "mass matrix product")
        return result

    def mass_solve(self, state: State, b: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """x = M^-1 b [nu] in O(N); b [k, nu]: of each row, four at a time, with the same bits."""
        self._own(state)
        rows = isinstance(b, (list, tuple)) and len(b) > 0 and all(isinstance(row, (list, tuple, np.ndarray)) for row in b)
        many = rows or getattr(b, "ndim", 1) == 2
        shape = (len(b), self.nu) if many else self._shape_u  # type: ignore[arg-type]
        v, result = array(b, shape, "b", None if many else self.u_names), output(out, shape)
        with state:
            status = lib.cal_mass_factor(self._m, state._c, state._work)
            if many:
                status = status or lib.cal_mass_solve_many(self._m, state._work, len(v), pointer(v), pointer(result))
            else:
                status = status or lib.cal_mass_solve(self._m, state._work, pointer(v), pointer(result))
            if status:
                self._fail(status, state, "mass matrix solve")
        return result

    def mass_inverse(self, state: State, *, out: Array | None = None) -> Array:
        """M^-1 [nu, nu], exactly symmetric."""
        self._own(state)
        result = output(out, (self.nu, self.nu))
        with state:
            status = lib.cal_mass_factor(self._m, state._c, state._work)
            status = status or lib.cal_mass_inverse(self._m, state._work, pointer(result))
            if status:
                self._fail(status, state, "inverse of the mass matrix")
        return result

    def mass_logdet(self, state: State) -> float:
        """log(det M)."""
        self._own(state)
        place = ffi.new("double *")
        with state:
            status = lib.cal_mass_factor(self._m, state._c, state._work)
            status = status or lib.cal_mass_logdet(self._m, state._work, place)
            if status:
                self._fail(status, state, "determinant of the mass matrix")
        return float(place[0])

    def mass_trace(self, state: State) -> float:
        """trace(M) in O(N)."""
        self._own(state)
        place = ffi.new("double *")
        with state:
            status = lib.cal_mass_trace(self._m, state._c, state._work, place)
            if status:
                self._fail(status, state, "trace of the mass matrix")
        return float(place[0])

    # ---- energy and momentum ------------------------------------------------------------------

    def energy(self, state: State) -> Energy:
        """Kinetic, of gravity, elastic and total energy [J]."""
        self._own(state)
        e = ffi.new("CalEnergy *")
        with state:
            status = lib.cal_energy(self._m, state._c, state._work, e)
            if status:
                self._fail(status, state, "energy")
        return Energy(e.kinetic, e.gravity, e.elastic, e.total)

    def momentum(self, state: State) -> Momentum:
        """Mass, center of mass, linear and angular momentum, world axes."""
        self._own(state)
        p = ffi.new("CalMomentum *")
        with state:
            status = lib.cal_momentum(self._m, state._c, state._work, p)
            if status:
                self._fail(status, state, "momentum")
        return Momentum(p.mass, vec3(p.com), vec3(p.linear), vec3(p.angular_origin), vec3(p.angular_com))

    def rhs(self, t: float, x: npt.ArrayLike, tau: npt.ArrayLike | None = None) -> Array:
        """xdot of x = (q, u), for ODE solvers such as scipy.integrate.solve_ivp. Joints without quaternions only."""
        if self.nq != self.nu:
            raise ArgumentError("rhs: coordinates with quaternions have no plain derivative; use calder.Sim")
        n = self.nu
        v = vector(x, 2 * n, "x", self.q_names + self.u_names)
        state = self.neutral()
        state.t = t
        state.q[:] = v[:n]
        state.u[:] = v[n:]
        return np.concatenate([v[n:], self.forward(state, tau)])
