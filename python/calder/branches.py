# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of one large model by several threads (calder/branches.h, docs/parallel.md)."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ._arrays import Array, output, pointer
from ._calder import ffi, lib
from ._handle import forked
from .errors import check, fail, new_error

if TYPE_CHECKING:
    from .group import Group
    from .state import State


class Branches:
    """A group divided into branches, evaluated by threads that start here and end with this object or close().

    The result depends on how the model is divided, in the last digits, and not on the number of threads.
    """

    def __init__(self, group: Group, threads: int = 1, branches: int = 0, *, forced: bool = False) -> None:
        options = ffi.new("CalBranchOptions *", {"threads": threads, "branches": branches, "forced": int(forced),
                                                 "not_pinned": 1})
        place, error = ffi.new("CalBranches **"), new_error()
        model = group._m
        check(lib.cal_branches_create(model, options, place, error), error)
        self._pid = pid = os.getpid()

        def destroy(c: Any, _model: Any = model) -> None:
            if pid == os.getpid():  # a child has none of the threads that would have to end
                lib.cal_branches_destroy(c)

        self._c = ffi.gc(place[0], destroy)
        self.group = group
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

    def forward(self, state: State, tau: npt.ArrayLike | None = None, *, out: Array | None = None) -> Array:
        """Accelerations udot [nu], as group.forward()."""
        self.group._own(state)
        result = output(out, self.group._shape_u)
        if self._pid != os.getpid():
            raise forked()
        with self._lock_state, state:
            state._take_tau(tau)
            status = lib.cal_branches_forward(self._c, state._c, state._input, pointer(result))
        if status:
            fail(status, None, "forward dynamics in branches")
        return result

    def __reduce__(self) -> Any:
        raise TypeError("branches are not pickled; make them anew")

    def __repr__(self) -> str:
        return f"<calder.Branches: {self.count} branches, {self.threads} threads>"
