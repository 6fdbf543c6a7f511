# SPDX-License-Identifier: Apache-2.0
"""What the parts of Group share: the compiled model and its counts."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arrays import Array, Names
from .errors import ArgumentError

if TYPE_CHECKING:
    from ._names import Body
    from .state import State


class Core:
    """Members that Group fills; the algorithms in its base classes read them."""

    _m: Any
    _setup: Any
    _q_index: Names
    _u_index: Names
    _shape_u: tuple[int]
    _work_size: int
    name: str
    nq: int
    nu: int
    bodies: tuple[Body, ...]
    nodes: tuple[str, ...]

    def _flexible_body(self, body: str | int) -> Body:
        info = self.body(body)
        if not info.modes:
            raise ArgumentError(f"body {info.name!r} is rigid")
        return info

    if TYPE_CHECKING:

        @property
        def u_names(self) -> tuple[str, ...]: ...
        @property
        def q_names(self) -> tuple[str, ...]: ...
        def body(self, name: str | int) -> Body: ...
        def node_index(self, node: str | int) -> int: ...
        def neutral(self) -> State: ...
        def _own(self, state: Any) -> None: ...
        def _forward_arrays(self, q: Any, u: Any, tau: Any, **options: Any) -> Array: ...
        def _fail(self, status: int, state: State, where: str) -> None: ...
