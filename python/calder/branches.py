# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of one large model by several threads (calder/branches.h, docs/parallel.md)."""
from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, output, pointer
from ._calder import ffi, lib
from ._handle import forked
from ._names import text
from ._shared import drop, hold
from .errors import ArgumentError, check, make, new_error, status_text, unknown

if TYPE_CHECKING:
    from .group import Group
    from .loops import Projection
    from .state import State

CROSS_LOOPS: dict[str, int] = {text(lib.cal_cross_loops_name(i)): i for i in range(lib.CAL_CROSS_LOOPS_ALWAYS + 1)}
"""Whether loops may span branches, by name: "auto", "never", "always"."""


@dataclass(frozen=True)
class Branch:
    """A branch of a divided model."""

    parent: int
    """Index of its parent branch; -1: the ground."""
    first_body: str
    """The body whose joint it begins with."""
    bodies: int
    dofs: int
    """Degrees of freedom, modes included."""
    loops: int
    decoupled: bool
    """It is solved at the same time as its parent branch, and joined with it."""
    thread: int
    flops: float
    """Estimate of operations for one evaluation."""


class Branches:
    """A group divided into branches, evaluated by threads that start here and end with this object or close().

    The result depends on how the model is divided, in the last digits, and not on the number of threads.
    """

    def __init__(self, group: Group, threads: int = 1, branches: int = 0, *, forced: bool = False,
                 cross_loops: str = "auto") -> None:
        if cross_loops not in CROSS_LOOPS:
            raise unknown("choice of cross_loops", cross_loops, CROSS_LOOPS)
        options = ffi.new("CalBranchOptions *", {"threads": threads, "branches": branches, "forced": int(forced),
                                                 "cross_loops": CROSS_LOOPS[cross_loops], "not_pinned": 1})
        place, error = ffi.new("CalBranches **"), new_error()
        model = group._m
        if group._owner is not None:
            raise ArgumentError("branches are for the groups of a model, not of a simulation")
        check(lib.cal_branches_create(model, options, place, error), error)
        self._pid = pid = os.getpid()
        held = hold(model)

        def destroy(c: Any) -> None:
            if pid == os.getpid():  # a child has none of the threads that would have to end
                lib.cal_branches_destroy(c)
                drop(held)

        self._c = ffi.gc(place[0], destroy)
        self.group = group
        self._evaluated = False  # multipliers are those of an evaluation
        self._lock_state = group.neutral()  # its lock guards the branches: calls must not overlap

    @property
    def count(self) -> int:
        """Branches that were made."""
        return int(lib.cal_branches_count(self._c))

    @property
    def threads(self) -> int:
        """Threads that work on them."""
        return int(lib.cal_branches_threads(self._c))

    @property
    def speedup(self) -> float:
        """That the partition was chosen for, by counts of operations."""
        return float(lib.cal_branches_speedup(self._c))

    @property
    def work(self) -> float:
        """Operations of all branches and joins, relative to the model in one piece."""
        return float(lib.cal_branches_work(self._c))

    @property
    def cross_loops(self) -> bool:
        """Loops may span these branches."""
        return bool(lib.cal_branches_cross_loops(self._c))

    @property
    def branches(self) -> tuple[Branch, ...]:
        """What each branch holds, parents before children."""
        info, found = ffi.new("CalBranchInfo *"), []
        for i in range(self.count):
            check(lib.cal_branches_info(self._c, i, info))
            found.append(Branch(info.parent, self.group.bodies[info.first_body].name, info.bodies, info.dofs, info.loops,
                                bool(info.decoupled), info.thread, info.flops))
        return tuple(found)

    def forward(self, state: State, tau: npt.ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """Accelerations udot [nu], as group.forward()."""
        self._own(state)
        result = output(out, self.group._shape_u)
        with self._lock_state, state:
            state._take_tau(tau)
            self._done(lib.cal_branches_forward(self._c, state._c, state._input, pointer(result)), "forward dynamics")
        return result

    def implicit(self, state: State, h: float, tau: npt.ArrayLike | None = None, *, elastic: State | None = None,
                 out: Array | None = None) -> Array:
        """Accelerations udot [nu] for a linearly implicit step of size h [s], as group.implicit()."""
        self._own(state)
        self._own(elastic or state)
        if not (h >= 0 and math.isfinite(h)):
            raise ArgumentError(f"h: expected a time >= 0 [s], not {h!r}")
        result = output(out, self.group._shape_u)
        with self._lock_state, state:
            state._take_tau(tau)
            self._done(lib.cal_branches_implicit(self._c, state._c, (elastic or state)._c, state._input, h, pointer(result)),
                       "implicit dynamics")
        return result

    def multipliers(self) -> Array:
        """Multipliers [nrows] of the last forward() or implicit(), as group.loop_forces() has them; where loops span branches."""
        result = np.empty(self.group.nrows)
        with self._lock_state:
            if not self._evaluated:
                raise make(lib.CAL_ERR_STAGE, "multipliers: call forward() or implicit() first")
            check(lib.cal_branches_multipliers(self._c, pointer(result)), where="multipliers (loops do not span the branches)")
        return result

    def project(self, state: State, *, frozen: Any = None, tolerance: float = 0.0, max_iterations: int = 0) -> Projection:
        """Moves positions, then speeds of a state to the loops, as group.project(), by the smallest change in the metric of M."""
        self._own(state)
        options = ffi.new("CalProjectOptions *", {"tolerance": tolerance, "max_iterations": max_iterations})
        with self._lock_state, state:
            self._evaluated = False
            return self.group._project(state, options, frozen, lambda report: lib.cal_branches_project(
                self._c, state._c, options, report))

    @property
    def error(self) -> float:
        """Estimate of the relative error of the last evaluation, as group.loop_error()."""
        return float(lib.cal_branches_error(self._c))

    def _own(self, state: State) -> None:
        self.group._own(state)
        if self._pid != os.getpid():
            raise forked()

    def _done(self, status: int, where: str) -> None:
        self._evaluated = status == 0
        if status:
            dof = lib.cal_branches_failed_dof(self._c) if status > 0 else -1
            detail = f" (at {self.group.u_names[dof]!r})" if 0 <= dof < self.group.nu else ""
            raise make(status, f"{where} in branches: {status_text(status)}{detail}")

    def __reduce__(self) -> Any:
        raise TypeError("branches are not pickled; make them anew")

    def __repr__(self) -> str:
        return f"<calder.Branches: {self.count} branches, {self.threads} threads>"
