# SPDX-License-Identifier: Apache-2.0
"""Flexible bodies from finite elements: CalculiX and DMIG models, Craig-Bampton reduction, SID and modal files (calder/fe.h)."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Array
from ._calder import ffi, lib
from ._names import mat3, text, vec3
from .definitions import Held
from .errors import check, new_error, path_bytes


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame of a finite element model by which it can be connected."""

    name: str
    node: int
    position: Array
    """[m]"""


class Modal:
    """A flexible body as shapes, stiffness and masses; `Builder.modal()` makes a body of it."""

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.cal_modal_destroy)
        info = lib.cal_modal_info(c)
        self.name: str = text(info.name)
        self.source: str = text(info.source)
        self.boundary: str = text(info.boundary)
        self.modes: int = info.modes
        self.mass: float = info.mass
        """[kg]"""
        self.com: Array = vec3(info.com)
        """In the body frame [m]."""
        self.inertia: Array = mat3(info.inertia)
        """About the center of mass [kg m^2]."""
        self.notes: list[str] = text(info.notes).splitlines()
        self.stiffness: Array = np.array(ffi.unpack(info.stiffness, info.modes**2)).reshape(info.modes, info.modes)
        node = ffi.new("CalModalNode *")
        frames = []
        for i in range(info.node_count):
            check(lib.cal_modal_node(c, i, node))
            if node.kind == lib.CAL_MODAL_FRAME:
                frames.append(text(node.name))
        self.frames: tuple[str, ...] = tuple(frames)
        """Names of the nodes to connect to."""

    @staticmethod
    def read(path: str | os.PathLike[str], *, geometric: bool = True) -> Modal:
        """Reads a SID file (.sid, .SID_FEM) or a modal file; geometric=False leaves geometric stiffness out."""
        place, error = ffi.new("CalModal **"), new_error()
        options = ffi.new("CalModalOptions *", {"ignore_geometric_stiffness": int(not geometric)})
        check(lib.cal_modal_read(path_bytes(path), options, ffi.NULL, place, error), error)
        return Modal(place[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes by the name: .sid gives SID, everything else a modal file."""
        error = new_error()
        check(lib.cal_modal_write(self._c, path_bytes(path), error), error)

    def __reduce__(self) -> Any:
        raise TypeError("a modal body is not pickled; save it to a file")

    def __repr__(self) -> str:
        return f"<calder.Modal {self.name!r}: {self.modes} modes, {self.mass:g} kg, frames {', '.join(self.frames)}>"


class FiniteElements:
    """A finite element model: stiffness and mass of a CalculiX job or of DMIG files (docs/fe.md).

    length [m] and mass [kg]: what a unit of the model is in SI (1e-3 and 1e3 for mm, tonnes).
    """

    def __init__(self, path: str | os.PathLike[str], *, length: float = 1.0, mass: float = 1.0) -> None:
        place, error = ffi.new("CalFeModel **"), new_error()
        units = ffi.new("CalFeUnits *", {"length": length, "mass": mass})
        check(lib.cal_fe_read(path_bytes(path), units, ffi.NULL, place, error), error)
        self._c = ffi.gc(place[0], lib.cal_fe_destroy)
        info = lib.cal_fe_info(self._c)
        self.format: str = text(info.format)
        self.node_count: int = info.node_count
        self.dof_count: int = info.dof_count
        self.mass: float = info.mass
        """[kg]"""
        self.com: Array = vec3(info.com)
        self.inertia: Array = mat3(info.inertia)
        frame, frames = ffi.new("CalFeFrame *"), []
        for i in range(info.frame_count):
            check(lib.cal_fe_frame(self._c, i, frame))
            frames.append(Frame(text(frame.name), frame.node, vec3(frame.position)))
        self.frames: tuple[Frame, ...] = tuple(frames)

    def reduce(self, *, interfaces: Sequence[str] | None = None, reference: str | None = None, modes: int = 12,
               max_frequency: float = 0.0, damping_ratio: float = 0.0, geometric: bool = False) -> Modal:
        """Craig-Bampton reduction: static shapes of the interfaces (None: all frames; []: free modes) and modes with all held."""
        held, error, place = Held(), new_error(), ffi.new("CalModal **")
        how = ffi.new("CalFeReduction *", {"modes": modes or -1, "max_frequency": max_frequency,
                                           "damping_ratio": damping_ratio, "geometric": int(geometric)})
        if interfaces is not None:
            names = ffi.new("char *[]", [held.text(name) for name in interfaces])
            held.append(names)
            how.interfaces, how.interface_count = names, len(interfaces) or -1
        if reference is not None:
            how.reference = held.text(reference)
        check(lib.cal_fe_reduce(self._c, how, place, error), error)
        return Modal(place[0])

    def __reduce__(self) -> Any:
        raise TypeError("a finite element model is not pickled; read it again")

    def __repr__(self) -> str:
        return f"<calder.FiniteElements {self.format}: {self.node_count} nodes, {self.mass:g} kg>"
