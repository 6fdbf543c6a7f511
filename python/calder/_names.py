# SPDX-License-Identifier: Apache-2.0
"""Names of coordinates, speeds, bodies and nodes of a compiled model, read once."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ._arrays import Array, Index, Names
from ._calder import ffi, lib
from .errors import check


def text(c: Any) -> str:
    """A C string; "" for NULL."""
    return "" if c == ffi.NULL else str(ffi.string(c).decode(errors="replace"))


def long_text(call: Callable[[Any, int], int]) -> str:
    """What a function writes that returns the length as snprintf does."""
    buffer = ffi.new("char[]", 256)
    length = call(buffer, 256)
    if length >= 256:
        buffer = ffi.new("char[]", length + 1)
        call(buffer, length + 1)
    return str(ffi.string(buffer).decode(errors="replace"))


def names_of(model: Any, count: int, call: Any) -> tuple[str, ...]:
    """Texts of a function that takes an index and writes a name."""
    return tuple(long_text(partial(call, model, i)) for i in range(count))


def vec3(v: Any) -> Array:
    """A CalVec3 as an array."""
    return np.array([v.x, v.y, v.z])


def mat3(m: Any) -> Array:
    """A CalMat3 as an array."""
    return np.array([list(m.m[i]) for i in range(3)])


def spatial(s: Any) -> Array:
    """A CalSpatial as six numbers, angular first."""
    return np.array([s.angular.x, s.angular.y, s.angular.z, s.linear.x, s.linear.y, s.linear.z])


def to_vec3(v: Any, what: str = "vector") -> Any:
    """Three numbers as a CalVec3."""
    from ._arrays import vector

    a = vector(v, 3, what).tolist()
    return ffi.new("CalVec3 *", a)[0]


@dataclass(frozen=True)
class Body:
    """A body of a model and the joint that carries it."""

    name: str
    index: int
    parent: str | None
    """Name of the parent body; None: the ground."""
    mass: float
    """Of the rigid part and of the nodes of a flexible body [kg]."""
    com: Array
    """Center of mass of the rigid part in the body frame [m]."""
    inertia: Array
    """Of the rigid part about its center of mass, body axes [kg m^2]."""
    joint: str
    joint_type: str
    q: slice
    """Its joint's coordinates in q."""
    u: slice
    """Its joint's speeds in u."""
    modes: int
    """Modal coordinates, which follow those of the joint."""
    node: int
    """Index of its own frame among the nodes."""


def read_bodies(model: Any) -> tuple[Body, ...]:
    """All bodies of a model in its order."""
    info = ffi.new("CalBodyInfo *")
    bodies: list[Body] = []
    for i in range(lib.cal_model_body_count(model)):
        check(lib.cal_model_body(model, i, info))
        bodies.append(
            Body(
                text(info.name), i, bodies[info.parent].name if info.parent >= 0 else None,
                info.mass + info.lumped_mass, vec3(info.com), mat3(info.inertia), text(info.joint),
                text(lib.cal_joint_type_name(info.type)), slice(info.q, info.q + info.nq),
                slice(info.u, info.u + info.nu), info.modes, info.node,
            )
        )
    return tuple(bodies)


def read_nodes(model: Any, bodies: tuple[Body, ...]) -> tuple[str, ...]:
    """Paths of all nodes: "body" for its own frame, "body/node", "ground/node"."""
    info = ffi.new("CalNodeInfo *")
    own = {body.node for body in bodies}
    paths = []
    for i in range(lib.cal_model_node_count(model)):
        check(lib.cal_model_node(model, i, info))
        body = bodies[info.body].name if info.body >= 0 else "ground"
        paths.append(body if i in own else f"{body}/{text(info.name)}")
    return tuple(paths)


def _place(start: int, count: int) -> Index:
    return start if count == 1 else slice(start, start + count)


def _names(model: Any, count: int, call: Any, what: str, bodies: tuple[Body, ...], speeds: bool) -> Names:
    names = list(names_of(model, count, call))
    places: dict[str, Index] = {name: i for i, name in enumerate(names)}
    mode = "etadot" if speeds else "eta"
    for body in bodies:
        own = body.u if speeds else body.q
        if body.modes:
            places.setdefault(body.name, slice(own.stop, own.stop + body.modes))
            places[f"{body.name}.{mode}"] = slice(own.stop, own.stop + body.modes)
    for body in bodies:  # a joint comes first where it has the name of a flexible body
        own = body.u if speeds else body.q
        if own.stop > own.start:
            places[body.joint] = _place(own.start, own.stop - own.start)
    return Names(names, places, what)


def read_names(model: Any, bodies: tuple[Body, ...]) -> tuple[Names, Names]:
    """Names of coordinates and of speeds."""
    q = _names(model, lib.cal_model_q_count(model), lib.cal_model_q_name, "coordinate", bodies, False)
    u = _names(model, lib.cal_model_u_count(model), lib.cal_model_dof_name, "speed", bodies, True)
    return q, u
