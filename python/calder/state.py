# SPDX-License-Identifier: Apache-2.0
"""State: time, coordinates and speeds of one group, with the workspace in which its algorithms run.

All arrays of a State are slices of one block of NumPy's own memory, and the CalState that C sees points into it. So a view
(`s.q`, `s.q["elbow"]`, any slice) keeps the memory alive by itself, and C never frees it.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import DOUBLE, Array, NamedArray, output, pointer, vector
from ._calder import ffi, lib
from .errors import BusyError, check
from .pose import NodeView

if TYPE_CHECKING:
    from .group import Group


_NOTHING: Any = object()


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays may share memory; b may be no array."""
    return isinstance(b, np.ndarray) and bool(np.may_share_memory(a, b))


class State:
    """Time t [s], coordinates q and speeds u of a group of a model: the whole truth between steps.

    `s.q` and `s.u` are live views: writing to them changes the state. `s.q.copy()` is a copy. Elements go by index or by name:
    `s.q["elbow"] = 0.3`. `s["body"]` or `s["body/node"]` is the motion of a frame at this state.

    A State belongs to one thread at a time: a call while another thread computes with it raises BusyError. Copy it (`s.copy()`)
    for the other thread; models are shared freely.
    """

    __slots__ = ("group", "_c", "_work", "_acquire", "_release", "_block", "_held", "_q", "_u", "_tau", "_udot", "_tau_p",
                 "_udot_p", "_derivatives", "_input", "_tau_bound", "_tau_held", "_tau_seen", "_out_bound", "_out_held", "_out_seen", "_out_p",
                 "__weakref__")

    def __init__(self, group: Group) -> None:
        nq, nu = group.nq, group.nu
        self.group = group
        lock = threading.Lock()
        self._acquire, self._release = lock.acquire, lock.release
        self._block = np.zeros(nq + 3 * nu + 1)  # one more: C wants an address where there are no coordinates, too
        self._held = held = pointer(self._block)
        self._q = NamedArray.view_of(self._block[:nq], group._q_index)
        self._u = NamedArray.view_of(self._block[nq : nq + nu], group._u_index)
        self._tau = self._block[nq + nu : nq + 2 * nu]
        self._udot = self._block[nq + 2 * nu : nq + 3 * nu]
        self._tau_p = held + nq + nu
        self._udot_p = held + nq + 2 * nu
        self._c = ffi.new("CalState *", {"q": held + 0, "u": held + nq})
        self._input = ffi.new("CalInput *")
        self._tau_bound: Any = None
        self._tau_held: Any = None
        self._tau_seen: Any = None
        self._out_bound = self._out_held = self._out_seen = _NOTHING
        self._out_p = self._udot_p
        self._derivatives: Any = None  # made at the first use (derivatives.py)
        work = ffi.new("CalWork **")
        check(lib.cal_work_create(group._m, work))
        self._work = ffi.gc(work[0], lib.cal_work_destroy, group._work_size)
        lib.cal_config_neutral(group._m, self._c.q)

    # ---- numbers ------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(self._c.t)

    @t.setter
    def t(self, t: float) -> None:
        self._c.t = t

    @property
    def q(self) -> NamedArray:
        """Coordinates [rad, m; quaternions (w, x, y, z); modes], a live view; assigning copies numbers into it."""
        return self._q

    @q.setter
    def q(self, q: npt.ArrayLike) -> None:
        if q is not self._q:
            self._q[:] = vector(q, self.group.nq, "q", self.group.q_names)

    @property
    def u(self) -> NamedArray:
        """Speeds [rad/s, m/s], a live view; assigning copies numbers into it."""
        return self._u

    @u.setter
    def u(self, u: npt.ArrayLike) -> None:
        if u is not self._u:
            self._u[:] = vector(u, self.group.nu, "u", self.group.u_names)

    def normalize(self) -> State:
        """Makes quaternions unit; returns the state."""
        with self:
            check(lib.cal_config_normalize(self.group._m, self._c.q), where="normalize")
        return self

    def integrate(self, dq: npt.ArrayLike) -> State:
        """Moves q by dq [nu], a speed held for 1 s: rotations advance by the exponential map. Returns the state."""
        d = vector(dq, self.group.nu, "dq", self.group.u_names)
        with self:
            lib.cal_config_integrate(self.group._m, self._c.q, pointer(d), self._c.q)
        return self

    def difference(self, other: State) -> Array:
        """dq [nu] that leads from this configuration to the other, along the shorter rotation."""
        self.group._own(other)
        dq = np.empty(self.group.nu)
        lib.cal_config_difference(self.group._m, self._c.q, other._c.q, pointer(dq))
        return dq

    def rate(self, delta: npt.ArrayLike, u: npt.ArrayLike | None = None) -> Array:
        """Rate [nu] of the displacement delta [nu] from a configuration, when the speeds are u [nu] (None: those of this state).

        The configuration is then s.integrate(delta); where no joint has a quaternion the rate is u.
        """
        d, n = vector(delta, self.group.nu, "delta", self.group.u_names), self.group.nu
        v = self._u if u is None else vector(u, n, "u", self.group.u_names)
        result = np.empty(n)
        lib.cal_config_rate(self.group._m, pointer(d), pointer(v), pointer(result))
        return result

    # ---- frames -------------------------------------------------------------------------------

    def __getitem__(self, node: str | int) -> NodeView:
        """The motion of a body ("hand") or node ("hand/tip") at this state; computed when it is read."""
        return NodeView(self, self.group.node_index(node))

    # ---- arrays of forward dynamics -----------------------------------------------------------

    def _is_plain(self, a: Any) -> bool:
        """An array that C may use where it is: float64, contiguous, of its own memory."""
        return (type(a) is np.ndarray and a.dtype is DOUBLE and a.shape == self.group._shape_u and a.flags.c_contiguous
                and a.flags.aligned and not np.may_share_memory(a, self._block))

    def _take_tau(self, tau: Any) -> None:
        """Forces for the next call. An array that is given twice is bound: C reads it where it is, also in later calls."""
        if tau is None:
            self._tau_bound = self._tau_held = self._tau_seen = None
            self._input.tau = ffi.NULL
            return
        if tau is self._tau_seen and self._is_plain(tau) and not _overlap(tau, self._out_bound):
            self._tau_bound, self._tau_held = tau, pointer(tau)
            self._input.tau = self._tau_held
            return
        if type(tau) is np.ndarray and tau.dtype is DOUBLE and tau.shape == self.group._shape_u:
            self._tau[...] = tau
        else:
            self._tau[...] = vector(tau, self.group.nu, "tau", self.group.u_names)
        self._tau_seen, self._tau_bound, self._tau_held = tau, _NOTHING, None
        self._input.tau = self._tau_p

    def _take_out(self, out: Any) -> None:
        """The place of the next result; likewise."""
        if out is self._out_seen and self._is_plain(out) and out.flags.writeable and not _overlap(out, self._tau_bound):
            self._out_bound, self._out_held = out, pointer(out)
            self._out_p = self._out_held
            return
        if not (type(out) is np.ndarray and out.shape == self.group._shape_u and out.dtype is DOUBLE and out.flags.writeable):
            output(out, self.group._shape_u)
        self._out_seen, self._out_bound, self._out_held = out, _NOTHING, None
        self._out_p = self._udot_p

    # ---- use by one at a time -----------------------------------------------------------------

    def __enter__(self) -> State:
        if not self._acquire(False):
            raise busy()
        return self

    def __exit__(self, *_: Any) -> None:
        self._release()

    # ---- copies -------------------------------------------------------------------------------

    def copy(self) -> State:
        """A state of its own with the same numbers."""
        other = State(self.group)
        other._c.t = self._c.t
        other._q[:] = self._q
        other._u[:] = self._u
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> State:
        return self.copy()

    def __reduce__(self) -> Any:
        return _restore, (self.group, self.t, self._q.copy(), self._u.copy())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return (self.t == other.t and self.group.q_names == other.group.q_names and bool(np.array_equal(self._q, other._q))
                and bool(np.array_equal(self._u, other._u)))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<calder.State of {self.group.name!r}: t = {self.t:g} s, {self.group.nq} q, {self.group.nu} u>"


def _restore(group: Group, t: float, q: Array, u: Array) -> State:
    state = State(group)
    state.t = t
    state.q[:] = vector(q, group.nq, "q", group.q_names)
    state.u[:] = vector(u, group.nu, "u", group.u_names)
    return state


def busy() -> BusyError:
    """The exception for an object that another call is using."""
    return BusyError("this object is in use by another thread or by the callback that calls it; give each its own copy")
