# SPDX-License-Identifier: Apache-2.0
"""The part of Builder that is about a run: initial state, loads, devices, events, settings."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._arrays import vector
from ._calder import ffi, lib
from .definitions import Held, joint_definition, set_placement, set_vec3
from .errors import ArgumentError, check, name_bytes, new_error, unknown

_ACTIONS = {ffi.string(lib.cal_action_name(i)).decode(): i for i in range(lib.CAL_ACTION_COUNT)}
_VISUALS = {ffi.string(lib.cal_visual_name(i)).decode(): i for i in range(lib.CAL_VISUAL_COUNT)}

B = TypeVar("B", bound="RunBuilder")


class RunBuilder:
    """What a Builder adds beside the model."""

    _setup: Any
    _desc: Any

    if TYPE_CHECKING:

        def _edit(self) -> Any: ...
        def _body_id(self, name: str) -> Any: ...
        def _node_id(self, path: str | None) -> Any: ...
        def _joint_id(self, name: str) -> Any: ...

    # ---- state and loads ----------------------------------------------------------------------

    def state(self: B, joint: str, *, q: npt.ArrayLike | None = None, u: npt.ArrayLike | None = None,
              eta: npt.ArrayLike | None = None, eta_dot: npt.ArrayLike | None = None) -> B:
        """Initial coordinates and speeds of a joint, and of the modes of the body that it carries."""
        self._edit()
        held, error, id = Held(), new_error(), self._joint_id(joint)
        node = ffi.new("CalNodeId *")
        definition = lib.cal_desc_joint(self._desc, id, ffi.NULL, node)
        body = ffi.new("CalBodyId *")
        lib.cal_desc_node(self._desc, node[0], body)
        flex = ffi.new("CalFlexDef *")
        check(lib.cal_flex_body(self._desc, body[0], ffi.NULL, flex))
        counts = {"q": lib.cal_joint_coordinate_count(definition), "u": lib.cal_joint_speed_count(definition),
                  "eta": flex.modes, "eta_dot": flex.modes}
        d = ffi.new("CalStateDef *")
        for name, value in (("q", q), ("u", u), ("eta", eta), ("eta_dot", eta_dot)):
            if value is not None:
                setattr(d, name, held.doubles(vector(np.atleast_1d(value), counts[name], f"{name} of joint {joint!r}")))
        check(lib.cal_setup_set_state(self._setup, id, d, error), error)
        return self

    def load(self: B, *, joint: str | None = None, effort: npt.ArrayLike = (), node: str | None = None,
             moment: Any = (0, 0, 0), force: Any = (0, 0, 0), local: bool = False, start: float | None = None,
             end: float | None = None) -> B:
        """A constant load from start to end [s]: effort on all degrees of freedom of a joint, or a wrench on a node."""
        self._edit()
        error = new_error()
        d = ffi.new("CalLoadDef *", lib.cal_load_def())
        if (joint is None) == (node is None):
            raise ArgumentError("load: give either joint= and effort=, or node= and moment=, force=")
        if joint is not None:
            numbers = np.atleast_1d(np.asarray(effort, float)).tolist()
            dofs = ffi.new("CalDofLoad[]", [{"has_effort": 1, "effort": e} for e in numbers])
            d.joint, d.dofs, d.dof_count = self._joint_id(joint), dofs, len(numbers)
        else:
            d.node, d.frame = self._node_id(node), int(local)
            set_vec3(d.wrench.angular, moment, "moment")
            set_vec3(d.wrench.linear, force, "force")
        if start is not None:
            d.start = start
        if end is not None:
            d.end = end
        check(lib.cal_setup_add_load(self._setup, d, error), error)
        return self

    # ---- devices ------------------------------------------------------------------------------

    def _field(self, held: Held, c: Any, name: str, value: Any) -> None:
        """Fills the members that a field could ask for; a name may be that of a node, a joint or a body."""
        from .pose import Pose

        c.field = held.text(name)
        if isinstance(value, str):
            c.text = held.text(value)
            c.node = lib.cal_desc_find_node(self._desc, name_bytes(value))
            c.joint = lib.cal_desc_find_joint(self._desc, name_bytes(value))
            c.body = lib.cal_desc_find_body(self._desc, name_bytes(value))
            self._components(held, c, [value])
        elif isinstance(value, (bool, int, float, np.number)):
            c.number = float(value)
            self._components(held, c, [value])
        elif isinstance(value, Mapping):
            self._table(held, c.table, value)
        elif len(value) == 3 and any(isinstance(v, str) for v in value):
            for i, v in enumerate(value):
                c.xyz[i] = held.text(v if isinstance(v, str) else repr(float(v)))
            self._components(held, c, value)
        elif not isinstance(value, Pose) and any(isinstance(v, (str, Mapping)) for v in value):
            self._components(held, c, value)
        elif not isinstance(value, Pose) and np.asarray(value, object).ndim <= 2 and self._numbers(held, c, value):
            if len(value) == 3 and c.rows == 1:
                set_vec3(c.vector, value, name)
                set_placement(c.placement, value, name)
            elif np.shape(value) == (4, 4):
                set_placement(c.placement, value, name)
        else:
            set_placement(c.placement, value, name)

    @staticmethod
    def _numbers(held: Held, c: Any, value: Any) -> bool:
        """A list of numbers, or a matrix by its rows; False: it is neither."""
        try:
            numbers = np.atleast_2d(np.asarray(value, float))
        except (TypeError, ValueError):
            return False
        c.numbers, (c.rows, c.columns) = held.doubles(numbers), numbers.shape
        return numbers.ndim == 2

    def _components(self, held: Held, c: Any, values: Any) -> None:
        """A list of numbers, tables and formulas."""
        listed = ffi.new("CalLoadValue[]", len(values))
        held.append(listed)
        for component, value in zip(listed, values):
            if isinstance(value, str):
                component.formula = held.text(value)
            elif isinstance(value, Mapping):
                self._table(held, component.table, value)
            else:
                component.number = float(value)
        c.components, c.component_count = listed, len(values)

    @staticmethod
    def _table(held: Held, c: Any, table: Mapping[str, Any]) -> None:
        shapes = {"step": 0, "linear": 1, "cubic": 2, "smooth": 3, "spline": 4}
        time, value = np.asarray(table["time"], float), np.asarray(table["value"], float)
        if time.ndim != 1 or time.shape != value.shape:
            raise ArgumentError(f"table: time and value must have one length; got {time.shape} and {value.shape}")
        shape = table.get("shape", "linear")
        if shape not in shapes:
            raise unknown("shape of a table", shape, shapes)
        c.shape, c.count, c.time, c.value = shapes[shape], len(time), held.doubles(time), held.doubles(value)

    def device(self: B, type: str, name: str, **fields: Any) -> B:
        """A device of any type of model files (docs/devices.md): b.device("spring", "s1", a="hub", b="rod/tip", stiffness=10).

        Fields have the names of model files, with _ after names that Python reserves (from_). Values: numbers (SI), names of
        nodes, joints and bodies, formulas, vectors, tables {"time", "value", "shape"},
        lists of these, and matrices by their rows.
        """
        self._edit()
        held, error = Held(), new_error()
        values = ffi.new("CalFieldValue[]", len(fields))
        for c, (key, value) in zip(values, fields.items()):
            self._field(held, c, key.rstrip("_"), value)
        check(lib.cal_setup_add_device_of_type(self._setup, name_bytes(type), name_bytes(name), values, len(fields), error), error)
        return self

    # ---- events -------------------------------------------------------------------------------

    def event(self: B, name: str, *actions: tuple[Any, ...], at: float | None = None, every: float | None = None,
              start: float | None = None, when: str | None = None, direction: int = 1, after: str | None = None,
              delay: float = 0.0, once: bool = True) -> B:
        """An event at a time [s], periodic, when a formula says so, or after another; with actions.

        An action is (kind, name) or (kind, name, {more}): ("detach", "latch", {"group": "tug"}), ("lock", "elbow"), ("stop", "why"),
        ("switch_on", "motor"), ("attach", "latch", {"from": "a/n", "to": "b/n", "type": "weld"}). docs/scenarios.md
        """
        self._edit()
        held, error = Held(), new_error()
        d = ffi.new("CalSetupEvent *", lib.cal_setup_event_def())
        d.name, d.direction, d.delay, d.once = held.text(name), direction, delay, int(once)
        for key, number in (("at", at), ("every", every), ("start", start)):
            if number is not None:
                setattr(d, key, number)
        for key, words in (("when", when), ("after", after)):
            if words is not None:
                setattr(d, key, held.text(words))
        listed = ffi.new("CalActionDef[]", len(actions))
        for i, action in enumerate(actions):
            self._action(held, listed, i, *action)
        d.actions, d.action_count = listed, len(actions)
        check(lib.cal_setup_add_event(self._setup, d, error), error)
        return self

    @staticmethod
    def _action(held: Held, listed: Any, i: int, kind: str, name: str | None = None,
                more: Mapping[str, Any] | None = None) -> None:
        if kind not in _ACTIONS:
            raise unknown("action", kind, _ACTIONS)
        listed[i] = lib.cal_action_def(_ACTIONS[kind])
        a, given = listed[i], dict(more or {})
        if name is not None:
            a.name = held.text(name)
        for key, member in (("group", "group"), ("from", "from"), ("to", "to")):
            if key in given:
                setattr(a, member, held.text(given.pop(key)))
        if "dof" in given:
            a.dof = given.pop("dof")
        if "fit" in given:
            a.options.fit = {"a": 1, "b": 2}[given.pop("fit")]
        if "ignore" in given:
            a.ignore = int(given.pop("ignore"))
        if "tolerance" in given:
            a.options.tolerance = given.pop("tolerance")
        if given:
            a.joint = joint_definition(held, name or "", given.pop("type", "weld"), **given)[0]

    # ---- pictures and settings ----------------------------------------------------------------

    def visual(self: B, body: str, kind: str, *, size: Any, at: Any = None, color: int = -1) -> B:
        """A shape of a body for pictures: box, sphere (radius), cylinder (radius, 0, length), capsule, cone, plane."""
        self._edit()
        error = new_error()
        if kind not in _VISUALS:
            raise unknown("visual", kind, _VISUALS)
        v = ffi.new("CalVisual *", {"kind": _VISUALS[kind], "color": color})
        set_placement(v.placement, at, "at")
        set_vec3(v.size, (size, 0, 0) if np.ndim(size) == 0 else size, "size")
        owner = ffi.new("CalBodyId *")[0] if body == "ground" else self._body_id(body)
        check(lib.cal_setup_add_visual(self._setup, owner, v, error), error)
        return self

    def run(self: B, duration: float, *, method: str | None = None, step: float = 0.0, rtol: float = 0.0, atol: float = 0.0,
            signals: Sequence[str] = (), interval: float = 0.0) -> B:
        """Duration [s], method and what to record, as a run of the model uses them by default."""
        self._edit()
        held, error = Held(), new_error()
        r = ffi.new("CalRunSettings *", lib.cal_setup_run(self._setup))
        r.duration, r.method.step, r.method.rtol, r.method.atol = duration, step, rtol, atol
        if method is not None:
            place = ffi.new("CalMethod *")
            if lib.cal_method_find(name_bytes(method), place) != 0:
                from .sim import methods

                raise unknown("method", method, methods())
            r.method.method = place[0]
        if signals or interval:
            names = ffi.new("char *[]", [held.text(s) for s in signals])
            stream = ffi.new("CalRunStream[]", [{"interval": interval, "signal_count": len(signals), "signals": names}])
            held.extend((names, stream))
            r.streams, r.stream_count = stream, 1
        r.title = ffi.NULL
        check(lib.cal_setup_set_run(self._setup, r, error), error)
        return self
