# SPDX-License-Identifier: Apache-2.0
"""Changes of topology in a run: attach, detach, lock, loops, new bodies; devices switched on and off (calder/transition.h)."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._arrays import Array
from ._calder import ffi, lib
from ._names import spatial, text, vec3
from .definitions import Held, body_definition, joint_definition, loop_definition, set_placement, set_vec3
from .errors import ArgumentError, check, name_bytes, unknown

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors
    from .model import Model

_ROOM = {"groups": 4, "bodies": 4, "nodes": 8, "joints": 8, "loops": 4, "modes": 0}
_FITS = {None: 0, "a": 1, "b": 2}
_PROPAGATIONS = {text(lib.cal_propagation_name(i)): i for i in range(lib.CAL_PROPAGATION_COUNT)}
_JOINT_STATES: tuple[Literal["open", "tree", "loop"], ...] = ("open", "tree", "loop")


@dataclass(frozen=True, eq=False)
class Transition:
    """What a change of topology did."""

    kinetic_lost: float
    """Kinetic energy before less that after, of all groups concerned [J]."""
    impulse: Array
    """Of an attach in the tree: on the side of b at `point`, world axes (moment [N m s], force [N s]); otherwise zero."""
    point: Array
    """[m]"""
    linear_change: Array
    """Momentum after less that before, of all groups concerned [kg m/s]."""
    angular_change: Array
    """About the world's origin [kg m^2/s]."""
    misfit: float
    """Of an attach: how far the nodes were from what the joint allows [m, rad]."""
    group: str
    """The group concerned; of an attach, the joined one."""
    other: str | None
    """Of detach and split: the group that was made."""


@dataclass(frozen=True)
class DeviceInfo:
    """A device of a simulation."""

    name: str
    type: str
    active: bool
    """It has found its objects and is not switched off."""
    x: tuple[float, ...]
    """Continuous states."""
    d: tuple[float, ...]
    """Discrete states."""
    outputs: Mapping[str, float]
    """Outputs now, by name."""
    units: Mapping[str, str]


