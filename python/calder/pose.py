# SPDX-License-Identifier: Apache-2.0
"""Poses and the motion of nodes."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._arrays import Array

if TYPE_CHECKING:
    from .state import State


def quaternion_of(R: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation matrix, w >= 0."""
    t = np.trace(R)
    candidates = np.array([t, R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(candidates))
    q = np.empty(4)
    if k == 0:
        q[:] = 1 + t, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1 + 2 * R[i, i] - t
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + m] = R[m, i] + R[i, m]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0 else q


@dataclass(frozen=True, eq=False)
class Pose:
    """Pose of a frame in the world: a point p of the frame is at rotation @ p + position."""

    position: Array
    """Of the origin [m]."""
    rotation: Array
    """3 x 3: components in the frame to components in the world."""

    @property
    def quaternion(self) -> Array:
        """(w, x, y, z), w >= 0."""
        return quaternion_of(self.rotation)

    def as_quat(self, order: Literal["wxyz", "xyzw"] = "wxyz") -> Array:
        """The quaternion in the order that is asked for: SciPy and ROS want "xyzw"."""
        q = self.quaternion
        if order == "wxyz":
            return q
        if order == "xyzw":
            return np.roll(q, -1)
        raise ValueError(f"order is 'wxyz' or 'xyzw', not {order!r}")

    @property
    def matrix(self) -> Array:
        """4 x 4 homogeneous matrix."""
        T = np.eye(4)
        T[:3, :3] = self.rotation
        T[:3, 3] = self.position
        return T


class NodeView:
    """The motion of one node at a state, world axes. Each property is computed anew from the state when it is read."""

    __slots__ = ("_state", "index")

    def __init__(self, state: State, index: int) -> None:
        self._state = state
        self.index = index

    @property
    def name(self) -> str:
        """Path of the node."""
        return self._state.group.nodes[self.index]

    @property
    def pose(self) -> Pose:
        """Position and orientation in the world."""
        return self._state.group.node_pose(self._state, self.index)

    @property
    def position(self) -> Array:
        """Of the origin [m]."""
        return self.pose.position

    @property
    def rotation(self) -> Array:
        """3 x 3 rotation matrix."""
        return self.pose.rotation

    @property
    def quaternion(self) -> Array:
        """(w, x, y, z)."""
        return self.pose.quaternion

    @property
    def velocity(self) -> Array:
        """[w, v]: angular velocity [rad/s], then velocity of the origin [m/s]."""
        return self._state.group.node_velocity(self._state, self.index)

    @property
    def angular_velocity(self) -> Array:
        """[rad/s]"""
        return self.velocity[:3]

    @property
    def linear_velocity(self) -> Array:
        """Of the origin [m/s]."""
        return self.velocity[3:]

    @property
    def jacobian(self) -> Array:
        """J [6, nu]: velocity = J @ u."""
        return self._state.group.jacobian(self._state, self.index)

    def __repr__(self) -> str:
        return f"<calder node {self.name!r} of {self._state!r}>"

    def __reduce__(self) -> Any:
        return NodeView, (self._state, self.index)
