# SPDX-License-Identifier: Apache-2.0
"""Poses, velocities, accelerations and Jacobians of nodes; compliance and inertia at nodes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, flags, output, pointer, vector
from ._calder import ffi, lib
from ._core import Core
from .errors import ArgumentError, make, unknown
from .pose import Pose

if TYPE_CHECKING:
    from .state import State


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of all nodes of a group at one state, world axes; a copy that does not change with the state."""

    nodes: tuple[str, ...]
    position: Array
    """[nodes, 3] of the origins [m]."""
    rotation: Array
    """[nodes, 3, 3]"""
    velocity: Array
    """[nodes, 6]: angular [rad/s], linear [m/s]."""
    acceleration: Array | None
    """[nodes, 6]: angular [rad/s^2], linear [m/s^2]; None without udot."""

    def __getitem__(self, node: str) -> Pose:
        """Pose of a node."""
        try:
            i = self.nodes.index(node)
        except ValueError:
            raise unknown("node", node, self.nodes) from None
        return Pose(self.position[..., i, :], self.rotation[..., i, :, :])


@dataclass(frozen=True)
class Reach:
    """How near nodes came to where they are wanted."""

    distance: float
    """The largest that is left [m]."""
    angle: float
    """The largest that is left [rad]."""
    at_limit: int
    """Degrees of freedom that stand at a limit."""
    iterations: int