class Transitions:
    """Changes of a Sim."""

    model: Model
    _handle: SimHandle
    _mirrors: Mirrors
    _error: Any
    _must_restart: bool

    if TYPE_CHECKING:

        def _started(self, c: Any) -> Any: ...
        def _advance(self, status: int) -> bool: ...

    # ---- room ---------------------------------------------------------------------------------

    def _room_of(self, room: Mapping[str, int] | bool | None) -> Any:
        if room is None or room is False:
            return None
        if room is True:
            room = _ROOM
        least = lib.cal_setup_capacity(self.model._setup)
        c = ffi.new("CalSimCapacity *", least)
        for name, count in room.items():
            if name not in _ROOM:
                raise unknown("kind of room", name, _ROOM)
            setattr(c, name, getattr(least, name) + int(count))
        return c

    def reserve(self, **room: int) -> None:
        """Makes room for what changes may add: groups, bodies, nodes, joints, loops, modes. Once, before the first change.

        The first change does it with room for 4 groups, bodies and loops, and 8 nodes and joints. calder.Sim(m, room=...) is the
        same from the start; a model with loads needs that.
        """
        with self._handle.open() as c:
            self._reserve(c, room)

    def _reserve(self, c: Any, room: Mapping[str, int] | None = None) -> None:
        if room is None and lib.cal_sim_reserved(c, ffi.NULL):
            return
        if lib.cal_setup_load_count(self.model._setup) > 0:  # they follow their objects only into memory taken before
            raise ArgumentError("the model has loads: give room for changes from the start, calder.Sim(model, room=True)")
        desc = lib.cal_setup_desc(self.model._setup)
        check(lib.cal_sim_reserve(c, desc, self._room_of({**_ROOM, **(room or {})}), self._error), self._error)

    # ---- names --------------------------------------------------------------------------------

    def _joint(self, c: Any, name: str) -> Any:
        return self._id(lib.cal_sim_find_joint(c, name_bytes(name)), "joint", name)

    def _body(self, c: Any, name: str) -> Any:
        return self._id(lib.cal_sim_find_body(c, name_bytes(name)), "body", name)

    def _loop(self, c: Any, name: str) -> Any:
        return self._id(lib.cal_sim_find_loop(c, name_bytes(name)), "loop", name)

    def _id(self, found: Any, kind: str, name: str) -> Any:
        if not found.value:
            bodies = [b for s in self._mirrors.all().values() for b in s.group.bodies]
            known = [b.joint if kind == "joint" else b.name for b in bodies] if kind != "loop" else []
            raise unknown(kind, name, known)
        return found

    def _node(self, c: Any, path: str) -> Any:
        node = ffi.new("CalNodeId *")
        if not lib.cal_sim_find_node(c, name_bytes(path), node):
            raise unknown("node", path, [n for s in self._mirrors.all().values() for n in s.group.nodes])
        return node[0]

    # ---- changes ------------------------------------------------------------------------------

    def _change(self, call: Any) -> Transition:
        """Does a change between steps and says what it did."""
        with self._handle.open() as c:
            if not self._handle.acting:
                self._started(c)
            elif self._mirrors.push():
                self._mirrors.pull()
            self._reserve(c)
            report = ffi.new("CalTransition *")
            status = call(c, report)
            status = status or lib.cal_scenario_resume(self._handle.scenario)  # its loads follow their objects
            self._mirrors.look()
            self._mirrors.pull()
            check(status, self._error)
            return Transition(report.kinetic_lost, spatial(report.impulse), vec3(report.point), vec3(report.linear_change),
                              vec3(report.angular_change), report.misfit, self._group_name(c, report.group) or "",
                              self._group_name(c, report.other))

    @staticmethod
    def _group_name(c: Any, index: int) -> str | None:
        model = lib.cal_sim_model(c, index)
        return None if index < 0 or model == ffi.NULL else text(lib.cal_model_name(model))

    def detach(self, joint: str, group: str | None = None) -> Transition:
        """Opens a joint; what is outboard of it becomes a group by the name given."""
        name = ffi.NULL if group is None else name_bytes(group)
        return self._change(lambda c, r: lib.cal_sim_detach(c, self._joint(c, joint), name, r, self._error))

    def split(self, body: str, group: str) -> Transition:
        """Makes all that is tied to a body a group of its own."""
        return self._change(lambda c, r: lib.cal_sim_split(c, self._body(c, body), name_bytes(group), r, self._error))

    @staticmethod
    def _options(fit: str | None, loop: bool, tolerance: float, kinematic: bool) -> Any:
        if fit not in _FITS:
            raise unknown("fit", fit, ["a", "b"])
        return ffi.new("CalAttachOptions *", {"fit": _FITS[fit], "loop": int(loop), "tolerance": tolerance,
                                              "kinematic": int(kinematic)})

    def attach(self, a: str, b: str, *, name: str, type: str = "weld", fit: Literal["a", "b"] | None = None,
               loop: bool = False, tolerance: float = 0.0, kinematic: bool = False, **joint: Any) -> Transition:
        """Ties node b to node a by a new joint, by an inelastic impulse; energy lost and impulse are reported.

        fit "a": the joint is made to fit the nodes where they are, placed on a ("b": on b); otherwise they must be where the
        joint allows, within tolerance [m, rad]. loop: as a loop even where a tree would do. joint: axis, axis2, pitch, inboard,
        outboard, dof, as for Builder.joint().
        """
        held = Held()
        d = joint_definition(held, name, type, **joint)
        options, place = self._options(fit, loop, tolerance, kinematic), ffi.new("CalJointId *")
        return self._change(
            lambda c, r: lib.cal_sim_attach(c, self._node(c, a), d, self._node(c, b), options, place, r, self._error))

    def reattach(self, joint: str, *, fit: Literal["a", "b"] | None = None, loop: bool = False, tolerance: float = 0.0,
                 kinematic: bool = False) -> Transition:
        """Closes a joint that is open, between its nodes."""
        options = self._options(fit, loop, tolerance, kinematic)
        return self._change(lambda c, r: lib.cal_sim_reattach(c, self._joint(c, joint), options, r, self._error))

    def reroot(self, body: str) -> Transition:
        """Makes a body the root of its tree."""
        return self._change(lambda c, r: lib.cal_sim_reroot(c, self._body(c, body), r, self._error))

    def lock(self, joint: str, dof: int = -1) -> Transition:
        """Stops a degree of freedom of a joint (-1: all) by an impulse."""
        return self._change(lambda c, r: lib.cal_sim_lock(c, self._joint(c, joint), dof, r, self._error))

    def unlock(self, joint: str, dof: int = -1) -> Transition:
        """Sets it free."""
        return self._change(lambda c, r: lib.cal_sim_unlock(c, self._joint(c, joint), dof, r, self._error))

    def lock_modes(self, body: str, mode: int = -1) -> Transition:
        """Stops a mode of a flexible body, from 0 (-1: all), which stays deflected as it is."""
        return self._change(lambda c, r: lib.cal_sim_lock_modes(c, self._body(c, body), mode, r, self._error))

    def unlock_modes(self, body: str, mode: int = -1) -> Transition:
        """Sets it free."""
        return self._change(lambda c, r: lib.cal_sim_unlock_modes(c, self._body(c, body), mode, r, self._error))

    def close_loop(self, a: str, b: str | None, *, name: str, type: str, **loop: Any) -> Transition:
        """Closes a loop between two nodes by an impulse; loop: a, b, length, pitch, radius, frequency, damping.

        Frames on the nodes are given as frame_a, frame_b.
        """
        held = Held()
        d = loop_definition(held, name, type, loop.pop("frame_a", None), loop.pop("frame_b", None), **loop)
        place = ffi.new("CalLoopId *")
        none = ffi.new("CalNodeId *")[0]
        return self._change(lambda c, r: lib.cal_sim_close_loop(
            c, self._node(c, a), d, none if b is None else self._node(c, b), place, r, self._error))

    def open_loop(self, loop: str) -> Transition:
        """Opens a loop."""
        return self._change(lambda c, r: lib.cal_sim_open_loop(c, self._loop(c, loop), r, self._error))

    def reclose_loop(self, loop: str) -> Transition:
        """Closes an open loop again."""
        return self._change(lambda c, r: lib.cal_sim_reclose_loop(c, self._loop(c, loop), r, self._error))

    def propagate(self, group: str, how: Literal["flexible", "rigid", "kinematic"]) -> Transition:
        """How a group is propagated from now on."""
        if how not in _PROPAGATIONS:
            raise unknown("propagation", how, _PROPAGATIONS)
        return self._change(lambda c, r: lib.cal_sim_set_propagation(
            c, self._mirrors.index(group), _PROPAGATIONS[how], r, self._error))

    def propagation(self, group: str | None = None) -> str:
        """How a group is propagated now: "flexible", "rigid" or "kinematic" (or its motion is given)."""
        with self._handle.open() as c:
            return text(lib.cal_propagation_name(lib.cal_sim_propagation(c, self._mirrors.index(group))))

    def group_of(self, body: str) -> str | None:
        """Name of the group that a body is in now; None: it was removed."""
        with self._handle.open() as c:
            return self._group_name(c, lib.cal_sim_group_of(c, self._body(c, body)))

    def joint_state(self, joint: str) -> tuple[Literal["open", "tree", "loop"], bool]:
        """(whether a joint is open, in the tree or in a loop; True: its outboard node is on the inboard side now)."""
        with self._handle.open() as c:
            state, reversed = ffi.new("CalJointState *"), ffi.new("int *")
            check(lib.cal_sim_joint_state(c, self._joint(c, joint), state, reversed), where=f"joint {joint!r}")
            return _JOINT_STATES[state[0]], bool(reversed[0])

    def add_body(self, name: str, *, mass: float, inertia: Any, com: Any = (0, 0, 0), at: Any = None, velocity: Any = None,
                 group: str | None = None, gravity: Any = (0, 0, 0), nodes: Mapping[str, Any] | None = None) -> Transition:
        """A free-flying body as a group of its own; at: placement in the world; velocity: [w, v] of its frame."""
        held = Held()
        made = ffi.new("CalNewBody *", {"body": body_definition(held, name, mass, com, inertia)[0]})
        made.group = held.text(group or name)
        set_placement(made.placement, at, "at")
        if velocity is not None:
            v = np.asarray(velocity, float).reshape(6)
            set_vec3(made.velocity.angular, v[:3], "velocity")
            set_vec3(made.velocity.linear, v[3:], "velocity")
        set_vec3(made.gravity, gravity, "gravity")
        listed = ffi.new("CalNodeDef[]", len(nodes or {}))
        for d, (node, placement) in zip(listed, (nodes or {}).items()):
            d.name = held.text(node)
            set_placement(d.placement, placement, f"node {node!r}")
        made.nodes, made.node_count = listed, len(nodes or {})
        place = ffi.new("CalBodyId *")
        return self._change(lambda c, r: lib.cal_sim_add_body(c, made, place, ffi.NULL, r, self._error))

    def remove_body(self, body: str) -> Transition:
        """Removes a body that carries no other and that no loop holds."""
        return self._change(lambda c, r: lib.cal_sim_remove_body(c, self._body(c, body), r, self._error))

    # ---- given motions ------------------------------------------------------------------------

    def is_moved(self, group: str | None = None) -> bool:
        """All of a group moves as its motion says (group_motions of the model file), and not by its dynamics."""
        with self._handle.open() as c:
            return bool(lib.cal_sim_is_moved(c, self._mirrors.index(group)))

    def motion(self, group: str | None = None) -> str | None:
        """Name of the device that is the motion of a group, also while the group is released; None: it has none."""
        with self._handle.open() as c:
            index = lib.cal_sim_find_motion(c, self._mirrors.index(group))
            info = ffi.new("CalDeviceInfo *")
            if index >= 0:
                check(lib.cal_sim_device(c, index, info))
            return text(info.name) if index >= 0 else None

    def resume_motion(self, group: str | None = None) -> None:
        """Lets a group that was released follow its motion again, from where that is now; what this takes is supplied energy."""
        with self._handle.open() as c:
            if not self._handle.acting:
                self._started(c)
            elif self._mirrors.push():
                self._mirrors.pull()
            status = lib.cal_sim_resume_motion(c, self._mirrors.index(group), self._error)
            self._mirrors.look()
            self._mirrors.pull()
            check(status, self._error)

    # ---- devices ------------------------------------------------------------------------------

    @property
    def devices(self) -> dict[str, DeviceInfo]:
        """All devices by name, with their states and outputs now."""
        with self._handle.open() as c:
            if not self._handle.acting:
                self._started(c)
            info, found = ffi.new("CalDeviceInfo *"), {}
            for i in range(lib.cal_sim_device_count(c)):
                check(lib.cal_sim_device(c, i, info))
                ops, name = info.ops, text(info.name)
                values = ffi.new("double[]", ops.output_count + 1)
                if ops.output_count and info.active:
                    self._advance(lib.cal_sim_device_outputs(c, i, values))
                labels = [text(ops.output_names[k]) for k in range(ops.output_count)]
                units = [text(ops.output_units[k]) for k in range(ops.output_count)]
                found[name] = DeviceInfo(name, text(ops.type), bool(info.active), tuple(ffi.unpack(info.x, info.nx)),
                                         tuple(ffi.unpack(info.d, info.nd)), dict(zip(labels, values)),
                                         dict(zip(labels, units)))
            return found

    def switch(self, device: str, on: bool) -> None:
        """Switches a device off (it acts no more, its states stay), or on again."""
        with self._handle.open() as c:
            index = lib.cal_sim_find_device(c, name_bytes(device))
            if index < 0:
                names = []
                info = ffi.new("CalDeviceInfo *")
                for i in range(lib.cal_sim_device_count(c)):
                    lib.cal_sim_device(c, i, info)
                    names.append(text(info.name))
                raise unknown("device", device, names)
            check(lib.cal_sim_switch(c, index, int(on), self._error), self._error)
