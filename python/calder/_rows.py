# SPDX-License-Identifier: Apache-2.0
"""Arrays of many states on their way to C (calder/batch.h): shapes, strides, and the threads that work on them."""
from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import DOUBLE, Array, flags
from ._calder import ffi, lib
from .errors import ArgumentError, ClosedError, check, make, status_text
from .state import busy

if TYPE_CHECKING:
    from ._core import Core
    from .dynamics import Wrenches

MOST_THREADS = 256
WRENCHES = 8
STATUS = np.dtype(np.int32)


def thread_count(threads: int) -> int:
    """0: all processors that this process may use."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or not 0 <= threads <= MOST_THREADS:
        raise ArgumentError(f"threads: expected a number from 0 (all processors) to {MOST_THREADS}, got {threads!r}")
    return int(threads) or min(len(os.sched_getaffinity(0)), MOST_THREADS)


class Handle:
    """A CalBatch: one call at a time, in the process that made it."""

    __slots__ = ("c", "pid", "threads", "wrenches", "lock")

    def __init__(self, model: Any, threads: int, wrenches: int) -> None:
        options = ffi.new("CalBatchOptions *", {"threads": threads, "wrenches": wrenches})
        place = ffi.new("CalBatch **")
        check(lib.cal_batch_create(model, options, place), where="batch")
        self.pid = os.getpid()
        self.threads = threads
        self.wrenches = wrenches
        self.lock = threading.Lock()

        def destroy(c: Any, _model: Any = model, made: int = self.pid, getpid: Any = os.getpid) -> None:
            if getpid() == made:  # a forked process has none of the threads that would have to end
                lib.cal_batch_destroy(c)

        self.c = ffi.gc(place[0], destroy)


class Shared:
    """Handles of a group for calls on the group itself: as many as there are calls at the same time."""

    def __init__(self, group: Core, threads: int) -> None:
        self.group = group
        self.threads = thread_count(threads)

    def take(self, wrenches: int) -> Handle:
        model = self.group._m  # raises where the group is stale
        idle: list[Handle] = self.group.__dict__.setdefault("_idle_batches", [])
        pid = os.getpid()
        for k in range(len(idle)):
            try:
                handle = idle.pop(0)
            except IndexError:  # another thread was faster
                break
            if handle.pid == pid and handle.threads == self.threads and handle.wrenches >= wrenches:
                return handle
            if handle.pid == pid:
                idle.append(handle)
        return Handle(model, self.threads, max(WRENCHES, wrenches))

    def give_back(self, handle: Handle) -> None:
        idle: list[Handle] = self.group.__dict__["_idle_batches"]
        if len(idle) < 4:
            idle.append(handle)


class Own:
    """The handle of a calder.Batch."""

    def __init__(self, group: Core, threads: int) -> None:
        self.group = group
        self.threads = thread_count(threads)
        self._handle: Handle | None = Handle(group._m, self.threads, WRENCHES)

    def take(self, wrenches: int) -> Handle:
        model, handle = self.group._m, self._handle
        if handle is None:
            raise ClosedError("this batch was closed", -1)
        if handle.pid != os.getpid() or handle.wrenches < wrenches:
            handle = self._handle = Handle(model, self.threads, max(WRENCHES, wrenches))
        if not handle.lock.acquire(False):
            raise busy()
        return handle

    def give_back(self, handle: Handle) -> None:
        handle.lock.release()

    def close(self) -> None:
        handle = self._handle
        if handle is None:
            return
        if not handle.lock.acquire(False):
            raise busy()
        self._handle = None
        ffi.release(handle.c)


def rows_of(x: npt.ArrayLike, width: int, what: str, names: Sequence[str], most: int = 2) -> Array:
    """x as float64 with `width` numbers in its last dimension, which are contiguous; a view where that is possible."""
    try:
        given = np.asarray(x)
        if given.dtype.kind not in "fiub":
            raise TypeError(f"numbers of type {given.dtype}")
        a: Array = np.asarray(given, DOUBLE)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: cannot be taken as an array of numbers ({error})") from None
    if not 1 <= a.ndim <= most or a.shape[-1] != width:
        shapes = [f"({width},)", f"(states, {width})", f"(steps, states, {width})"][:most]
        listed = ", ".join(names[:24]) + (", ..." if len(names) > 24 else "")
        raise ArgumentError(f"{what}: expected shape {' or '.join(shapes)}{': ' + listed if listed else ''}; got {a.shape}")
    if not a.flags.aligned or a.strides[-1] != 8 or any(s % 8 for s in a.strides):
        a = np.ascontiguousarray(a)
    return a


class Call:
    """The arguments of one call on arrays, and what they point to."""

    def __init__(self, group: Core, q: Any, u: Any, t: Any, most: int = 2) -> None:
        self.group = group
        self.most = most  # dimensions of inputs: 3 where steps may have their own
        self.states = ffi.new("CalBatchStates *")
        self.input = ffi.new("CalBatchInput *")
        self.wrench_count = 0
        self.steps: int | None = None
        self._counts: dict[str, int] = {}
        self._held: list[Any] = []
        self.put(self.states.q, q, group.nq, "q", group.q_names, 2)
        if u is not None:
            self.put(self.states.u, u, group.nu, "u", group.u_names, 2)
        if t is not None:
            times = np.asarray(t)
            self.put(self.states.t, times.reshape((*times.shape, 1)), 1, "t", (), 2)

    def put(self, place: Any, x: Any, width: int, what: str, names: Sequence[str], most: int | None = None) -> None:
        """Fills a CalBatchArray."""
        a = rows_of(x, width, what, names, most or self.most)
        self._held.append(a)
        place.data = ffi.cast("double *", a.__array_interface__["data"][0])
        if a.ndim >= 2:
            self._counts[what] = a.shape[-2]
            place.stride = a.strides[-2] // 8 if a.shape[-2] != 1 else 0
        if a.ndim == 3:
            if self.steps not in (None, 1, a.shape[0]) and a.shape[0] != 1:
                raise ArgumentError(f"{what}: {a.shape[0]} steps, but another input has {self.steps}")
            self.steps = a.shape[0] if a.shape[0] != 1 else self.steps or 1
            place.step_stride = a.strides[0] // 8 if a.shape[0] != 1 else 0

    def put_input(self, tau: Any, wrenches: Wrenches | None, prescribed: Any, udot: Any) -> None:
        """Fills the CalBatchInput."""
        group = self.group
        if tau is not None:
            self.put(self.input.tau, tau, group.nu, "tau", group.u_names)
        if udot is not None:
            self.put(self.input.udot, udot, group.nu, "udot", group.u_names)
        if prescribed is not None:
            held = ffi.from_buffer("uint8_t[]", flags(prescribed, group.nu, "prescribed", group.u_names))
            self._held.append(held)
            self.input.prescribed = held
        if wrenches is not None:
            self._put_wrenches(wrenches)

    def _put_wrenches(self, wrenches: Wrenches) -> None:
        places, numbers = [], []
        for node, local, six in _each_wrench(wrenches):
            places.append((self.group.node_index(node), int(local)))
            numbers.append(rows_of(six, 6, f"wrench on {node!r} (moment, force)", (), self.most))
        if not places:
            return
        try:
            stacked = np.stack(np.broadcast_arrays(*numbers), axis=-2)
        except ValueError as error:
            raise ArgumentError(f"wrenches: shapes do not go together ({error})") from None
        self.wrench_count = len(places)
        listed = ffi.new("CalBatchWrench[]", places)
        self._held.append(listed)
        self.input.wrenches = listed
        self.input.wrench_count = len(places)
        self.put(self.input.wrench, stacked.reshape((*stacked.shape[:-2], 6 * len(places))), 6 * len(places), "wrenches", ())

    def shape(self) -> tuple[int, ...]:
        """() for one state, (B,) for an array of them; sets the count."""
        counts = set(self._counts.values()) - {1}
        if len(counts) > 1:
            listed = ", ".join(f"{what}: {n}" for what, n in self._counts.items())
            raise ArgumentError(f"arrays have different numbers of states ({listed})")
        self.states.count = counts.pop() if counts else 1
        return (self.states.count,) if self._counts else ()

    def run(self, handles: Shared | Own, where: str, status: Any, function: Any, *arguments: Any) -> Any:
        """function(batch, states, *arguments, statuses); raises where the call was refused, or one state failed."""
        shape = self.shape()
        statuses = _status_array(status, shape)
        handle = handles.take(self.wrench_count)
        try:
            returned = function(handle.c, self.states, *arguments, ffi.from_buffer("CalStatus[]", statuses))
        finally:
            handles.give_back(handle)
        if returned and (shape == () or not statuses.any()):
            raise make(returned, f"{where}: {status_text(returned)}")
        return statuses


def _each_wrench(wrenches: Any) -> Iterable[tuple[Any, bool, Any]]:
    if isinstance(wrenches, Mapping):
        for node, six in wrenches.items():
            yield node, False, six
        return
    for w in wrenches:
        try:
            moment, force = np.broadcast_arrays(np.asarray(w.moment, DOUBLE), np.asarray(w.force, DOUBLE))
            yield w.node, bool(w.local), np.concatenate([moment, force], axis=-1)
        except (AttributeError, TypeError, ValueError) as error:
            raise ArgumentError(f"wrenches: give {{node: (moment, force)}} or a list of calder.Wrench ({error})") from None


def _status_array(status: Any, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    if status is None:
        return np.zeros(shape, STATUS)
    if (not isinstance(status, np.ndarray) or status.dtype != STATUS or status.shape != shape
            or not status.flags.c_contiguous or not status.flags.writeable):
        raise ArgumentError(f"status: must be a writable C-contiguous array of int32 with shape {shape}")
    status[...] = 0
    return status
