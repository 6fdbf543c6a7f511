# SPDX-License-Identifier: Apache-2.0
"""Closed loops: residuals, multipliers, projection, mobility, closed-chain operators (calder/loops.h, closed.h, impulse.h)."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, flags, output, pointer, vector
from ._calder import ffi, lib
from ._core import Core
from ._names import names_of, spatial, text, vec3
from .errors import check, name_bytes, new_error, unknown

if TYPE_CHECKING:
    from .state import State


@dataclass(frozen=True)
class Loop:
    """A loop of a model."""

    name: str
    id: int
    """Its number in the description, which stays through changes of topology."""
    type: str
    node_a: str | None
    """None: the ground's origin."""
    node_b: str | None
    rows: slice
    """Its constraint equations."""
    driven: tuple[bool, ...]
    """Which of them a drive moves."""


@dataclass(frozen=True)
class LoopCost:
    """What the loops of a model cost in an evaluation."""

    solver: str
    """"early": some loops are eliminated before they close; "coupled": on links of both sides; "elimination"; "cut joints"."""
    early: int
    """Loops that are eliminated before they close."""
    carried: int
    """Constraint equations that are open on one joint, at most; "coupled": with six for each link."""
    couplings: int
    """Pairs of loops ("coupled": and links) that are coupled when they are eliminated, fill included."""
    products: float
    """Multiplications for the coupling of equations."""


@dataclass(frozen=True, eq=False)
class Mobility:
    """What the loops leave of the degrees of freedom at a state."""

    dofs: int
    rank: int
    mobility: int
    """dofs - rank: speeds that can be chosen freely."""
    independent_rows: npt.NDArray[np.bool_]
    independent_speeds: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Projection:
    """What a projection on the loops did."""

    iterations: int
    residual: float
    """Largest that is left [m, 1]."""
    rate: float
    """Largest rate that is left [m/s, 1/s]."""
    row: str | None
    """Where."""
    reachable: bool


@dataclass(frozen=True)
class Mechanism:
    """An embedded mechanism of a model: loops that are one link with independent coordinates (docs/loops.md)."""

    name: str
    """Of its first loop."""
    index: int
    base: str | None
    """The body that carries it; None: the ground."""
    q: slice
    """Its independent coordinates in q."""
    u: slice
    """Their speeds in u."""
    dependent: int
    """Degrees of freedom that follow from them."""
    loops: int
    rows: int
    """Equations of its loops."""
    q_names: tuple[str, ...]
    """Coordinates of all its joints."""
    u_names: tuple[str, ...]
    """Speeds of all its joints."""


