# SPDX-License-Identifier: Apache-2.0
"""Builder: models made in Python (calder/build.h, setup.h)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import array
from ._calder import ffi, lib
from .builder_run import RunBuilder
from .definitions import (
    Held,
    body_definition,
    invariants_definition,
    joint_definition,
    loop_definition,
    set_choice,
    set_inertia,
    set_placement,
    set_section,
    set_vec3,
)
from .errors import ArgumentError, check, name_bytes, new_error, unknown
from .fe import Modal
from .model import Model, own_setup

_DEFORMATIONS = {"bend_y": 1, "bend_z": 2, "torsion": 4, "axial": 8}


class Builder(RunBuilder):
    """A model in the making: bodies, joints, loops, flexible bodies; initial state, loads, devices, events, run settings.

        b = calder.Builder(gravity=(0, 0, -9.81))
        b.body("rod", mass=2, com=(0, 0, -0.5), inertia=(1/6, 1/6, 0), nodes={"tip": (0, 0, -1)})
        b.joint("hinge", "revolute", to="rod", axis="y")
        m = b.model()

    Every call checks what it is given and says what is wrong; the builder then stays as it was. SI units, angles in rad.
    """

    def __init__(self, *, title: str = "", gravity: Any = (0, 0, 0)) -> None:
        place, error = ffi.new("CalSetup **"), new_error()
        check(lib.cal_setup_create(ffi.NULL, place))
        self._setup = own_setup(place)
        self._desc = lib.cal_setup_edit_desc(self._setup)
        self._open = True
        if title:
            check(lib.cal_setup_set_title(self._setup, name_bytes(title), error), error)
        g = ffi.new("CalVec3 *")
        set_vec3(g, gravity, "gravity")
        check(lib.cal_desc_set_gravity(self._desc, ffi.new("CalGroupId *")[0], g[0]), where="gravity")

    def model(self, *, solver: str = "auto") -> Model:
        """The finished model. Nothing can be added after that."""
        model = Model(self._setup, solver)
        self._open = False
        return model

    # ---- names --------------------------------------------------------------------------------

    def _edit(self) -> Any:
        if not self._open:
            raise ArgumentError("the model is made: a builder takes nothing more after model()")
        return self._desc

    def _body_id(self, name: str) -> Any:
        found = lib.cal_desc_find_body(self._desc, name_bytes(name))
        if not found.value:
            names = []
            for k in range(1, lib.cal_desc_body_count(self._desc) + 1):
                names.append(ffi.string(lib.cal_desc_body(self._desc, ffi.new("CalBodyId *", [k])[0]).name).decode())
            raise unknown("body", name, names)
        return found

    def _node_id(self, path: str | None) -> Any:
        if path is None or path == "ground":
            return ffi.new("CalNodeId *")[0]
        found = lib.cal_desc_find_node(self._desc, name_bytes(path))
        if not found.value:
            raise unknown("node", path, ())
        return found

    def _joint_id(self, name: str) -> Any:
        found = lib.cal_desc_find_joint(self._desc, name_bytes(name))
        if not found.value:
            names = []
            for k in range(1, lib.cal_desc_joint_count(self._desc) + 1):
                d = lib.cal_desc_joint(self._desc, ffi.new("CalJointId *", [k])[0], ffi.NULL, ffi.NULL)
                names.append(ffi.string(d.name).decode())
            raise unknown("joint", name, names)
        return found

    def _group_id(self, name: str | None) -> Any:
        if name is None:
            return ffi.new("CalGroupId *")[0]
        found = lib.cal_desc_find_group(self._desc, name_bytes(name))
        if not found.value:
            raise unknown("group", name, ())
        return found

    # ---- bodies and joints --------------------------------------------------------------------

    def group(self, name: str, *, gravity: Any = (0, 0, 0)) -> Builder:
        """Another group: an independent system in a gravity field [m/s^2] of its own."""
        held, error = Held(), new_error()
        d = ffi.new("CalGroupDef *", lib.cal_group_def())
        d.name = held.text(name)
        set_vec3(d.gravity, gravity, "gravity")
        check(lib.cal_desc_add_group(self._edit(), d, ffi.new("CalGroupId *"), error), error)
        return self

    def body(self, name: str, *, mass: float, com: Any = (0, 0, 0), inertia: Any = None, group: str | None = None,
             nodes: Mapping[str, Any] | None = None, idealized: bool = False) -> Builder:
        """A rigid body: mass [kg], com in its frame [m], inertia about com [kg m^2] (3 x 3, or 3 moments), nodes by name."""
        held, error = Held(), new_error()
        d = body_definition(held, name, mass, com, inertia, idealized)
        d.group = self._group_id(group)
        check(lib.cal_desc_add_body(self._edit(), d, ffi.new("CalBodyId *"), error), error)
        for node, at in (nodes or {}).items():
            self.node(name, node, at)
        return self

    def node(self, body: str, name: str, at: Any = (0, 0, 0)) -> Builder:
        """A frame on a body, or on "ground": a position [m], (position, quaternion), a Pose or a 4 x 4 matrix."""
        held, error = Held(), new_error()
        d = ffi.new("CalNodeDef *", lib.cal_node_def())
        d.name = held.text(name)
        set_placement(d.placement, at, "at")
        owner = ffi.new("CalBodyId *")[0] if body == "ground" else self._body_id(body)
        check(lib.cal_desc_add_node(self._edit(), owner, d, ffi.new("CalNodeId *"), error), error)
        return self

    def joint(self, name: str, type: str, *, to: str, from_: str | None = None, axis: Any = None, axis2: Any = None,
              pitch: float = 0.0, inboard: Any = None, outboard: Any = None,
              dof: Mapping[str, float] | Sequence[Mapping[str, float]] = (), elements: Sequence[Any] = ()) -> Builder:
        """A joint that carries the node `to` on the node `from_` (None: the ground's origin).

        axis: (x, y, z) or "x", "-z". inboard, outboard: placements of the joint frame. dof: {"stiffness", "rest", "damping",
        "rotor_inertia", "gear_ratio", "prescribed"}, one mapping or one for each degree of freedom. elements: of a sequence,
        (type, axis[, pitch]).
        """
        held, error = Held(), new_error()
        d = joint_definition(held, name, type, axis, axis2, pitch, inboard, outboard, dof, elements)
        check(lib.cal_desc_attach(self._edit(), self._node_id(from_), d, self._node_id(to), ffi.new("CalJointId *"), error),
              error)
        return self

    def loop(self, name: str, type: str, a: str | None, b: str | None = None, *, frame_a: Any = None, frame_b: Any = None,
             **more: Any) -> Builder:
        """Closes a loop between nodes a and b; more: length, pitch, radius, frequency, damping, translation, rotation."""
        held, error = Held(), new_error()
        d = loop_definition(held, name, type, frame_a, frame_b, **more)
        check(lib.cal_desc_close_loop(self._edit(), self._node_id(a), d, self._node_id(b), ffi.new("CalLoopId *"), error),
              error)
        return self

    def coupling(self, name: str, terms: Sequence[tuple[str, int, float]], *, offset: float = 0.0) -> Builder:
        """sum of factor times coordinate = offset; terms: (body, degree of freedom of its joint or mode, factor)."""
        if not 1 <= len(terms) <= lib.CAL_LOOP_MAX_TERMS:
            raise ArgumentError(f"a coupling has 1 to {lib.CAL_LOOP_MAX_TERMS} terms, not {len(terms)}")
        held, error = Held(), new_error()
        d = ffi.new("CalLoopDef *", lib.cal_loop_def(lib.CAL_LOOP_COUPLING))
        d.name = held.text(name)
        d.term_count = len(terms)
        d.drive[0].offset = offset
        for to, (body, dof, factor) in zip(d.term, terms):
            to.body, to.dof, to.factor = self._body_id(body), dof, factor
        none = ffi.new("CalNodeId *")[0]
        check(lib.cal_desc_close_loop(self._edit(), none, d, none, ffi.new("CalLoopId *"), error), error)
        return self

    # ---- flexible bodies ----------------------------------------------------------------------

    def flexible(self, body: str, *, stiffness: npt.ArrayLike, damping: npt.ArrayLike | None = None,
                 nodes: Mapping[str, Mapping[str, Any]], frequency_bound: float = 0.0, unsprung: bool = False,
                 invariants: Mapping[str, Any] | None = None) -> Builder:
        """Makes a body flexible. stiffness, damping [m, m]; nodes: {name: {"mass", "inertia", "phi" [3, m], "psi" [3, m],
        "phi2" [3, m, m]}}: what is lumped at a node, and how the modes move it. "head" is the body's own frame.

        invariants: the inertia as integrals over the mass instead, which then comes on top of that of body and nodes:
        {"mass", "com", "inertia", "linear" [3, m], "position" [3, 3, m], "shape" [3, 3, m, m], "angular" [3, m],
        "modal_mass" [m, m]}, the last two where there is rotary inertia; docs/format.md says what they are.
        """
        held, error = Held(), new_error()
        K = np.atleast_2d(np.asarray(stiffness, float))
        m = K.shape[0]
        d = ffi.new("CalFlexDef *", {"modes": m, "stiffness": held.doubles(array(K, (m, m), "stiffness")),
                                     "frequency_bound": frequency_bound, "unsprung": int(unsprung)})
        if damping is not None:
            d.damping = held.doubles(array(np.atleast_2d(damping), (m, m), "damping"))
        listed = ffi.new("CalFlexNode[]", len(nodes))
        shapes = {"phi": (3, m), "psi": (3, m), "phi2": (3, m, m)}
        for to, (name, given) in zip(listed, nodes.items()):
            to.node = (lib.cal_desc_body_node(self._desc, self._body_id(body)) if name == "head"
                       else self._node_id(f"{body}/{name}"))
            for key, value in given.items():
                if key == "mass":
                    to.mass = value
                elif key == "inertia":
                    set_inertia(to.inertia, value)
                elif key in shapes:
                    setattr(to, key, held.doubles(array(value, shapes[key], f"{key} of node {name!r}")))
                else:
                    raise unknown("property of a node", key, ["mass", "inertia", *shapes])
        d.nodes, d.node_count = listed, len(nodes)
        if invariants is None:
            status = lib.cal_desc_set_flexible(self._edit(), self._body_id(body), d, error)
        else:
            integrals = invariants_definition(held, m, **invariants)
            status = lib.cal_flex_set_invariants(self._edit(), self._body_id(body), d, integrals, error)
        check(status, error)
        return self

    def modal(self, modal: Modal, name: str, *, group: str | None = None, frequency_bound: float = 0.0) -> Builder:
        """A flexible body from finite elements or a modal file; its frames are the nodes."""
        error = new_error()
        check(lib.cal_modal_add(modal._c, self._edit(), name_bytes(name), self._group_id(group), frequency_bound,
                                ffi.new("CalBodyId *"), error), error)
        return self

    def pendulum(self, name: str, *, mass: float, length: float, node: str | None = None, pivot: Any = (0, 0, 0),
                 down: Any = (0, 0, -1), damping: float = 0.0, stiffness: float = 0.0) -> Builder:
        """A point mass on a universal joint, such as liquid in a tank; its mass is at the node "mass"."""
        held, error = Held(), new_error()
        d = ffi.new("CalPendulumDef *", lib.cal_pendulum_def())
        d.name, d.node, d.mass, d.length = held.text(name), self._node_id(node), mass, length
        d.damping, d.stiffness = damping, stiffness
        set_vec3(d.pivot, pivot, "pivot")
        set_vec3(d.down, down, "down")
        check(lib.cal_desc_add_pendulum(self._edit(), d, ffi.new("CalBodyId *"), error), error)
        return self

    def embed(self, *loops: str, independent: Sequence[str] = ()) -> Builder:
        """Embeds loops: their bodies become one link with independent coordinates (docs/loops.md)."""
        ids = []
        for name in loops:
            found = lib.cal_desc_find_loop(self._desc, name_bytes(name))
            if not found.value:
                raise unknown("loop", name, ())
            ids.append(found)
        error = new_error()
        listed, joints = ffi.new("CalLoopId[]", ids), ffi.new("CalJointId[]", [self._joint_id(j) for j in independent])
        d = ffi.new("CalEmbedDef *", {"loops": listed, "loop_count": len(ids), "independent": joints,
                                      "independent_count": len(independent)})
        check(lib.cal_desc_embed(self._edit(), d, error), error)
        return self

    def beam(self, name: str, *, length: float, section: Mapping[str, Any], modes: int = 4, boundary: str = "clamped",
             deformation: Sequence[str] = ("bend_y", "bend_z"), elements: int = 8, timoshenko: bool = False,
             damping_ratio: float = 0.0, second_order: bool = False, group: str | None = None) -> Builder:
        """A straight flexible beam along x; nodes "root", "n1", ..., "tip".

        section: {"shape": "circle", "tube" or "box", "width", "height", "thickness", "youngs_modulus", "poissons_ratio",
        "density"} or, without shape, {"EA", "GJ", "EIy", "EIz", "kGAy", "kGAz", "rhoA", "rhoIy", "rhoIz"}, all SI.
        """
        held, error = Held(), new_error()
        d = ffi.new("CalBeamDef *", lib.cal_beam_def())
        d.name, d.group, d.length, d.elements = held.text(name), self._group_id(group), length, elements
        d.timoshenko, d.second_order = int(timoshenko), int(second_order)
        set_section(d.root, section)
        set_choice(d.choice, boundary, modes, damping_ratio)
        d.deformation = 0
        for way in deformation:
            if way not in _DEFORMATIONS:
                raise unknown("deformation", way, _DEFORMATIONS)
            d.deformation |= _DEFORMATIONS[way]
        check(lib.cal_beam_add(self._edit(), d, ffi.new("CalBodyId *"), error), error)
        return self

    def panel(self, name: str, *, length: float, width: float, rib_x: Mapping[str, Any], rib_y: Mapping[str, Any],
              cells: tuple[int, int] = (6, 4), cover_mass: float = 0.0, hinges: Sequence[int] = (), in_plane: bool = False,
              modes: int = 4, boundary: str = "clamped", damping_ratio: float = 0.0, second_order: bool = False,
              group: str | None = None) -> Builder:
        """A flat flexible lattice of ribs in the xy plane, x from 0 to length, y from -width/2 to width/2 [m].

        rib_x, rib_y: sections as for beam(). cells: of the grid along x and y. cover_mass [kg]: evenly spread. hinges: rows of
        the grid on the edge x = 0 that are held (none: the whole edge). in_plane: motion in the plane too. Nodes "root", "tip",
        "n_I_J".
        """
        if len(hinges) > lib.CAL_PANEL_MAX_HINGES:
            raise ArgumentError(f"a panel has at most {lib.CAL_PANEL_MAX_HINGES} hinges, not {len(hinges)}")
        held, error = Held(), new_error()
        d = ffi.new("CalPanelDef *", lib.cal_panel_def())
        d.name, d.group, d.length, d.width = held.text(name), self._group_id(group), length, width
        d.cells_x, d.cells_y = cells
        d.cover_mass, d.in_plane, d.second_order = cover_mass, int(in_plane), int(second_order)
        set_section(d.rib_x, rib_x)
        set_section(d.rib_y, rib_y)
        set_choice(d.choice, boundary, modes, damping_ratio)
        d.hinge_count = len(hinges)
        for i, row in enumerate(hinges):
            d.hinges[i] = row
        check(lib.cal_panel_add(self._edit(), d, ffi.new("CalBodyId *"), error), error)
        return self
