# SPDX-License-Identifier: Apache-2.0
"""Linear equations of motion about a state, modes of the system and of flexible bodies (calder/linear.h, flex.h)."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, pointer
from ._calder import ffi, lib
from ._core import Core
from ._names import mat3, vec3
from .errors import ArgumentError, check, name_bytes, new_error

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors
    from .state import State

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
class FlexReport:
    """Mass properties and modes of a flexible body, undeformed."""

    mass: float
    """[kg]"""
    com: Array
    """[m]"""
    inertia: Array
    """About the center of mass [kg m^2]."""
    modes: tuple[FlexMode, ...]


class LinearAlgorithms(Core):
    """Linearization and modes of a group."""

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
        """Mass properties and modes of a flexible body."""
        info = self.body(body)
        if not info.modes:
            raise ArgumentError(f"body {body!r} is rigid")
        desc = lib.cal_setup_desc(self._setup)
        report, modes, error = ffi.new("CalFlexReport *"), ffi.new("CalFlexMode[]", info.modes), new_error()
        check(lib.cal_flex_report(desc, lib.cal_desc_find_body(desc, name_bytes(body)), report, modes, info.modes, error), error)
        listed = tuple(FlexMode(m.frequency, m.free_frequency, m.damping_ratio, np.array(list(m.effective_mass)),
                                np.array(list(m.effective_inertia))) for m in modes[0 : report.modes])
        return FlexReport(report.mass, vec3(report.com), mat3(report.inertia), listed)


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
