# SPDX-License-Identifier: Apache-2.0
"""Controllers, devices and events written in Python.

C calls Python through cffi's extern "Python" while a run holds no lock of ours. An exception in a callback is kept, the callback
reports failure, the run ends with the last good state, and Sim.run() raises the exception itself.
"""
from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import vector
from ._calder import ffi, lib
from ._handle import memory
from .device import Context, Device, PythonDevice
from .errors import ArgumentError, check, keep, name_bytes
from .state import State

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors
    from .model import Model

Controller = Callable[[float, State], Any]


class _Control:
    """A controller: its function, and the state that it sees."""

    __slots__ = ("function", "state", "tau", "names", "error", "handle", "shape", "mirrors")

    def __init__(self, function: Controller, state: State, mirrors: Mirrors | None) -> None:
        self.mirrors = mirrors  # of a group in the simulation's memory: to be looked at before each call
        self.function = function
        self.state = state
        self.tau = state._tau
        self.shape = state._tau.shape
        self.names = state.group.u_names
        self.error: BaseException | None = None
        self.handle = ffi.new_handle(self)

    def put(self, tau: Any) -> None:
        """What the function returned, as forces on all degrees of freedom."""
        if tau is None:
            self.tau[:] = 0
        elif isinstance(tau, Mapping):
            self.tau[:] = 0
            for name, value in tau.items():
                place = self.state.group.u_index(name)
                count = place.stop - place.start if isinstance(place, slice) else 1
                self.tau[place] = vector(value, count, f"force of the controller on {name!r}")
        else:
            self.tau[:] = vector(tau, len(self.names), "forces of the controller", self.names)


_handle_of = ffi.from_handle
_ndarray = np.ndarray


@ffi.def_extern(error=1, onerror=keep)
def glue_on_control(handle: Any) -> int:
    control: _Control = _handle_of(handle)
    try:
        state = control.state
        if control.mirrors is not None:
            control.mirrors.look()
        tau = control.function(state._c.t, state)
        if type(tau) is _ndarray and tau.shape == control.shape and tau.dtype.kind == "f":
            control.tau[:] = tau
        else:
            control.put(tau)
        return 0
    except BaseException as error:  # comes out of Sim.run()
        control.error = error
        return 1


@ffi.def_extern(error=1, onerror=keep)
def glue_on_tick(unused: int) -> int:
    """Handlers of pending signals run as soon as Python code does; what they raise goes to keep()."""
    return 0


class _Event:
    """An event with a Python action, and perhaps a Python value."""

    __slots__ = ("owner", "mirrors", "action", "value", "error", "handle", "context", "generation")

    def __init__(self, owner: SimHandle, mirrors: Mirrors, action: Callable[[Any], Any] | None,
                 value: Callable[[Context], float] | None) -> None:
        self.owner = owner
        self.mirrors = mirrors
        self.action = action
        self.value = value
        self.context = Context()
        self.error: BaseException | None = None
        self.handle = ffi.new_handle(self)
        self.generation = 0

    def look(self) -> None:
        """Forgets where objects are when bodies have changed groups."""
        generation = lib.cal_sim_generation(self.owner.c)
        if generation != self.generation:
            self.generation = generation
            self.context.forget()


@ffi.def_extern(error=-8, onerror=keep)
def glue_on_action(user: Any, sim: Any, error: Any) -> int:
    event: _Event = ffi.from_handle(user)
    try:
        if event.action is None:
            return 0
        event.mirrors.pull()
        event.owner.acting = threading.get_ident()
        try:
            stops = event.action(lib.cal_sim_time(sim)) is False
        finally:
            event.owner.acting = 0
        event.mirrors.push()
        return int(lib.CAL_STOPPED) if stops else 0
    except BaseException as caught:
        event.error = caught
        return int(lib.CAL_ERR_USER)


@ffi.def_extern(error=1, onerror=keep)
def glue_on_value(user: Any, context: Any, value: Any) -> int:
    event: _Event = ffi.from_handle(user)
    try:
        assert event.value is not None
        event.look()
        with event.context.at(context):
            value[0] = number = event.value(event.context)
        if not math.isfinite(number):  # has no sign to change
            raise ArgumentError(f"when: the value of the event is {number!r}")
        return 0
    except BaseException as caught:
        event.error = caught
        return 1