class Kinematics(Core):
    """Kinematics of a group."""

    def kinematics(self, state: State, udot: npt.ArrayLike | None = None) -> Motion:
        """Poses and velocities of all nodes, and accelerations where udot [nu] is given."""
        self._own(state)
        n = len(self.nodes)
        a = None if udot is None else vector(udot, self.nu, "udot", self.u_names)
        position, rotation, velocity = np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 6))
        acceleration = None if a is None else np.empty((n, 6))
        with state:
            status = lib.cal_kinematics(self._m, state._c, ffi.NULL if a is None else pointer(a), state._work)
            status = status or lib.glue_nodes(
                self._m, state._work, pointer(position), pointer(rotation), pointer(velocity),
                ffi.NULL if acceleration is None else pointer(acceleration),
            )
            if status:
                self._fail(status, state, "kinematics")
        return Motion(self.nodes, position, rotation, velocity, acceleration)

    def _at_node(self, state: State, node: str | int, call: Any, place: Any, where: str) -> Array:
        self._own(state)
        index = self.node_index(node)
        with state:
            status = lib.cal_kinematics(self._m, state._c, ffi.NULL, state._work)
            status = status or call(self._m, state._work, index, place)
            if status:
                self._fail(status, state, where)
        return np.frombuffer(ffi.buffer(place)).copy()

    def node_pose(self, state: State, node: str | int) -> Pose:
        """Pose of a node in the world."""
        x = self._at_node(state, node, lib.cal_node_pose, ffi.new("CalPose *"), "pose")
        return Pose(x[9:], x[:9].reshape(3, 3))

    def node_velocity(self, state: State, node: str | int) -> Array:
        """[w, v] of a node [rad/s, m/s]."""
        return self._at_node(state, node, lib.cal_node_velocity, ffi.new("CalSpatial *"), "velocity")

    def node_bias(self, state: State, node: str | int) -> Array:
        """Velocity-dependent acceleration of a node: A = J udot + bias [rad/s^2, m/s^2]."""
        return self._at_node(state, node, lib.cal_node_bias, ffi.new("CalSpatial *"), "bias acceleration")

    def reach(self, state: State, targets: Mapping[str | int, Pose | npt.ArrayLike], *, lower: npt.ArrayLike | None = None,
              upper: npt.ArrayLike | None = None, frozen: Any = None, tolerance: float = 0.0, max_iterations: int = 0) -> Reach:
        """Inverse kinematics: moves state.q until nodes are where they are wanted, within limits, with loops closed.

        targets: for each node a Pose, or a place [3] alone, whose components that are nan do not count. lower, upper [nu]: limits
        of coordinates (infinite: none). frozen [nu] flags: by default those described as prescribed. Raises where it gets stuck;
        the state is then the nearest that was found, and another start may succeed.
        """
        self._own(state)
        options = ffi.new("CalReachOptions *", {"tolerance": tolerance, "max_iterations": max_iterations})
        kept: list[Any] = []
        for name, value in (("lower", lower), ("upper", upper)):
            if value is not None:
                kept.append(vector(value, self.nu, name, self.u_names))
                setattr(options, name, pointer(kept[-1]))
        if frozen is not None:
            kept.append(ffi.from_buffer("uint8_t[]", flags(frozen, self.nu, "frozen", self.u_names)))
            options.frozen = kept[-1]
        wanted = ffi.new("CalNodeTarget[]", [self._target(node, value) for node, value in targets.items()])
        report = ffi.new("CalReach *")
        with state:
            status = lib.cal_inverse_kinematics(self._m, state._c, wanted, len(wanted), options, state._work, report)
            if status and status != lib.CAL_NOT_CONVERGED:
                self._fail(status, state, "inverse kinematics")
        if status:
            raise make(status, f"inverse kinematics: node {list(targets)[report.target]!r} is not reached; {report.distance:g} m "
                               f"and {report.angle:g} rad are left")
        return Reach(report.distance, report.angle, report.at_limit, report.iterations)

    def _target(self, node: str | int, value: Pose | npt.ArrayLike) -> dict[str, Any]:
        """A CalNodeTarget."""
        if isinstance(value, Pose):
            r, R, counts, rotation = value.position, value.rotation, [True] * 3, 7
        else:
            place = np.array(value, dtype=float)
            if place.shape != (3,):
                raise ArgumentError(f"target of node {node!r} has shape {place.shape}, not (3,), and is no Pose")
            counts, rotation, R = ~np.isnan(place), 0, np.eye(3)
            r = np.where(counts, place, 0.0)
        pose = {"R": {"m": np.asarray(R, dtype=float).tolist()}, "r": dict(zip("xyz", map(float, r)))}
        return {"node": self.node_index(node), "pose": pose, "translation": sum(1 << k for k in range(3) if counts[k]),
                "rotation": rotation}

    def jacobian(self, state: State, node: str | int, *, out: Array | None = None) -> Array:
        """J [6, nu]: velocity of the node = J u, rows angular first, world axes. Costs as much as the path to the ground."""
        self._own(state)
        index, result = self.node_index(node), output(out, (6, self.nu))
        with state:
            status = lib.cal_node_jacobian_at(self._m, state._c, index, state._work, ffi.NULL, pointer(result))
            if status:
                self._fail(status, state, "Jacobian")
        return result

    def jacobians(self, state: State, nodes: Sequence[str | int], *, out: Array | None = None) -> Array:
        """J [k, 6, nu] of several nodes."""
        self._own(state)
        c = ffi.new("int[]", [self.node_index(node) for node in nodes])
        result = output(out, (len(nodes), 6, self.nu))
        with state:
            status = lib.cal_kinematics(self._m, state._c, ffi.NULL, state._work)
            status = status or lib.cal_node_jacobians(self._m, state._work, c, len(nodes), pointer(result))
            if status:
                self._fail(status, state, "Jacobians")
        return result

    def node_path(self, node: str | int) -> npt.NDArray[np.intp]:
        """Indices of the degrees of freedom that can move a node, ascending; other columns of its Jacobian are zero."""
        index, count = self.node_index(node), ffi.new("int *")
        dofs = ffi.new("int[]", self.nu + 1)
        if lib.cal_node_path(self._m, index, count, dofs):
            raise ArgumentError(f"node {node!r} has no path")
        return np.array(list(dofs[0 : count[0]]), dtype=np.intp)

    def jacobian_path(self, state: State, node: str | int, *, out: Array | None = None) -> Array:
        """J [6, k]: its columns of `node_path(node)` alone."""
        self._own(state)
        index, result = self.node_index(node), output(out, (6, len(self.node_path(node))))
        with state:
            status = lib.cal_kinematics(self._m, state._c, ffi.NULL, state._work)
            status = status or lib.cal_node_jacobian_path(self._m, state._work, index, pointer(result))
            if status:
                self._fail(status, state, "Jacobian")
        return result

    def compliance(self, state: State, nodes: str | Sequence[str | int], *, tree: bool = False) -> Array:
        """Accelerations of nodes per wrench on them, [6k, 6k]: J M^-1 J' with the loops held; tree=True: loops open."""
        return self._at_nodes(state, nodes, lib.cal_node_compliance_tree if tree else lib.cal_node_compliance)

    def operational_inertia(self, state: State, nodes: str | Sequence[str | int]) -> tuple[Array, int]:
        """(Lambda [6k, 6k], rank): pseudo-inverse of the compliance; directions that cannot move have none."""
        rank = ffi.new("int *")
        return self._at_nodes(state, nodes, lib.cal_node_inertia, rank), int(rank[0])

    def _at_nodes(self, state: State, nodes: str | Sequence[str | int], call: Any, *more: Any) -> Array:
        self._own(state)
        chosen: list[str | int] = [nodes] if isinstance(nodes, (str, int)) else list(nodes)
        k = 6 * len(chosen)
        c = ffi.new("int[]", [self.node_index(node) for node in chosen])
        scratch, result = np.empty(max(self.nu, k * (k + 3)) + 1), np.empty((k, k))
        with state:
            status = lib.cal_mass_factor(self._m, state._c, state._work)
            status = status or call(self._m, state._work, c, len(chosen), pointer(scratch), pointer(result), *more)
            if status:
                self._fail(status, state, "compliance")
        return result
