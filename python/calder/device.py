# SPDX-License-Identifier: Apache-2.0
"""Device: forces, states and outputs of your own, in Python (calder/device.h)."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._arrays import Array, vector
from ._calder import ffi, lib
from ._names import spatial
from .errors import ArgumentError, StaleError, check, keep, name_bytes, unknown
from .pose import Pose


class Context:
    """The simulation at one instant, as a device or event sees it; valid during the call that it is given to.

    Objects go by name: "body/node" or "body"; "joint", or ("joint", i) for degree of freedom i.
    """

    __slots__ = ("_c", "_nodes", "_dofs")

    def __init__(self) -> None:
        self._c: Any = None
        self._nodes: dict[str, Any] = {}
        self._dofs: dict[Any, Any] = {}

    @contextmanager
    def at(self, c: Any) -> Iterator[Context]:
        """Binds it to the C context of a call."""
        self._c, before = c, self._c
        try:
            yield self
        finally:
            self._c = before

    def forget(self) -> None:
        """Places of objects are looked up again."""
        self._nodes.clear()
        self._dofs.clear()

    def _now(self) -> Any:
        if self._c is None:
            raise StaleError("a context is valid only during the call that it is given to")
        return self._c

    def _node(self, name: str) -> Any:
        place = self._nodes.get(name)
        if place is None:
            found = ffi.new("CalNodeRef *")
            if not lib.cal_context_find_node_by_name(self._now(), name_bytes(name), found):
                raise unknown("node", name, ())
            place = self._nodes[name] = found[0]
        return place

    def _dof(self, dof: str | tuple[str, int]) -> Any:
        place = self._dofs.get(dof)
        if place is None:
            joint, i = (dof, 0) if isinstance(dof, str) else dof
            found = ffi.new("CalDofRef *")
            if not lib.cal_context_find_dof_by_name(self._now(), name_bytes(joint), i, found):
                raise unknown("joint", dof, ())
            place = self._dofs[dof] = found[0]
        return place

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(lib.cal_context_time(self._now()))

    def q(self, dof: str | tuple[str, int]) -> float:
        """Coordinate of a joint [rad, m]."""
        return float(lib.cal_context_q(self._now(), self._dof(dof)))

    def u(self, dof: str | tuple[str, int]) -> float:
        """Speed of a joint [rad/s, m/s]."""
        return float(lib.cal_context_u(self._now(), self._dof(dof)))

    def pose(self, node: str) -> Pose:
        """Pose of a node in the world."""
        pose = ffi.new("CalPose *")
        check(lib.cal_context_node_motion(self._now(), self._node(node), pose, ffi.NULL))
        x = np.frombuffer(ffi.buffer(pose)).copy()
        return Pose(x[9:], x[:9].reshape(3, 3))

    def velocity(self, node: str) -> Array:
        """[w, v] of a node [rad/s, m/s], world axes."""
        v = ffi.new("CalSpatial *")
        check(lib.cal_context_node_motion(self._now(), self._node(node), ffi.NULL, v))
        return spatial(v)

    def apply_effort(self, dof: str | tuple[str, int], effort: float) -> None:
        """A generalized force [N m, N]; in evaluate() only."""
        check(lib.cal_context_apply_effort(self._now(), self._dof(dof), effort), where="apply_effort")

    def apply_wrench(self, node: str, moment: Any = (0, 0, 0), force: Any = (0, 0, 0), *, local: bool = False) -> None:
        """A wrench at a node's origin [N m, N], world axes (local: those of the node); in evaluate() only."""
        m, f = vector(moment, 3, "moment").tolist(), vector(force, 3, "force").tolist()
        w = ffi.new("CalSpatial *", {"angular": m, "linear": f})
        check(lib.cal_context_apply_wrench(self._now(), self._node(node), int(local), w[0]), where="apply_wrench")

    def add_supplied_power(self, power: float) -> None:
        """Power that the device brings in from outside [W], for the energy balance."""
        lib.cal_context_add_supplied_power(self._now(), power)

    def add_dissipated_power(self, power: float) -> None:
        """Power that the device turns to heat [W]."""
        lib.cal_context_add_dissipated_power(self._now(), power)

    def add_stored_energy(self, energy: float) -> None:
        """Energy that the device holds now [J]."""
        lib.cal_context_add_stored_energy(self._now(), energy)


class Device:
    """A device of your own: subclass it and override what is needed; only evaluate() is required.

    Class or instance attributes: `name`; `nx`, `nd` (continuous and discrete states); `period`, `offset` [s] of sample();
    `event_count` of values(); `output_names`, `output_units`; `wrench_count` (most wrenches in one evaluation); `accounts`
    (True: it reports its energy completely). x and d are views of the device's states, valid during the call.
    """

    name: str | None = None
    nx: int = 0
    nd: int = 0
    period: float = 0.0
    offset: float = 0.0
    event_count: int = 0
    wrench_count: int = 8
    output_names: Sequence[str] = ()
    output_units: Sequence[str] = ()
    accounts: bool = False

    def start(self, context: Context, x: Array, d: Array) -> None:
        """Sets initial states; both are zero before."""

    def evaluate(self, context: Context, x: Array, d: Array) -> Any:
        """Applies forces; returns xdot [nx] (None: zero). A pure function of state, x, d and time."""
        raise NotImplementedError("a device needs evaluate()")

    def sample(self, context: Context, x: Array, d: Array) -> None:
        """At offset + k period: may change d and x."""

    def values(self, context: Context, x: Array, d: Array) -> Any:
        """[event_count] numbers; steps end where one changes sign."""

    def event(self, context: Context, index: int, rising: bool, x: Array, d: Array) -> None:
        """Value `index` has changed sign; may change d and x."""

    def outputs(self, context: Context, x: Array, d: Array) -> Any:
        """[len(output_names)] numbers for records: device:NAME."""


