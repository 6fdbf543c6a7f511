# SPDX-License-Identifier: Apache-2.0
"""The mass matrix without the zeros that branches give, its factor and solutions (calder/sparse_mass.h)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ._arrays import Array, output, pointer, vector
from ._calder import ffi, lib
from .errors import check

if TYPE_CHECKING:
    from .dynamics import Dynamics
    from .state import State


class SparseMass:
    """Lower triangle of the mass matrix at a state, in compressed rows. `m.sparse_mass(s)` makes it.

        S = m.sparse_mass(s)
        S.values[S.rows[1:] - 1] += 0.01     # the diagonal ends each row
        x = S.factor().solve(b)
        lower = scipy.sparse.csr_matrix((S.values, S.columns, S.rows))

    Row i has the degrees of freedom between the ground and i. The values are the caller's to change: `factor`, `@` and
    `dense` take them as they are.
    """

    rows: npt.NDArray[np.intp]
    """[nu + 1] first entry of each row, then the number of entries."""
    columns: npt.NDArray[np.intc]
    """[entries] ascending within a row, whose last is the diagonal."""
    values: Array
    """[entries]"""

    def __init__(self, group: Dynamics, state: State) -> None:
        self._group, self._state = group, state
        count = lib.cal_mass_sparse_count(group._m)
        self.rows, self.columns = np.empty(group.nu + 1, np.intp), np.empty(count, np.intc)
        self.values = np.empty(count)
        check(lib.cal_mass_sparse_pattern(group._m, ffi.from_buffer("size_t[]", self.rows), ffi.from_buffer("int[]", self.columns)))
        with state:
            status = lib.cal_mass_sparse(group._m, state._c, state._work, pointer(self.values))
            if status:
                group._fail(status, state, "sparse mass matrix")

    def _values(self) -> Array:
        return vector(self.values, len(self.columns), "values")

    def dense(self) -> Array:
        """Both triangles [nu, nu]."""
        M = np.zeros((self._group.nu, self._group.nu))
        at = np.repeat(np.arange(self._group.nu), np.diff(self.rows))
        M[at, self.columns] = M[self.columns, at] = self._values()
        return M

    def __matmul__(self, x: npt.ArrayLike) -> Array:
        """M x [nu]."""
        group = self._group
        v, y, values = vector(x, group.nu, "x", group.u_names), np.empty(group.nu), self._values()
        check(lib.cal_mass_sparse_mul(group._m, pointer(values), pointer(v), pointer(y)))
        return y

    def factor(self) -> SparseFactor:
        """M = L'D L with the same pattern; a pivot that is not positive raises NumericalError with its name."""
        group, values = self._group, self._values().copy()
        with self._state:
            status = lib.cal_mass_sparse_factor(group._m, self._state._work, pointer(values))
            if status:
                group._fail(status, self._state, "factor of the sparse mass matrix")
        return SparseFactor(group, values)


class SparseFactor:
    """M = L'D L in the pattern of its SparseMass: D on the diagonal, L below it with ones on its diagonal."""

    values: Array
    """[entries]"""

    def __init__(self, group: Dynamics, values: Array) -> None:
        self._group, self.values = group, values
        self.values.flags.writeable = False

    def solve(self, b: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """x = M^-1 b [nu]."""
        group = self._group
        v, x = vector(b, group.nu, "b", group.u_names), output(out, (group.nu,))
        check(lib.cal_mass_sparse_solve(group._m, ffi.from_buffer("double[]", self.values), pointer(v), pointer(x)))
        return x
