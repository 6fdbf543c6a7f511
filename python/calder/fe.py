# SPDX-License-Identifier: Apache-2.0
"""Flexible bodies from finite elements: CalculiX and DMIG models, Craig-Bampton reduction, SID and modal files (calder/fe.h).

Mass properties of meshes too (calder/mesh.h).
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array
from ._calder import ffi, lib
from ._names import mat3, text, to_vec3, vec3
from .definitions import Held
from .errors import check, new_error, path_bytes, unknown


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame of a finite element model by which it can be connected."""

    name: str
    node: int
    position: Array
    """[m]"""


@dataclass(frozen=True)
class Fidelity:
    """What the mass points of a modal body lose against the matrices that they were made of; relative."""

    mass: float
    """Of the mass."""
    com: float
    """Of the center of mass, over the radius of gyration."""
    inertia: float
    """Of the inertia."""
    modal_mass: float
    """Of the modal mass matrix."""
    coupling: float
    """Of the coupling of modes and rigid motion, over its bound."""


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

    @property
    def fidelity(self) -> Fidelity:
        """What its mass points lose against the matrices that it was reduced from; all zero where it was read."""
        f = lib.cal_modal_fidelity(self._c)
        return Fidelity(f.mass, f.com, f.inertia, f.modal_mass, f.coupling)

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
        self.sources: tuple[str, ...] = tuple(text(lib.cal_fe_source(self._c, i)) for i in range(lib.cal_fe_source_count(self._c)))
        """Files that were read, in their order."""

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


# ---- meshes -----------------------------------------------------------------------------------------

SOLIDS: dict[str, int] = {text(lib.cal_mesh_solid_name(i)): i for i in range(lib.CAL_MESH_SOLID_COUNT)}


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass properties for Builder.body()."""

    mass: float
    """[kg]"""
    com: Array
    """[m]"""
    inertia: Array
    """About the center of mass [kg m^2]."""


@dataclass(frozen=True, eq=False)
class MeshCheck:
    """Whether the triangles of a mesh bound a solid."""

    vertices: int
    triangles: int
    dropped: int
    """Triangles of zero area."""
    open_edges: int
    """Edges with one triangle."""
    odd_edges: int
    """Edges with more than two triangles, or with two that disagree about the outside."""
    closed: bool
    pieces: int
    inverted: int
    """Of a closed mesh, parts of negative volume."""
    inside_out: bool
    volume: float
    """[m^3]"""
    area: float
    """[m^2]"""
    lower: Array
    """Corner of the bounding box [m]."""
    upper: Array
    """The opposite corner [m]."""
    suggested_scale: float
    """1, or the factor to scale by where lengths seem to be in another unit than m (0.001: mm)."""


class Mesh:
    """Triangles of an STL, OBJ or glTF file, and the mass properties of what they enclose (docs/meshes.md).

    scale: factors of x, y, z, or one for all; STL has no unit (0.001 for mm).
    """

    def __init__(self, path: str | os.PathLike[str], *, scale: float | npt.ArrayLike = 1.0) -> None:
        place, error = ffi.new("CalMeshFile **"), new_error()
        factors = to_vec3(np.full(3, scale) if np.ndim(scale) == 0 else scale, "scale")
        check(lib.cal_mesh_file_read(path_bytes(path), factors, ffi.NULL, place, error), error)
        self._c = ffi.gc(place[0], lib.cal_mesh_file_destroy)
        self._triangles = ffi.new("CalTriangles *", lib.cal_mesh_file_triangles(self._c))
        self.source: str = os.fsdecode(path)

    @property
    def vertices(self) -> Array:
        """[n, 3] [m]"""
        t = self._triangles
        return np.frombuffer(ffi.buffer(t.vertices, 24 * t.vertex_count)).reshape(-1, 3).copy()

    @property
    def corners(self) -> npt.NDArray[np.int32]:
        """[triangles, 3] vertices, counterclockwise seen from outside."""
        t = self._triangles
        return np.frombuffer(ffi.buffer(t.corners, 12 * t.triangle_count), np.int32).reshape(-1, 3).copy()

    def check(self, size: float = 0.0) -> MeshCheck:
        """Whether the mesh bounds a solid; size: largest side that the part should have [m], for the question of units."""
        c, error = ffi.new("CalMeshCheck *"), new_error()
        check(lib.cal_mesh_check(self._triangles, ffi.NULL, c, error), error)
        return MeshCheck(c.vertices, c.triangles, c.dropped, c.open_edges, c.odd_edges, bool(c.closed), c.pieces, c.inverted,
                         bool(c.inside_out), c.volume, c.area, vec3(c.lower), vec3(c.upper),
                         lib.cal_mesh_question_unit(c.lower, c.upper, size))

    def mass_properties(self, *, solid: str = "exact", density: float = 0.0, mass: float = 0.0,
                        unchecked: bool = False) -> MassProperties:
        """Of the solid ("exact"), of its hull ("convex"), "legacy" as in MuJoCo, or of a "shell".

        density [kg/m^3] (of a shell [kg/m^2]; 0: 1), or mass [kg] instead. unchecked: "exact" also of a mesh that is open or
        inside out.
        """
        if solid not in SOLIDS:
            raise unknown("solid", solid, SOLIDS)
        options = ffi.new("CalMeshMassOptions *", {"solid": SOLIDS[solid], "density": density, "mass": mass,
                                                   "unchecked": int(unchecked)})
        p, error = ffi.new("CalMassProperties *"), new_error()
        check(lib.cal_mesh_mass_properties(path_bytes(self.source), self._triangles, options, ffi.NULL, p, error), error)
        return MassProperties(p.mass, vec3(p.com), mat3(p.inertia))

    def __reduce__(self) -> Any:
        raise TypeError("a mesh is not pickled; read it again")

    def __repr__(self) -> str:
        return f"<calder.Mesh {self.source!r}: {self._triangles.triangle_count} triangles>"
