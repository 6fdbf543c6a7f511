# SPDX-License-Identifier: Apache-2.0
"""Definitions of joints, bodies and loops from keyword arguments, for Builder and for changes of topology."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import array, vector
from ._calder import ffi, lib
from ._names import text
from .errors import ArgumentError, name_bytes, unknown

JOINT_TYPES: dict[str, int] = {text(lib.cal_joint_type_name(i)): i for i in range(lib.CAL_JOINT_TYPE_COUNT)}
LOOP_TYPES: dict[str, int] = {text(lib.cal_loop_type_name(i)): i for i in range(lib.CAL_LOOP_TYPE_COUNT)}
BOUNDARIES: dict[str, int] = {text(lib.cal_flex_boundary_name(i)): i for i in range(lib.CAL_FLEX_BOUNDARY_COUNT)}
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0),
         "-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}
_DOF = ("stiffness", "rest", "damping", "rotor_inertia", "gear_ratio", "prescribed")


class Held(list[Any]):
    """C memory that a definition points to; kept until the call that copies it is over."""

    def text(self, s: str) -> Any:
        self.append(ffi.new("char[]", name_bytes(s)))
        return self[-1]

    def doubles(self, x: npt.ArrayLike) -> Any:
        a = np.ascontiguousarray(x, np.float64)
        self.append(ffi.from_buffer("double[]", a))
        return self[-1]


def set_vec3(to: Any, v: Any, what: str) -> None:
    """Three numbers, or "x", "-z" for an axis."""
    if isinstance(v, str):
        if v not in _AXES:
            raise unknown("axis", v, _AXES)
        v = _AXES[v]
    to.x, to.y, to.z = vector(v, 3, what).tolist()


def set_placement(to: Any, at: Any, what: str) -> None:
    """A position; (position, quaternion (w, x, y, z)); a Pose; or a 4 x 4 matrix."""
    from .pose import Pose, quaternion_of

    if at is None:
        return
    if isinstance(at, Pose):
        at = (at.position, at.quaternion)
    elif len(at) == 4:
        T = array(at, (4, 4), what)
        at = (T[:3, 3], quaternion_of(T[:3, :3]))
    if len(at) == 2:
        position, quaternion = at
        o = to.orientation
        o.w, o.x, o.y, o.z = vector(quaternion, 4, f"{what} (quaternion w, x, y, z)").tolist()
    else:
        position = at
    set_vec3(to.position, position, what)


def set_inertia(to: Any, inertia: Any) -> None:
    """3 x 3, or the three moments about the axes."""
    I = np.asarray(inertia, float)
    if I.shape == (3,):
        I = np.diag(I)
    for i, row in enumerate(array(I, (3, 3), "inertia").tolist()):
        to.m[i] = row


def _set_dofs(def_: Any, dofs: Sequence[Mapping[str, float]]) -> None:
    if len(dofs) > lib.CAL_JOINT_MAX_DOF:
        raise ArgumentError(f"a joint has at most {lib.CAL_JOINT_MAX_DOF} degrees of freedom")
    for i, dof in enumerate(dofs):
        for key, value in dof.items():
            if key not in _DOF:
                raise unknown("property of a degree of freedom", key, _DOF)
            setattr(def_.dof[i], key, int(value) if key == "prescribed" else float(value))


def joint_definition(held: Held, name: str, type: str, axis: Any = None, axis2: Any = None, pitch: float = 0.0,
                     inboard: Any = None, outboard: Any = None, dof: Any = (), elements: Sequence[Any] = ()) -> Any:
    """A CalJointDef. dof: one mapping for a single degree of freedom, or a list; elements: (type, axis[, pitch])."""
    if type not in JOINT_TYPES or type == "user":
        raise unknown("joint type", type, [t for t in JOINT_TYPES if t != "user"])
    d = ffi.new("CalJointDef *", lib.cal_joint_def(JOINT_TYPES[type]))
    d.name = held.text(name)
    d.pitch = pitch
    if axis is not None:
        set_vec3(d.axis, axis, "axis")
    if axis2 is not None:
        set_vec3(d.axis2, axis2, "axis2")
    set_placement(d.inboard, inboard, "inboard")
    set_placement(d.outboard, outboard, "outboard")
    _set_dofs(d, [dof] if isinstance(dof, Mapping) else list(dof))
    if len(elements) > lib.CAL_JOINT_MAX_ELEMENTS:
        raise ArgumentError(f"a sequence has at most {lib.CAL_JOINT_MAX_ELEMENTS} elements")
    d.element_count = len(elements)
    for to, (kind, along, *more) in zip(d.elements, elements):
        if kind not in JOINT_TYPES:
            raise unknown("joint type", kind, JOINT_TYPES)
        to.type = JOINT_TYPES[kind]
        set_vec3(to.axis, along, "axis of an element")
        to.pitch = more[0] if more else 0.0
    return d


def loop_definition(held: Held, name: str, type: str, a: Any = None, b: Any = None, length: float = 0.0, pitch: float = 0.0,
                    radius: float = 0.0, frequency: float = 0.0, damping: float = 0.0, translation: str = "",
                    rotation: str = "") -> Any:
    """A CalLoopDef. translation, rotation: locked axes of `directions`, e.g. "xy"."""
    if type not in LOOP_TYPES or type == "coupling":
        raise unknown("loop type", type, [t for t in LOOP_TYPES if t != "coupling"])
    d = ffi.new("CalLoopDef *", lib.cal_loop_def(LOOP_TYPES[type]))
    d.name = held.text(name)
    set_placement(d.a, a, "a")
    set_placement(d.b, b, "b")
    d.length, d.pitch, d.radius, d.frequency, d.damping = length, pitch, radius, frequency, damping
    axes = {"x": 1, "y": 2, "z": 4}
    d.translation = sum(axes[c] for c in set(translation))
    d.rotation = sum(axes[c] for c in set(rotation))
    return d


def set_section(to: Any, section: Mapping[str, Any]) -> None:
    """A CalSection from its shape and dimensions, or from stiffnesses and masses per length."""
    shapes = {"direct": 0, "circle": 1, "tube": 2, "box": 3}
    for key, value in section.items():
        if key == "shape":
            if value not in shapes:
                raise unknown("shape of a section", value, shapes)
            to.shape = shapes[value]
        elif hasattr(to, key):
            setattr(to, key, float(value))
        else:
            raise unknown("property of a section", key, [f for f, _ in ffi.typeof("CalSection").fields])


def set_choice(to: Any, boundary: str, modes: int, damping_ratio: float) -> None:
    """A CalFlexChoice: how a body is held while its shapes are computed, and how many are kept."""
    if boundary not in BOUNDARIES:
        raise unknown("boundary", boundary, BOUNDARIES)
    to.boundary, to.modes, to.damping_ratio = BOUNDARIES[boundary], modes, damping_ratio


def invariants_definition(held: Held, modes: int, mass: float, com: Any = (0, 0, 0), inertia: Any = None,
                          **integrals: npt.ArrayLike) -> Any:
    """A CalFlexInvariants of a body with so many modes."""
    m = modes
    shapes = {"linear": (3, m), "angular": (3, m), "position": (3, 3, m), "shape": (3, 3, m, m), "modal_mass": (m, m)}
    d = ffi.new("CalFlexInvariants *", {"modes": m, "mass": mass})
    set_vec3(d.com, com, "com")
    if inertia is not None:
        set_inertia(d.inertia, inertia)
    for key, value in integrals.items():
        if key not in shapes:
            raise unknown("invariant", key, ["mass", "com", "inertia", *shapes])
        setattr(d, key, held.doubles(array(value, shapes[key], key)))
    for key in ("linear", "position", "shape"):
        if key not in integrals:
            raise ArgumentError(f"invariants: {key} of shape {shapes[key]} is missing")
    return d


def body_definition(held: Held, name: str, mass: float, com: Any = (0, 0, 0), inertia: Any = None,
                    idealized: bool = False) -> Any:
    """A CalBodyDef without its group."""
    d = ffi.new("CalBodyDef *", lib.cal_body_def())
    d.name = held.text(name)
    d.mass = mass
    d.idealized = int(idealized)
    set_vec3(d.com, com, "com")
    if inertia is not None:
        set_inertia(d.inertia, inertia)
    return d