class Callbacks:
    """Python functions of a Sim."""

    model: Model
    _handle: SimHandle
    _mirrors: Mirrors
    _error: Any
    _callbacks: list[Any]
    _must_restart: bool

    def _added(self, callback: Any, *held: Any) -> None:
        """Keeps a callback with the simulation, and C memory of its definition until that is destroyed."""
        self._handle.kept.extend((callback, callback.handle))
        memory[self._handle.address].extend(held)
        self._callbacks.append(callback)
        self._must_restart = True

    def control(self, function: Controller, *, group: str | None = None, period: float = 0.0, offset: float = 0.0,
                name: str | None = None) -> str:
        """Generalized forces from a Python function: tau = function(t, state).

        `state` is a State of the group at the instant of the evaluation, for any algorithm: m.inverse(state, qdd). The function
        returns nu numbers in the order of u_names, {name: number}, or None for zero. period [s]: it is called at
        offset + k period, and its forces are held in between; 0: at every evaluation (several in a step), for which it must be a
        pure function of t and state. Add controllers before the run: adding one starts monitors anew.
        Returns the name of the device that it is, for switch().
        """
        if not callable(function):
            raise ArgumentError("control: give a function of (t, state)")
        if not period >= 0:
            raise ArgumentError(f"period: expected a time >= 0 [s], not {period!r}")
        with self._handle as sim:
            seen = self._mirrors.named(group).copy()
            within = seen.group not in self.model.groups.values()
            control = _Control(function, seen, self._mirrors if within else None)
            label = name or f"control{len(self._callbacks) + 1}"
            c = ffi.new("GlueControl *", {"handle": control.handle, "nq": seen.group.nq, "nu": seen.group.nu,
                                          "state": seen._c, "tau": seen._tau_p})
            c.group = seen.group.name.encode()[:127]
            self._added(control, c)
            status = lib.glue_add_control(sim, name_bytes(label), c, period, offset, ffi.NULL, self._error)
            if status:
                self._callbacks.pop()
            check(status, self._error)
            return label

    def add_device(self, device: Device) -> Device:
        """Adds a device written in Python; returns it."""
        if not isinstance(device, Device):
            raise ArgumentError(f"expected an instance of a subclass of calder.Device, not {type(device).__name__}")
        with self._handle as sim:
            wrapped = PythonDevice(device, device.name or f"{type(device).__name__}{len(self._callbacks) + 1}")
            self._added(wrapped, *wrapped.held)
            status = lib.cal_sim_add_device(sim, wrapped.definition, ffi.NULL, self._error)
            if status:
                self._callbacks.pop()
                if wrapped.error is not None:
                    raise wrapped.error
            check(status, self._error)
            return device

    def on(self, action: Callable[[float], Any] | None, *, at: float | None = None,
           when: Callable[[Context], float] | None = None, direction: int = 0, once: bool = False,
           name: str | None = None) -> str:
        """Calls action(t) at a time [s], or where when(context) changes sign (direction +1: upward, -1: downward, 0: both).

        Steps end exactly there. An action may change the simulation: write to sim.q and sim.u, attach, detach, lock, switch. One
        that returns False stops the run in order. Returns the name of the event.
        """
        if (at is None) == (when is None):
            raise ArgumentError("on: give either at= [s] or when= (a function whose sign changes)")
        if not (action is None or callable(action)) or not (when is None or callable(when)):
            raise ArgumentError("on: the action is a function of (t), when= a function of (context)")
        if direction not in (-1, 0, 1):
            raise ArgumentError(f"direction: 1 (upward), -1 (downward) or 0 (both), not {direction!r}")
        with self._handle as sim:
            if at is not None and at < lib.cal_sim_time(sim):
                raise ArgumentError(f"at: t = {at:g} s is over; it is t = {lib.cal_sim_time(sim):g} s")
            event = _Event(self._handle, self._mirrors, action, when)
            label = name_bytes(name or f"python{len(self._callbacks) + 1}")
            held = ffi.new("char[]", label)
            c = ffi.new("CalEventDef *", {"name": held, "direction": direction, "once": int(once), "user": event.handle,
                                          "action": lib.glue_on_action})
            if when is not None:
                c.value = lib.glue_on_value
            else:
                c.time = at
            self._added(event, c, held)
            check(lib.cal_sim_add_event(sim, c, ffi.NULL, self._error), self._error)
            return label.decode()
