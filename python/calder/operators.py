# SPDX-License-Identifier: Apache-2.0
"""The spatial operators of the recursion as products with vectors (calder/operators.h)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, array, pointer, vector
from ._calder import ffi, lib
from ._core import Core
from .errors import ArgumentError, check

if TYPE_CHECKING:
    from .state import State

_LINKS = {"gather": lib.cal_operator_gather, "scatter": lib.cal_operator_scatter,
          "gather_articulated": lib.cal_operator_gather_articulated,
          "scatter_articulated": lib.cal_operator_scatter_articulated}
_INERTIAS = {"link": lib.cal_link_inertia, "composite": lib.cal_link_composite_inertia,
             "articulated": lib.cal_link_articulated_inertia}


class Operators(Core):
    """Operators of a group: stacked spatial vectors [nlinks, 6], one per elementary link, world axes."""

    @property
    def nlinks(self) -> int:
        """Elementary links of the recursion."""
        return int(lib.cal_model_link_count(self._m))

    def _factored(self, state: State) -> None:
        status = lib.cal_mass_factor(self._m, state._c, state._work)
        if status:
            self._fail(status, state, "mass factor")

    def _call(self, state: State, call: Any, x: Array, y: Array, spatial_x: bool, spatial_y: bool) -> Array:
        p, q = pointer(x), pointer(y)
        with state:
            self._factored(state)
            status = call(self._m, state._work, ffi.cast("CalSpatial *", p) if spatial_x else p,
                          ffi.cast("CalSpatial *", q) if spatial_y else q)
            if status:
                self._fail(status, state, "operator")
        return y

    def operator(self, state: State, name: str, x: npt.ArrayLike) -> Array:
        """A x, A' x, psi x or psi' x [nlinks, 6]: "gather", "scatter", "gather_articulated", "scatter_articulated"."""
        self._own(state)
        if name not in _LINKS:
            raise ArgumentError(f"operator is one of {', '.join(_LINKS)}, not {name!r}")
        shape = (self.nlinks, 6)
        return self._call(state, _LINKS[name], array(x, shape, "x"), np.empty(shape), True, True)

    def joint_columns(self, state: State, x: npt.ArrayLike, *, transpose: bool = False) -> Array:
        """H x [nu] of x [nlinks, 6]; transpose: H' x [nlinks, 6] of x [nu]."""
        self._own(state)
        if transpose:
            v = vector(x, self.nu, "x", self.u_names)
            return self._call(state, lib.cal_operator_joint_transpose, v, np.empty((self.nlinks, 6)), False, True)
        return self._call(state, lib.cal_operator_joint, array(x, (self.nlinks, 6), "x"), np.empty(self.nu), True, False)

    def innovations(self, state: State, x: npt.ArrayLike, *, transpose: bool = False, inverse: bool = False) -> Array:
        """L x, L' x, L^-1 x or (L^-1)' x [nu] with M = L D L'."""
        self._own(state)
        calls = {(False, False): lib.cal_innovations_mul, (True, False): lib.cal_innovations_mul_transpose,
                 (False, True): lib.cal_innovations_solve, (True, True): lib.cal_innovations_solve_transpose}
        v = vector(x, self.nu, "x", self.u_names)
        return self._call(state, calls[bool(transpose), bool(inverse)], v, np.empty(self.nu), False, False)

    def innovations_diagonal(self, state: State) -> Array:
        """D [nu] of M = L D L'."""
        self._own(state)
        d = np.empty(self.nu)
        with state:
            self._factored(state)
            check(lib.cal_innovations_diagonal(self._m, state._work, pointer(d)))
        return d

    def link_inertia(self, state: State, link: int, kind: str = "link") -> Array:
        """6 x 6 inertia of a link about its reference point, world axes: "link", "composite" or "articulated"."""
        self._own(state)
        if kind not in _INERTIAS:
            raise ArgumentError(f"kind is one of {', '.join(_INERTIAS)}, not {kind!r}")
        if not 0 <= link < self.nlinks:
            raise ArgumentError(f"no link {link}; there are {self.nlinks}")
        M = np.empty((6, 6))
        with state:
            self._factored(state)
            check(_INERTIAS[kind](self._m, state._work, link, pointer(M)))
        return M

    def link_info(self, link: int) -> tuple[int, slice]:
        """(parent link, -1: ground; its speeds in u, modes not counted)."""
        parent, u, nu = ffi.new("int *"), ffi.new("int *"), ffi.new("int *")
        check(lib.cal_link_info(self._m, link, parent, u, nu), where=f"link {link}")
        return int(parent[0]), slice(u[0], u[0] + nu[0])

    def flex_links(self, body: str | int) -> tuple[int, int]:
        """(link that carries the frame of a flexible body, link that its modes set out from; -1: ground)."""
        info = self._flexible_body(body)
        carrier, head = ffi.new("int *"), ffi.new("int *")
        check(lib.cal_flex_links(self._m, info.index, carrier, head), where=f"body {info.name!r}")
        return int(carrier[0]), int(head[0])

    def flex_inertia(self, state: State, body: str | int) -> tuple[Array, Array]:
        """(E [6, m], Mee [m, m]) of a flexible body with m modes: forces per modal acceleration, and the modal mass."""
        self._own(state)
        info = self._flexible_body(body)
        E, M = np.empty((6, info.modes)), np.empty((info.modes, info.modes))
        with state:
            self._factored(state)
            check(lib.cal_flex_inertia(self._m, state._work, info.index, pointer(E), pointer(M)))
        return E, M