class Loops(Core):
    """Loops of a group."""

    @property
    def nrows(self) -> int:
        """Constraint equations of all loops."""
        return int(lib.cal_model_row_count(self._m))

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the constraint equations: "loop.dx", ..."""
        return names_of(self._m, self.nrows, lib.cal_model_row_name)

    @property
    def loops(self) -> dict[str, Loop]:
        """Loops by name."""
        info, found = ffi.new("CalLoopInfo *"), {}
        for i in range(lib.cal_model_loop_count(self._m)):
            check(lib.cal_model_loop(self._m, i, info))
            a, b = (self.nodes[k] if k >= 0 else None for k in (info.node_a, info.node_b))
            found[text(info.name)] = Loop(text(info.name), info.id.value, text(lib.cal_loop_type_name(info.type)), a, b,
                                          slice(info.row, info.row + info.rows),
                                          tuple(bool(info.driven >> k & 1) for k in range(info.rows)))
        return found

    @property
    def loop_cost(self) -> LoopCost:
        """How the loops are solved, and what that costs."""
        cost = ffi.new("CalLoopCost *")
        check(lib.cal_model_loop_cost(self._m, cost))
        names = {lib.CAL_LOOPS_EARLY: "early", lib.CAL_LOOPS_COUPLED: "coupled", lib.CAL_LOOPS_ELIMINATION: "elimination"}
        return LoopCost(names.get(cost.solver, "cut joints"), cost.early, cost.carried, cost.couplings, cost.products)

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        """Embedded mechanisms by name."""
        info, found = ffi.new("CalMechanismInfo *"), {}
        for i in range(lib.cal_model_mechanism_count(self._m)):
            check(lib.cal_model_mechanism(self._m, i, info))
            name, model = text(info.name), info.model
            found[name] = Mechanism(name, i, self.bodies[info.base].name if info.base >= 0 else None,
                                    slice(info.q, info.q + info.dofs), slice(info.u, info.u + info.dofs), info.dependent,
                                    info.loops, info.rows, names_of(model, lib.cal_model_q_count(model), lib.cal_model_q_name),
                                    names_of(model, lib.cal_model_u_count(model), lib.cal_model_dof_name))
        return found

    def mechanism_motion(self, state: State, name: str, udot: npt.ArrayLike | None = None) -> tuple[Array, Array, Array | None]:
        """(q, u, accelerations) of all joints of a mechanism, in the order of its q_names and u_names.

        udot [nu]: accelerations of the model; None: accelerations are None. Raises where the loops cannot be closed, and says why.
        """
        self._own(state)
        known = self.mechanisms
        if name not in known:
            raise unknown("mechanism", name, known)
        of = known[name]
        a = ffi.NULL if udot is None else pointer(vector(udot, self.nu, "udot", self.u_names))
        q, u, accelerations = (ffi.new("double **") for _ in range(3))
        with state:
            status = lib.cal_mechanism_motion(self._m, of.index, state._c, a, state._work, q, u,
                                              ffi.NULL if udot is None else accelerations)
            if status:
                error = new_error()
                check(lib.cal_mechanism_fault(self._m, state._c, state._work, error), error, "mechanism")
                self._fail(status, state, "mechanism")
            n = len(of.u_names)
            return (np.array(ffi.unpack(q[0], len(of.q_names))), np.array(ffi.unpack(u[0], n)),
                    None if udot is None else np.array(ffi.unpack(accelerations[0], n)))

    def loop_residual(self, state: State) -> tuple[Array, Array]:
        """(g, rate) [nrows]: residuals of the constraint equations [m, rad or 1], and their rates."""
        self._own(state)
        g, rate = np.empty(self.nrows), np.empty(self.nrows)
        with state:
            self._done(lib.cal_loop_residual(self._m, state._c, state._work, pointer(g), pointer(rate)), state, "residuals")
        return g, rate

    def loop_jacobian(self, state: State) -> tuple[Array, Array]:
        """(G [nrows, nu], gamma [nrows]): G udot = gamma on the constraint, without stabilization."""
        self._own(state)
        G, gamma = np.empty((self.nrows, self.nu)), np.empty(self.nrows)
        with state:
            self._done(lib.cal_loop_jacobian(self._m, state._c, state._work, pointer(G), pointer(gamma)), state, "Jacobian")
        return G, gamma

    def loop_forces(self, state: State, tau: npt.ArrayLike | None = None) -> tuple[Array, dict[str, tuple[Array, Array]]]:
        """(multipliers [nrows], {loop: (wrench on the side of B, point)}) in forward dynamics under tau; world axes."""
        self._own(state)
        with state:
            state._take_tau(tau)
            self._done(lib.cal_forward_dynamics(self._m, state._c, state._input, state._work, state._udot_p), state,
                       "forward dynamics")
            return self._loop_results(state)

    def loop_impulses(self, state: State) -> tuple[Array, dict[str, tuple[Array, Array]]]:
        """(multipliers [nrows], {loop: (wrench on the side of B, point [m])}) of the last impulse() at this state.

        World axes; impulses: forces [N s], moments [N m s]. loop_rank() then has the rank that the impulse found.
        """
        self._own(state)
        with state:
            return self._loop_results(state)

    def _loop_results(self, state: State) -> tuple[Array, dict[str, tuple[Array, Array]]]:
        """What the last dynamics or impulse left in the work of a state."""
        multipliers = np.empty(self.nrows)
        wrench, point, found = ffi.new("CalSpatial *"), ffi.new("CalVec3 *"), {}
        self._done(lib.cal_loop_multipliers(self._m, state._work, pointer(multipliers)), state, "multipliers")
        for i, name in enumerate(self.loops):
            self._done(lib.cal_loop_wrench(self._m, state._work, i, wrench, point), state, "wrench of a loop")
            found[name] = (spatial(wrench), vec3(point))
        return multipliers, found

    def loop_error(self, state: State) -> float:
        """Estimate of the relative error of accelerations and multipliers of the last forward dynamics at this state."""
        self._own(state)
        place = ffi.new("double *")
        with state:
            self._done(lib.cal_loop_error(self._m, state._work, place), state, "error of loops")
        return float(place[0])

    def loop_rank(self, state: State) -> tuple[int, npt.NDArray[np.bool_]]:
        """(rank, flags of the independent constraint equations) that the last forward dynamics at this state found."""
        self._own(state)
        rank, rows = ffi.new("int *"), np.zeros(self.nrows, np.uint8)
        with state:
            self._done(lib.cal_loop_rank(self._m, state._work, rank, ffi.from_buffer("uint8_t[]", rows)), state, "rank")
        return int(rank[0]), rows.astype(bool)

    def mobility(self, state: State, frozen: Any = None) -> Mobility:
        """Rank of the loops and free speeds at a state; frozen [nu] flags: by default those described as prescribed."""
        self._own(state)
        held = ffi.NULL if frozen is None else ffi.from_buffer("uint8_t[]", flags(frozen, self.nu, "frozen", self.u_names))
        m, rows, speeds = ffi.new("CalMobility *"), np.zeros(self.nrows, np.uint8), np.zeros(self.nu, np.uint8)
        with state:
            self._done(lib.cal_loop_mobility(self._m, state._c, held, state._work, m, ffi.from_buffer("uint8_t[]", rows),
                                             ffi.from_buffer("uint8_t[]", speeds)), state, "mobility")
        return Mobility(m.dofs, m.rank, m.mobility, rows.astype(bool), speeds.astype(bool))

    def independent_speeds(self, state: State) -> npt.NDArray[np.bool_]:
        """Flags [nu] of speeds that can be chosen freely; all others follow from them. mobility() says more."""
        self._own(state)
        chosen, count = np.zeros(self.nu, np.uint8), ffi.new("int *")
        with state:
            self._done(lib.cal_loop_independent(self._m, state._c, state._work, ffi.from_buffer("uint8_t[]", chosen), count),
                       state, "independent speeds")
        return chosen.astype(bool)

    def project(self, state: State, *, frozen: Any = None, tolerance: float = 0.0, max_iterations: int = 0,
                euclidean: bool = False, search: int = 0) -> Projection:
        """Moves positions, then speeds of a state to the loops, by the smallest change in the metric of M (or of q)."""
        self._own(state)
        options = ffi.new("CalProjectOptions *", {"tolerance": tolerance, "max_iterations": max_iterations,
                                                  "euclidean": int(euclidean), "search": search})
        with state:
            return self._project(state, options, frozen, lambda report: lib.cal_loop_project(
                self._m, state._c, options, state._work, report))

    def _project(self, state: State, options: Any, frozen: Any, call: Callable[[Any], Any]) -> Projection:
        """A projection by a function that fills a report; options gets what is frozen."""
        held = None
        if frozen is not None:
            held = ffi.from_buffer("uint8_t[]", flags(frozen, self.nu, "frozen", self.u_names))
            options.frozen = held
        report = ffi.new("CalProjectReport *")
        status = call(report)
        if status and status != lib.CAL_NOT_CONVERGED:
            self._fail(status, state, "projection")
        row = self.row_names[report.row] if report.row >= 0 else None
        done = Projection(report.iterations, report.residual, report.rate, row, bool(report.reachable))
        if status:
            from .errors import make

            reason = "" if done.reachable else "; no motion of the free coordinates meets it"
            raise make(status, f"projection: loop row {row!r} is off by {done.residual:g}{reason}")
        return done

    def impulse(self, state: State, *, locked: Any = None, speed: npt.ArrayLike | None = None,
                kept: Any = None) -> tuple[Array, Array, float]:
        """(u_after [nu], impulses on given speeds [nu], kinetic energy lost [J]) where loops and locks act at once."""
        self._own(state)
        given, held = ffi.new("CalImpulse *"), []
        for name, value in (("kept", kept), ("locked", locked)):
            if value is not None:
                held.append(ffi.from_buffer("uint8_t[]", flags(value, self.nu, name, self.u_names)))
                setattr(given, name, held[-1])
        if speed is not None:
            held.append(pointer(vector(speed, self.nu, "speed", self.u_names)))
            given.speed = held[-1]
        after, force, report = np.empty(self.nu), np.empty(self.nu), ffi.new("CalImpulseReport *")
        with state:
            self._done(lib.cal_impulse(self._m, state._c, given, state._work, pointer(after), pointer(force), report),
                       state, "impulse")
        return after, force, float(report.kinetic_lost)

    def closed_solve(self, state: State, b: npt.ArrayLike, *, held: Any = None, out: Array | None = None) -> Array:
        """M_c b [nu]: accelerations under forces b with the loops held; held [nu] flags do not move."""
        self._own(state)
        v, result = vector(b, self.nu, "b", self.u_names), output(out, self._shape_u)
        fixed = ffi.NULL if held is None else ffi.from_buffer("uint8_t[]", flags(held, self.nu, "held", self.u_names))
        with state:
            self._done(lib.cal_closed_factor(self._m, state._c, fixed, state._work), state, "closed factor")
            self._done(lib.cal_closed_solve(self._m, state._work, pointer(v), pointer(result)), state, "closed solve")
        return result

    def independent(self, state: State, *, independent: Any = None, held: Any = None) -> IndependentDynamics:
        """Dynamics in independent speeds at a state, without multipliers."""
        self._own(state)
        return IndependentDynamics(self, state, independent, held)

    def _done(self, status: int, state: State, where: str) -> None:
        if status:
            self._fail(status, state, where)

    def loop_index(self, loop: str | int) -> int:
        """Index of a loop in the order of `loops` by its name, or by its number in the description (Loop.id)."""
        if isinstance(loop, str):
            index = lib.cal_model_find_loop(self._m, name_bytes(loop))
        else:
            index = lib.cal_model_loop_index(self._m, ffi.new("CalLoopId *", [loop])[0]) if 0 < loop < 2**31 else -1
        if index < 0:
            raise unknown("loop", loop, self.loops)
        return int(index)


class IndependentDynamics:
    """Dynamics of a mechanism in independent speeds v: u = X v + drift, udot = X vdot + bias, at one state.

    X'M X vdot + ... = Q with Q = X'tau: no multipliers (calder/closed.h). Dense; for checks, control and small mechanisms.
    """

    def __init__(self, group: Loops, state: State, independent: Any, held: Any) -> None:
        place = ffi.new("CalProjection **")
        check(lib.cal_projection_create(group._m, place))
        self._pointer = ffi.gc(place[0], lib.cal_projection_destroy)
        self._group = group
        self._state = state.copy()
        options, kept = ffi.new("CalProjectionOptions *"), []
        for name, value in (("independent", independent), ("held", held)):
            if value is not None:
                kept.append(ffi.from_buffer("uint8_t[]", flags(value, group.nu, name, group.u_names)))
                setattr(options, name, kept[-1])
        self._done(lib.cal_projection_update(self._c, self._state._c, options, self._state._work), "independent speeds")
        self.count: int = lib.cal_projection_count(self._c)

    @property
    def _c(self) -> Any:
        """The projection, which needs the model: raises where that is gone with a change of topology."""
        return self._pointer if self._group._m else None

    def _done(self, status: int, where: str) -> None:
        if status:
            self._group._fail(status, self._state, where)

    def _copy(self, p: Any, *shape: int) -> Array:
        return np.array(ffi.unpack(p, int(np.prod(shape)))).reshape(shape)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the independent speeds."""
        chosen = lib.cal_projection_independent(self._c)
        return tuple(name for i, name in enumerate(self._group.u_names) if chosen[i])

    @property
    def X(self) -> Array:
        """[nu, count]"""
        return self._copy(lib.cal_projection_map(self._c), self._group.nu, self.count)

    @property
    def drift(self) -> Array:
        """[nu]"""
        return self._copy(lib.cal_projection_drift(self._c), self._group.nu)

    @property
    def bias(self) -> Array:
        """[nu]"""
        return self._copy(lib.cal_projection_bias(self._c), self._group.nu)

    def mass_matrix(self) -> Array:
        """X'M X [count, count]."""
        M, s = np.empty((self.count, self.count)), self._state
        self._done(lib.cal_projected_mass(self._c, s._c, s._work, pointer(M)), "projected mass matrix")
        return M

    def inverse(self, vdot: npt.ArrayLike | None = None) -> Array:
        """Q [count] that makes the independent speeds accelerate with vdot."""
        Q, s = np.empty(self.count), self._state
        a = ffi.NULL if vdot is None else pointer(vector(vdot, self.count, "vdot", self.names))
        self._done(lib.cal_projected_inverse_dynamics(self._c, s._c, a, ffi.NULL, s._work, pointer(Q)), "inverse dynamics")
        return Q

    def forward(self, tau: npt.ArrayLike | None = None) -> tuple[Array, Array]:
        """(vdot [count], udot [nu]) under tau [nu]."""
        v, u, s = np.empty(self.count), np.empty(self._group.nu), self._state
        s._take_tau(tau)
        self._done(lib.cal_projected_forward_dynamics(self._c, s._c, s._input, s._work, pointer(v), pointer(u)),
                   "forward dynamics")
        return v, u

    def actuation(self, Q: npt.ArrayLike, actuated: Any = None) -> Array:
        """tau [nu] of smallest norm with X'tau = Q, on the actuated degrees of freedom alone ([nu] flags; None: all)."""
        q, tau = vector(Q, self.count, "Q", self.names), np.empty(self._group.nu)
        chosen = ffi.NULL if actuated is None else ffi.from_buffer(
            "uint8_t[]", flags(actuated, self._group.nu, "actuated", self._group.u_names))
        self._done(lib.cal_projected_actuation(self._c, chosen, pointer(q), pointer(tau)), "actuation")
        return tau

    def forces(self, tau: npt.ArrayLike) -> Array:
        """Q = X'tau [count]."""
        v, Q = vector(tau, self._group.nu, "tau", self._group.u_names), np.empty(self.count)
        check(lib.cal_projection_forces(self._c, pointer(v), pointer(Q)))
        return Q

    def speeds(self, v: npt.ArrayLike) -> Array:
        """u = X v + drift [nu]."""
        x, u = vector(v, self.count, "v", self.names), np.empty(self._group.nu)
        check(lib.cal_projection_speeds(self._c, pointer(x), pointer(u)))
        return u

    def accelerations(self, vdot: npt.ArrayLike | None = None) -> Array:
        """udot = X vdot + bias [nu]."""
        u = np.empty(self._group.nu)
        a = ffi.NULL if vdot is None else pointer(vector(vdot, self.count, "vdot", self.names))
        check(lib.cal_projection_accelerations(self._c, a, pointer(u)))
        return u

    def _factor(self) -> None:
        """Anew for each call: other calls use the memory of the factor."""
        self._done(lib.cal_projected_factor(self._c, self._state._c, self._state._work), "projected factor")

    def solve(self, b: npt.ArrayLike) -> Array:
        """(X'M X)^-1 b [count]."""
        self._factor()
        return self._product(lib.cal_projected_solve, b)

    def logdet(self) -> float:
        """log(det X'M X)."""
        self._factor()
        place = ffi.new("double *")
        check(lib.cal_projected_logdet(self._c, place))
        return float(place[0])

    def diagonal(self) -> Array:
        """D [count] of X'M X = L D L'."""
        self._factor()
        d = np.empty(self.count)
        check(lib.cal_projected_innovations_diagonal(self._c, pointer(d)))
        return d

    def _product(self, call: Any, x: npt.ArrayLike) -> Array:
        v, y = vector(x, self.count, "x", self.names), np.empty(self.count)
        check(call(self._c, pointer(v), pointer(y)))
        return y

    def innovations(self, x: npt.ArrayLike, *, transpose: bool = False, inverse: bool = False) -> Array:
        """L x, L' x, L^-1 x or (L^-1)' x [count]."""
        self._factor()
        calls = {(False, False): lib.cal_projected_innovations_mul, (True, False): lib.cal_projected_innovations_mul_transpose,
                 (False, True): lib.cal_projected_innovations_solve,
                 (True, True): lib.cal_projected_innovations_solve_transpose}
        return self._product(calls[bool(transpose), bool(inverse)], x)

    def __reduce__(self) -> Any:
        raise TypeError("independent dynamics are not pickled; pickle the state")
