# SPDX-License-Identifier: Apache-2.0
"""Identification: masses, inertias, friction and rotors from recorded motion and forces (calder/identify.h, docs/identify.md)."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import Array, array, pointer, vector
from ._calder import ffi, lib
from ._names import text
from .dynamics import Input, Wrenches
from .errors import ArgumentError, check, new_error
from .fe import MassProperties

if TYPE_CHECKING:
    from .group import Group

_KINDS = ("inertial", "viscous", "coulomb", "rotor")


class IdentifiedParameter(NamedTuple):
    """A parameter that was unknown."""

    name: str
    """ "payload.Ixx", "elbow.viscous" """
    kind: str
    """ "inertial", "viscous", "coulomb" or "rotor" """
    unit: str
    model: float
    """Value in the model."""
    value: float
    deviation: float
    """Standard deviation, of errors of the forces alone."""
    determined: bool
    """By the motion alone; otherwise it is one of many values that are as good, the nearest to the model."""


class Combination(NamedTuple):
    """A combination of parameters that the motion determines."""

    text: str
    """ "upper.mx + 0.9 lower.mass" """
    factors: dict[str, float]
    """By names of parameters."""
    model: float
    value: float
    """By least squares alone."""
    deviation: float
    consistent: float
    """Of the parameters found, which can exist."""


class ForceFit(NamedTuple):
    """How well the equations of a degree of freedom are met; root mean squares."""

    equations: int
    force: float
    """Of what known effects leave of the force."""
    model: float
    """Residual of the model as it was."""
    residual: float
    """Residual of what was found."""


def estimate_rates(t: npt.ArrayLike, x: npt.ArrayLike, window: float = 0.0, degree: int = 4) -> tuple[Array, Array, Array]:
    """(value, rate, acceleration) at each sample, each of the shape of x [n] or [n, columns], from the polynomials nearest to the
    samples within window/2 [s] of each. Without lag; rows within window/2 of the ends are less accurate."""
    values = np.asarray(x, dtype=float)
    if values.ndim not in (1, 2) or not values.size:
        raise ArgumentError(f"x: expected an array of shape [n] or [n, columns]; got shape {values.shape}")
    times = vector(t, values.shape[0], "t")
    columns = values.reshape(values.shape[0], -1)
    results = [np.empty((columns.shape[1], columns.shape[0])) for _ in range(3)]
    for k in range(columns.shape[1]):
        status = lib.cal_estimate_rates(len(times), pointer(times), pointer(np.ascontiguousarray(columns[:, k])), float(window),
                                        int(degree), *(pointer(r[k]) for r in results))
        if status:
            raise ArgumentError("estimate_rates: times must ascend, numbers be finite, the degree be 2 to 5, with more samples than that")
    smooth, rate, acceleration = (np.ascontiguousarray(r.T).reshape(values.shape) for r in results)
    return smooth, rate, acceleration


class Identification:
    """Equations for the unknown parameters of a group, and what they determine.

        found = calder.Identification(m, bodies=["payload"], friction="all")
        found.add(q, u, udot, tau)      # instants [n, ...], as often as wanted
        found.solve()
        found.parameters["payload.mass"].value

    bodies: those with unknown inertia, by default all; friction, rotors: names of speeds, or "all". friction_speed: Coulomb friction
    is F tanh(u/friction_speed). prior: how far parameters may be from the model, as part of them.
    """

    def __init__(self, group: Group, *, bodies: Iterable[str] | None = None, friction: Iterable[str] | str = (),
                 rotors: Iterable[str] | str = (), friction_speed: float = 0.01, prior: float = 100.0,
                 rank_tolerance: float = 1e-9, constrained: bool = True) -> None:
        self._group = group
        masks = [self._dofs(friction, "friction"), self._dofs(rotors, "rotors")]
        chosen = ffi.new("uint8_t[]", max(len(group.bodies), 1))
        names = group.body_names
        for name in names if bodies is None else bodies:
            chosen[names.index(group.body(name).name)] = 1
        options = ffi.new("CalIdentificationOptions *", {
            "bodies": chosen, "viscous": masks[0], "coulomb": masks[0], "rotor": masks[1], "friction_speed": friction_speed,
            "prior": prior, "rank_tolerance": rank_tolerance, "unconstrained": not constrained})
        place, error = ffi.new("CalIdentification **"), new_error()
        check(lib.cal_identification_create(group._m, options, place, error), error)
        self._c = ffi.gc(place[0], lib.cal_identification_destroy)
        self.result: Any = None

    def _dofs(self, names: Iterable[str] | str, what: str) -> Any:
        group = self._group
        mask = ffi.new("uint8_t[]", max(group.nu, 1))
        for name in group.u_names if names == "all" else [names] if isinstance(names, str) else names:
            if name not in group.u_names:
                raise ArgumentError(f"{what}: there is no speed {name!r}: {', '.join(group.u_names[:24])}")
            mask[group.u_names.index(name)] = 1
        return mask

    def _state(self, q: Array, u: Array) -> Any:
        return ffi.new("CalState *", {"q": pointer(q), "u": pointer(u)})

    def add(self, q: npt.ArrayLike, u: npt.ArrayLike, udot: npt.ArrayLike, tau: npt.ArrayLike, *,
            measured: Iterable[str] | None = None, wrenches: Wrenches | None = None) -> None:
        """Adds instants: q [n, nq], u, udot and tau [n, nu], or one of each. measured: names of the speeds whose forces are known,
        by default all; with loops all must be. wrenches act at all of these instants."""
        group = self._group
        rows = np.atleast_2d(np.asarray(q, dtype=float)).shape[0]
        Q = array(np.atleast_2d(np.asarray(q, dtype=float)), (rows, group.nq), "q")
        U, A, T = (array(np.atleast_2d(np.asarray(x, dtype=float)), (rows, group.nu), what)
                   for x, what in ((u, "u"), (udot, "udot"), (tau, "tau")))
        mask = ffi.NULL if measured is None else self._dofs(measured, "measured")
        given = Input(group, None, wrenches)
        for i in range(rows):
            status = lib.cal_identification_add(self._c, self._state(Q[i], U[i]), pointer(A[i]), given.c, pointer(T[i]), mask)
            check(status, where=f"instant {i}")
        self.result = None

    def solve(self) -> Identification:
        """Finds combinations and parameters from all that was added; returns itself."""
        error, result = new_error(), ffi.new("CalIdentified *")
        check(lib.cal_identification_solve(self._c, error), error)
        check(lib.cal_identification_result(self._c, result))
        self.result = result[0]
        return self

    def _solved(self) -> Any:
        if self.result is None:
            raise ArgumentError("call solve() first")
        return self.result

    @property
    def equations(self) -> int:
        """Their number."""
        return self._solved().equations

    @property
    def condition(self) -> float:
        """Of the scaled equations in the combinations; above 100 the motion excites some of them badly."""
        return self._solved().condition

    @property
    def conflict(self) -> float:
        """What physical consistency costs, in variances; much more than the number of combinations: the recording contradicts it."""
        return self._solved().conflict

    @property
    def at_limit(self) -> int:
        """Bodies at the limit of what can exist."""
        return self._solved().at_limit

    @property
    def parameters(self) -> dict[str, IdentifiedParameter]:
        """All that were unknown, by name."""
        p, found = ffi.new("CalIdentifiedParameter *"), {}
        for i in range(self._solved().parameters):
            check(lib.cal_identification_parameter(self._c, i, p))
            one = IdentifiedParameter(text(p.name), _KINDS[p.kind], text(p.unit), p.model, p.value, p.deviation, bool(p.determined))
            found[one.name] = one
        return found

    @property
    def combinations(self) -> list[Combination]:
        """What the motion determines."""
        names = list(self.parameters)
        c, buffer, found = ffi.new("CalCombination *"), ffi.new("char[]", 8000), []
        for i in range(self._solved().combinations):
            check(lib.cal_identification_combination(self._c, i, c))
            lib.cal_identification_combination_text(self._c, i, buffer, 8000)
            factors = {name: c.factor[k] for k, name in enumerate(names) if c.factor[k]}
            found.append(Combination(text(buffer), factors, c.model, c.value, c.deviation, c.consistent))
        return found

    @property
    def fits(self) -> dict[str, ForceFit]:
        """By names of speeds, those that have equations."""
        self._solved()
        fit, found = ffi.new("CalForceFit *"), {}
        for u, name in enumerate(self._group.u_names):
            check(lib.cal_identification_fit(self._c, u, fit))
            if fit.equations:
                found[name] = ForceFit(fit.equations, fit.force, fit.model, fit.residual)
        return found

    def body(self, name: str) -> MassProperties:
        """Mass, center of mass and inertia about it, as found."""
        self._solved()
        names = self._group.body_names
        d = ffi.new("CalBodyDef *")
        check(lib.cal_identification_body(self._c, names.index(self._group.body(name).name), d))
        inertia = np.array([[d.inertia.m[i][j] for j in range(3)] for i in range(3)])
        return MassProperties(d.mass, np.array([d.com.x, d.com.y, d.com.z]), inertia)

    def predict(self, q: npt.ArrayLike, u: npt.ArrayLike, udot: npt.ArrayLike) -> Array:
        """Forces [nu] that a motion takes with the parameters found."""
        self._solved()
        group = self._group
        at, speed, tau = vector(q, group.nq, "q"), vector(u, group.nu, "u", group.u_names), np.empty(group.nu)
        acceleration = vector(udot, group.nu, "udot", group.u_names)
        check(lib.cal_identification_predict(self._c, self._state(at, speed), pointer(acceleration), ffi.NULL, pointer(tau)))
        return tau