class PythonDevice:
    """A Device with its C definition."""

    __slots__ = ("device", "name", "error", "handle", "context", "definition", "held", "nx", "nd", "events",
                 "output_count")

    def __init__(self, device: Device, name: str) -> None:
        self.device = device
        self.name = name
        self.error: BaseException | None = None
        self.context = Context()
        self.handle = ffi.new_handle(self)
        self.nx, self.nd, self.events = int(device.nx), int(device.nd), int(device.event_count)  # as C has memory for
        self.output_count = len(device.output_names)
        names = [ffi.new("char[]", name_bytes(n)) for n in device.output_names]
        units = [ffi.new("char[]", name_bytes(n)) for n in device.output_units or ["1"] * len(names)]
        if len(names) != len(units):
            raise ArgumentError(f"device {name!r}: {len(names)} output_names and {len(units)} output_units")
        label, kind = ffi.new("char[]", name_bytes(name)), ffi.new("char[]", b"python")
        names_c, units_c = ffi.new("char *[]", names), ffi.new("char *[]", units)
        ops = ffi.new("CalDeviceOps *", {"type": kind, "bind": lib.glue_on_bind, "start": lib.glue_on_start,
                                         "evaluate": lib.glue_on_evaluate})
        if device.period > 0:
            ops.sample = lib.glue_on_sample
        if self.events > 0:
            ops.values = lib.glue_on_values
            if type(device).event is not Device.event:
                ops.event = lib.glue_on_event
        if names:
            ops.outputs, ops.output_count = lib.glue_on_outputs, len(names)
            ops.output_names, ops.output_units = names_c, units_c
        data = ffi.new("void *[]", [self.handle])
        self.definition = ffi.new("CalDeviceDef *", {
            "name": label, "ops": ops, "data": data, "data_size": ffi.sizeof("void *"), "nx": self.nx, "nd": self.nd,
            "event_count": self.events, "wrench_count": device.wrench_count, "sample_period": device.period,
            "sample_offset": device.offset, "accounts": int(device.accounts),
        })
        self.held = [names, units, label, kind, names_c, units_c, ops, data, self.definition]


def _states(pointer: Any, count: int) -> Array:
    """A copy: the memory belongs to the integrator, and a view could outlive the call."""
    return np.array(ffi.unpack(pointer, count)) if count else np.empty(0)


def _store(pointer: Any, values: Any, count: int, what: str) -> None:
    if count:
        pointer[0:count] = vector(values, count, what).tolist()


def _of(device: Any) -> PythonDevice:
    wrapped: PythonDevice = ffi.from_handle(ffi.cast("void **", device.data)[0])
    return wrapped


def _call(device: Any, context: Any, body: Any) -> int:
    wrapped = _of(device)
    try:
        with wrapped.context.at(context) as c:
            body(wrapped, c, _states(device.x, wrapped.nx), _states(device.d, wrapped.nd))
        return 0
    except BaseException as error:  # comes out of Sim.run()
        wrapped.error = error
        return 1


@ffi.def_extern(error=1, onerror=keep)
def glue_on_bind(device: Any, context: Any) -> int:
    _of(device).context.forget()
    return 0


@ffi.def_extern(error=1, onerror=keep)
def glue_on_start(device: Any, context: Any, x: Any) -> int:
    def body(w: PythonDevice, c: Context, xs: Array, ds: Array) -> None:
        w.device.start(c, xs, ds)
        _store(x, xs, w.nx, "x")
        _store(device.d, ds, w.nd, "d")

    return _call(device, context, body)


@ffi.def_extern(error=1, onerror=keep)
def glue_on_evaluate(device: Any, context: Any, xdot: Any) -> int:
    def body(w: PythonDevice, c: Context, xs: Array, ds: Array) -> None:
        rate = w.device.evaluate(c, xs, ds)
        if rate is not None:
            _store(xdot, rate, w.nx, f"xdot of device {w.name!r}")

    return _call(device, context, body)


@ffi.def_extern(error=1, onerror=keep)
def glue_on_sample(device: Any, context: Any, x: Any) -> int:
    def body(w: PythonDevice, c: Context, xs: Array, ds: Array) -> None:
        w.device.sample(c, xs, ds)
        _store(x, xs, w.nx, "x")
        _store(device.d, ds, w.nd, "d")

    return _call(device, context, body)


@ffi.def_extern(error=1, onerror=keep)
def glue_on_values(device: Any, context: Any, value: Any) -> int:
    def body(w: PythonDevice, c: Context, xs: Array, ds: Array) -> None:
        _store(value, w.device.values(c, xs, ds), w.events, f"values of device {w.name!r}")

    return _call(device, context, body)


@ffi.def_extern(error=1, onerror=keep)
def glue_on_event(device: Any, context: Any, event: int, rising: int, x: Any) -> int:
    def body(w: PythonDevice, c: Context, xs: Array, ds: Array) -> None:
        w.device.event(c, event, bool(rising), xs, ds)
        _store(x, xs, w.nx, "x")
        _store(device.d, ds, w.nd, "d")

    return _call(device, context, body)


@ffi.def_extern(error=1, onerror=keep)
def glue_on_outputs(device: Any, context: Any, output: Any) -> int:
    def body(w: PythonDevice, c: Context, xs: Array, ds: Array) -> None:
        _store(output, w.device.outputs(c, xs, ds), w.output_count, f"outputs of device {w.name!r}")

    return _call(device, context, body)

