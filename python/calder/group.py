# SPDX-License-Identifier: Apache-2.0
"""Group: one compiled system of bodies in one gravity field, with its algorithms."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._arrays import Array
from ._calder import ffi, lib
from ._names import Body, read_bodies, read_names, read_nodes, text, vec3
from ._shared import drop, hold, share
from .batch import Batched
from .derivatives import Derivatives
from .errors import ArgumentError, check, name_bytes, new_error, unknown
from .linear import LinearAlgorithms
from .loops import Loops
from .operators import Operators
from .state import State

if TYPE_CHECKING:
    from .branches import Branches

SOLVERS = {"auto": 0, "recursive": 1, "dense": 2}


class Group(Batched, Loops, LinearAlgorithms, Operators, Derivatives):
    """One group of a model: bodies, coordinates and speeds, and every algorithm of the library on them.

    Immutable; any number of threads may share it. All quantities are SI, angles in rad, spatial vectors angular first, world
    axes. Algorithms take a State of this group, write into `out=` where it is given, and return a new array otherwise.
    """

    def _compile(self, setup: Any, group_id: int, solver: str = "auto") -> None:
        """Fills the group from a setup, which it keeps alive."""
        if solver not in SOLVERS:
            raise unknown("solver", solver, SOLVERS)
        options = ffi.new("CalCompileOptions *", {"solver": SOLVERS[solver]})
        options.group.value = group_id
        place, error = ffi.new("CalModel **"), new_error()
        check(lib.cal_model_compile(lib.cal_setup_desc(setup), options, place, error), error)
        size, held = lib.cal_model_size(place[0]), hold(setup)  # functions of drives belong to the setup

        def destroy(model: Any) -> None:
            lib.cal_model_destroy(model)
            drop(held)

        self._solver = solver
        self._adopt(share(place[0], destroy, size), setup)

    def _adopt(self, model: Any, setup: Any, owner: Any = None) -> None:
        """Reads names and counts of a compiled model; keeps its owner alive."""
        self._m = model
        self._setup = setup
        self._owner = owner
        self._work_size = lib.cal_work_size(self._m)
        self.name: str = text(lib.cal_model_name(self._m))
        self.bodies: tuple[Body, ...] = read_bodies(self._m)
        self.nodes: tuple[str, ...] = read_nodes(self._m, self.bodies)
        self._node_index = {path: i for i, path in enumerate(self.nodes)}
        self._q_index, self._u_index = read_names(self._m, self.bodies)
        self.nq: int = lib.cal_model_q_count(self._m)
        self.nu: int = lib.cal_model_u_count(self._m)
        self._shape_u = (self.nu,)

    # ---- what there is ------------------------------------------------------------------------

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates in order."""
        return self._q_index.names

    @property
    def u_names(self) -> tuple[str, ...]:
        """Names of the speeds, and of generalized forces, in order."""
        return self._u_index.names

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in the model's order."""
        return tuple(body.name for body in self.bodies)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, one per body."""
        return tuple(body.joint for body in self.bodies)

    def body(self, name: str | int) -> Body:
        """A body by name or index."""
        if isinstance(name, str):
            for body in self.bodies:
                if body.name == name:
                    return body
            raise unknown("body", name, self.body_names)
        return self.bodies[name]

    def node_index(self, node: str | int) -> int:
        """Index of a node by its path "body/node" or "body"; an index is checked."""
        if isinstance(node, str):
            index = self._node_index.get(node)
            if index is None:
                index = lib.cal_model_find_node(self._m, name_bytes(node))
                if index < 0:
                    raise unknown("node", node, self.nodes)
            return index
        if isinstance(node, bool) or not hasattr(node, "__index__"):
            raise ArgumentError(f"a node goes by its path or its index, not by {node!r}")
        if not 0 <= int(node) < len(self.nodes):
            raise ArgumentError(f"no node {node}; there are {len(self.nodes)}")
        return int(node)

    def u_index(self, name: str) -> int | slice:
        """Where a joint's speeds are in u."""
        return self._u_index[name]

    def q_index(self, name: str) -> int | slice:
        """Where a joint's coordinates are in q."""
        return self._q_index[name]

    @property
    def gravity_vector(self) -> Array:
        """Uniform gravitational acceleration [m/s^2]."""
        return vec3(lib.cal_model_gravity(self._m))

    @property
    def mass(self) -> float:
        """Of all bodies [kg]."""
        return float(sum(body.mass for body in self.bodies))

    @property
    def solver(self) -> str:
        """What forward dynamics uses: "recursive" or "dense"."""
        return str(list(SOLVERS)[lib.cal_model_solver(self._m)])

    def flops(self, solver: Literal["auto", "recursive", "dense"] = "auto") -> float:
        """Estimate of the operations of one forward dynamics, by the solver in use ("auto") or by another."""
        if solver not in SOLVERS:
            raise unknown("solver", solver, SOLVERS)
        return float(lib.cal_model_flops(self._m, SOLVERS[self.solver if solver == "auto" else solver]))

    # ---- states -------------------------------------------------------------------------------

    def state(self, q: Any = None, u: Any = None, t: float = 0.0) -> State:
        """A new state: as the model file gives it (joints that it does not name are neutral), or with q and u as given."""
        state = State(self)
        error = new_error()
        check(lib.cal_setup_apply_state(self._setup, self._m, state._c, error), error)
        state.t = t
        if q is not None:
            state.q = q
        if u is not None:
            state.u = u
        return state

    def neutral(self) -> State:
        """A new state with all joints at zero and quaternions at identity."""
        return State(self)

    def parallel(self, threads: int, branches: int = 0, *, forced: bool = False,
                 cross_loops: Literal["auto", "never", "always"] = "auto") -> Branches:
        """The group divided into branches, for forward dynamics of a large model by several threads.

        forced: divide even where it is not faster. cross_loops: whether loops may span branches ("auto": where it is faster).
        """
        from .branches import Branches

        return Branches(self, threads, branches, forced=forced, cross_loops=cross_loops)

    def _own(self, state: Any) -> None:
        if not isinstance(state, State):
            raise ArgumentError(f"expected a calder.State (model.state()), not {type(state).__name__}")
        if state.group is not self:
            raise ArgumentError(f"this state is of another model ({state.group.name!r}); make one by model.state()")

    def _fail(self, status: int, state: State, where: str) -> None:
        """Raises for a numerical failure, with the degree of freedom where it was met."""
        dof = lib.cal_work_failed_dof(state._work) if status > 0 else -1
        detail = f" (at {self.u_names[dof]!r})" if 0 <= dof < self.nu else ""
        from .errors import make, status_text

        raise make(status, f"{where}: {status_text(status)}{detail}")

    def __reduce__(self) -> Any:
        return _restore, (setup_text(self._setup), text(lib.cal_setup_name(self._setup)), self._solver, self.name)

    def __deepcopy__(self, memo: Any) -> Group:
        return self

    def __copy__(self) -> Group:
        return self

    def _table(self) -> list[tuple[str, str]]:
        rows = [("bodies", str(len(self.bodies))), ("degrees of freedom", str(self.nu)), ("coordinates", str(self.nq))]
        loops = lib.cal_model_loop_count(self._m)
        if loops:
            rows.append(("loops", f"{loops}, {lib.cal_model_row_count(self._m)} equations"))
        rows.append(("mass", f"{self.mass:g} kg"))
        rows.append(("gravity", np.array2string(self.gravity_vector) + " m/s^2"))
        return rows

    def __repr__(self) -> str:
        return f"<calder.{type(self).__name__} {self.name!r}: {len(self.bodies)} bodies, {self.nu} dof>"


def setup_text(setup: Any) -> str:
    """A setup as a model file."""
    place, length, error = ffi.new("char **"), ffi.new("size_t *"), new_error()
    status = lib.glue_setup_text(setup, place, length, error)
    try:
        check(status, error)
        return bytes(ffi.buffer(place[0], length[0])).decode()
    finally:
        lib.free(place[0])


def _restore(content: str, source: str, solver: str, name: str) -> Group:
    from .model import loads

    return loads(content, name=source, solver=solver).groups[name]
