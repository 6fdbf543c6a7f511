# SPDX-License-Identifier: Apache-2.0
"""Many states at once: arrays q [B, nq] and u [B, nu] in the place of a State, roll-outs, and calder.Batch.

One call of C evaluates all states, by several threads where that is asked for, without the GIL. Numbers of a state have the bits
of the call with a State, whatever the number of states and threads. docs/batch.md
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ._arrays import Array, is_array, output, pointer
from ._calder import ffi, lib
from ._rows import STATUS, Call, Own, Shared
from .dynamics import Dynamics, Energy, Momentum, Wrenches
from .errors import ArgumentError, unknown
from .kinematics import Kinematics, Motion
from .state import State

Statuses = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rollout:
    """States of a roll-out."""

    t: Array
    """Time since the start [s]: of the last state, or [rows]."""
    q: Array
    """[B, nq], or [rows, B, nq]; NaN from where a state failed."""
    u: Array
    """[B, nu], or [rows, B, nu]."""
    status: Statuses
    """[B]: 0, or why a state failed (calder.status_text)."""


def _column(x: Array, k: int) -> Any:
    """Column k of rows, or the number of a single row."""
    return x[..., k][()]


def method_number(name: str) -> int:
    """A method with a fixed step."""
    fixed = []
    for k in range(lib.CAL_METHOD_COUNT):
        info = lib.cal_method_info(k)
        if not info.adaptive:
            fixed.append(ffi.string(info.name).decode())
            if fixed[-1] == name:
                return k
    raise unknown("method with a fixed step", name, fixed)


class ArrayCalls:
    """The algorithms of a group on arrays of states."""

    def __init__(self, group: Batched, handles: Shared | Own) -> None:
        self.group = group
        self.handles = handles

    def _call(self, q: Any, u: Any, t: Any, most: int = 2) -> Call:
        return Call(self.group, q, u, t, most)

    def forward(self, q: Any, u: Any = None, tau: Any = None, *, t: Any = None, out: Any = None, status: Any = None,
                wrenches: Any = None, prescribed: Any = None, udot: Any = None) -> Array:
        call = self._call(q, u, t)
        call.put_input(tau, wrenches, prescribed, udot)
        result = output(out, (*call.shape(), self.group.nu))
        call.run(self.handles, "forward dynamics", status, lib.cal_batch_forward, call.input, pointer(result))
        return result

    def hybrid(self, q: Any, u: Any = None, tau: Any = None, *, t: Any = None, out: Any = None, status: Any = None,
               wrenches: Any = None, prescribed: Any = None, udot: Any = None) -> tuple[Array, Array]:
        call = self._call(q, u, t)
        call.put_input(tau, wrenches, prescribed, udot)
        shape = (*call.shape(), self.group.nu)
        result, force = output(out, shape), np.empty(shape)
        call.run(self.handles, "forward dynamics", status, lib.cal_batch_hybrid, call.input, pointer(result), pointer(force))
        return result, force

    def inverse(self, q: Any, u: Any = None, udot: Any = None, *, t: Any = None, out: Any = None, status: Any = None,
                wrenches: Any = None) -> Array:
        call = self._call(q, u, t)
        call.put_input(None, wrenches, None, None)
        a = ffi.NULL
        if udot is not None:
            a = ffi.new("CalBatchArray *")
            call.put(a, udot, self.group.nu, "udot", self.group.u_names)
        result = output(out, (*call.shape(), self.group.nu))
        call.run(self.handles, "inverse dynamics", status, lib.cal_batch_inverse, a, call.input, pointer(result))
        return result

    def of_state(self, function: Any, where: str, width: tuple[int, ...], q: Any, u: Any = None, *, t: Any = None,
                 out: Any = None, status: Any = None) -> Array:
        """Results of one function of the state alone."""
        call = self._call(q, u, t)
        result = output(out, (*call.shape(), *width))
        call.run(self.handles, where, status, function, pointer(result))
        return result

    def structs(self, function: Any, where: str, pointer_type: str, width: int, q: Any, u: Any, t: Any, status: Any) -> Array:
        """The same where C fills structures of `width` numbers."""
        call = self._call(q, u, t)
        x = np.empty((*call.shape(), width))
        call.run(self.handles, where, status, function, ffi.cast(pointer_type, pointer(x)))
        return x

    def energy(self, q: Any, u: Any = None, *, t: Any = None, status: Any = None) -> Energy:
        x = self.structs(lib.cal_batch_energy, "energy", "CalEnergy *", 4, q, u, t, status)
        return Energy(*(_column(x, k) for k in range(4)))

    def momentum(self, q: Any, u: Any = None, *, t: Any = None, status: Any = None) -> Momentum:
        x = self.structs(lib.cal_batch_momentum, "momentum", "CalMomentum *", 13, q, u, t, status)
        return Momentum(_column(x, 0), *(x[..., k : k + 3] for k in (1, 4, 7, 10)))

    def jacobian(self, q: Any, u: Any, node: str | int, *, t: Any = None, out: Any = None, status: Any = None) -> Array:
        call = self._call(q, u, t)
        result = output(out, (*call.shape(), 6, self.group.nu))
        index = self.group.node_index(node)
        call.run(self.handles, "Jacobian", status, lib.cal_batch_jacobian, index, pointer(result))
        return result

    def kinematics(self, q: Any, u: Any = None, nodes: Any = None, *, t: Any = None, status: Any = None) -> Motion:
        group = self.group
        chosen = group.nodes if nodes is None else (nodes,) if isinstance(nodes, (str, int)) else tuple(nodes)
        indices = [group.node_index(node) for node in chosen]
        call = self._call(q, u, t)
        shape = (*call.shape(), len(indices))
        poses, velocity = np.empty((*shape, 12)), np.empty((*shape, 6))
        call.run(self.handles, "kinematics", status, lib.cal_batch_nodes, ffi.new("int[]", indices), len(indices),
                 ffi.cast("CalPose *", pointer(poses)), ffi.cast("CalSpatial *", pointer(velocity)))
        names = tuple(group.nodes[k] for k in indices)
        return Motion(names, poses[..., 9:], poses[..., :9].reshape((*shape, 3, 3)), velocity, None)

    def rollout(self, q: Any, u: Any = None, tau: Any = None, *, step: float, steps: int | None = None, method: str = "rk4",
                every: int = 0, t: Any = None, wrenches: Any = None, prescribed: Any = None, udot: Any = None,
                projection: int = 1, status: Any = None, out: tuple[Array, Array] | None = None) -> Rollout:
        call = self._call(q, u, t, 3)
        call.put_input(tau, wrenches, prescribed, udot)
        shape = call.shape()
        count = steps if steps is not None else call.steps
        if count is None or count < 1 or call.steps not in (None, 1, count):
            raise ArgumentError(f"steps: {steps}; inputs have {call.steps or 'no'} steps")
        if every < 0 or every > count:
            raise ArgumentError(f"every: expected 0 (the last state alone) to {count}, got {every}")
        plan = ffi.new("CalBatchRollout *", {"method": method_number(method), "step": step, "steps": count, "every": every,
                                             "projection": projection if projection > 0 else -1})
        rows = (count // every,) if every else ()
        q_out, u_out = (None, None) if out is None else out
        q_end, u_end = output(q_out, (*rows, *shape, self.group.nq)), output(u_out, (*rows, *shape, self.group.nu))
        statuses = call.run(self.handles, "roll-out", status, lib.cal_batch_rollout, call.input, plan, pointer(q_end),
                            pointer(u_end))
        times = step * np.arange(every, count + 1, every) if every else np.asarray(step * count)
        return Rollout(times, q_end, u_end, statuses)


class Batched(Dynamics, Kinematics):
    """Algorithms that take a State, or arrays of states.

    In the place of `state` give q [B, nq] and u [B, nu] (None: at rest), then what follows it: `m.forward(q, u, tau)`. Arrays of
    one dimension hold for all states; where all have one dimension there is one state, and the result has one dimension less.
    Any strides are taken without a copy. A state that fails has NaN in its results, and its status in `status` (an int32 array
    [B] to be filled); nothing is raised then. threads: 1 by default, 0 for all processors. t: time [s], a number or [B].
    """

    def _arrays(self, threads: int) -> ArrayCalls:
        return ArrayCalls(self, Shared(self, threads))

    def _forward_arrays(self, q: Any, u: Any, tau: Any, threads: int = 1, **options: Any) -> Array:
        return self._arrays(threads).forward(q, u, tau, **options)

    @overload
    def hybrid(self, state: State, tau: npt.ArrayLike | None = None, **options: Any) -> tuple[Array, Array]: ...
    @overload
    def hybrid(self, q: npt.ArrayLike, u: npt.ArrayLike | None = None, tau: npt.ArrayLike | None = None, *,
               threads: int = 1, **options: Any) -> tuple[Array, Array]: ...
    def hybrid(self, *arguments: Any, threads: int = 1, **options: Any) -> tuple[Array, Array]:
        """(udot, force): accelerations, and what prescribed degrees of freedom need beyond tau; of a state or of many."""
        if _takes_state(arguments):
            return super().hybrid(*arguments, **options)
        return self._arrays(threads).hybrid(*arguments, **options)

    @overload
    def inverse(self, state: State, udot: npt.ArrayLike | None = None, **options: Any) -> Array: ...
    @overload
    def inverse(self, q: npt.ArrayLike, u: npt.ArrayLike | None = None, udot: npt.ArrayLike | None = None, *,
                threads: int = 1, **options: Any) -> Array: ...
    def inverse(self, *arguments: Any, threads: int = 1, **options: Any) -> Array:
        """tau [nu] that makes the system accelerate with udot [nu] (None: zero) under wrenches and gravity; of the tree."""
        if _takes_state(arguments):
            return super().inverse(*arguments, **options)
        return self._arrays(threads).inverse(*arguments, **options)

    def _of_state(self, function: Any, where: str, width: tuple[int, ...], q: Any, u: Any, threads: int, options: Any) -> Array:
        return self._arrays(threads).of_state(function, where, width, q, u, **options)

    def bias(self, state: State | npt.ArrayLike, u: npt.ArrayLike | None = None, *, threads: int = 1, **options: Any) -> Array:
        """h [nu]: velocity-dependent inertia forces alone (Coriolis, centrifugal, gyroscopic)."""
        if _takes_state((state,)):
            return super().bias(state, **options)  # type: ignore[arg-type]
        return self._of_state(lib.cal_batch_bias_forces, "bias forces", (self.nu,), state, u, threads, options)

    def gravity(self, state: State | npt.ArrayLike, u: npt.ArrayLike | None = None, *, threads: int = 1, **options: Any) -> Array:
        """Q [nu] of gravity alone."""
        if _takes_state((state,)):
            return super().gravity(state, **options)  # type: ignore[arg-type]
        return self._of_state(lib.cal_batch_gravity_forces, "gravity forces", (self.nu,), state, u, threads, options)

    def elastic(self, state: State | npt.ArrayLike, u: npt.ArrayLike | None = None, *, threads: int = 1, **options: Any) -> Array:
        """Q [nu] of joint springs and dampers, and of the stiffness and damping of modes."""
        if _takes_state((state,)):
            return super().elastic(state, **options)  # type: ignore[arg-type]
        return self._of_state(lib.cal_batch_elastic_forces, "elastic forces", (self.nu,), state, u, threads, options)

    def mass_matrix(self, state: State | npt.ArrayLike, *, threads: int = 1, **options: Any) -> Array:
        """M [nu, nu], reflected rotor inertias included; of a state, or M [B, nu, nu] of q [B, nq]."""
        if _takes_state((state,)):
            return super().mass_matrix(state, **options)  # type: ignore[arg-type]
        return self._of_state(lib.cal_batch_mass_matrix, "mass matrix", (self.nu, self.nu), state, None, threads, options)

    def energy(self, state: State | npt.ArrayLike, u: npt.ArrayLike | None = None, *, threads: int = 1, **options: Any) -> Energy:
        """Kinetic, of gravity, elastic and total energy [J]; arrays [B] of them for many states."""
        if _takes_state((state,)):
            return super().energy(state, **options)  # type: ignore[arg-type]
        return self._arrays(threads).energy(state, u, **options)

    def momentum(self, state: State | npt.ArrayLike, u: npt.ArrayLike | None = None, *, threads: int = 1,
                 **options: Any) -> Momentum:
        """Mass, center of mass, linear and angular momentum, world axes; arrays of them for many states."""
        if _takes_state((state,)):
            return super().momentum(state, **options)  # type: ignore[arg-type]
        return self._arrays(threads).momentum(state, u, **options)

    def jacobian(self, state: State | npt.ArrayLike, node: str | int, *, threads: int = 1, **options: Any) -> Array:
        """J [6, nu]: velocity of the node = J u, rows angular first, world axes; J [B, 6, nu] of q [B, nq]."""
        if _takes_state((state,)):
            return super().jacobian(state, node, **options)  # type: ignore[arg-type]
        return self._arrays(threads).jacobian(state, None, node, **options)

    @overload
    def kinematics(self, state: State, udot: npt.ArrayLike | None = None) -> Motion: ...
    @overload
    def kinematics(self, q: npt.ArrayLike, u: npt.ArrayLike | None = None,
                   nodes: str | int | Sequence[str | int] | None = None, *, threads: int = 1, **options: Any) -> Motion: ...
    def kinematics(self, *arguments: Any, threads: int = 1, **options: Any) -> Motion:
        """Poses and velocities of all nodes, and accelerations where udot [nu] is given; of many states: of `nodes`, [B, nodes]."""
        if _takes_state(arguments):
            return super().kinematics(*arguments, **options)
        return self._arrays(threads).kinematics(*arguments, **options)

    def rollout(self, q: npt.ArrayLike, u: npt.ArrayLike | None = None, tau: npt.ArrayLike | None = None, *, step: float,
                steps: int | None = None, method: str = "rk4", every: int = 0, t: npt.ArrayLike | None = None,
                wrenches: Wrenches | None = None, prescribed: npt.ArrayLike | None = None, udot: npt.ArrayLike | None = None,
                projection: int = 1, status: Statuses | None = None, out: tuple[Array, Array] | None = None,
                threads: int = 1) -> Rollout:
        """Advances each of the states q [B, nq], u [B, nu] (None: at rest) by `steps` steps of size `step` [s].

        tau, udot and wrenches are constant, [nu] or [B, nu], or have a row for every step, [steps, B, nu] (dimensions of 1 are
        repeated). method: "rk4", "euler-cromer", "implicit" or "implicit-midpoint". every: k keeps every k-th state, [rows, B, nq];
        0 the last one alone. projection: loops are projected every so many steps, 0: never. out: (q, u) for the results; with
        every=0 those may be the q and u of the start. Has the bits of a run of each state by itself.
        """
        return self._arrays(threads).rollout(q, u, tau, step=step, steps=steps, method=method, every=every, t=t,
                                             wrenches=wrenches, prescribed=prescribed, udot=udot, projection=projection,
                                             status=status, out=out)


def _takes_state(arguments: tuple[Any, ...]) -> bool:
    """No array comes first: a State, or what neither is, for the message that says what was expected."""
    return not arguments or not is_array(arguments[0])


class Batch:
    """n states of a group in arrays of their own, and threads that are kept from call to call.

        b = calder.Batch(model, 1024, threads=0)
        b.q[:] = ...; b.u[:] = ...
        udot = b.forward(tau)                         # [n, nu]
        b.step(tau, step=0.01, steps=2)               # advances q, u and t in place

    Every call fills `status` [n]: 0, or why a state failed; its results are NaN. One call at a time: another thread gets BusyError.
    """

    def __init__(self, model: Batched, n: int, *, threads: int = 1) -> None:
        if not isinstance(model, Batched):
            raise ArgumentError(f"expected a calder.Model or Group, not {type(model).__name__}")
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n < 2**31:
            raise ArgumentError(f"n: expected a number of states, got {n!r}")
        self.group = model
        self._own = Own(model, threads)
        self._calls = ArrayCalls(model, self._own)
        self._t, self._u = np.zeros(n), np.zeros((n, model.nu))
        self._status: Statuses = np.zeros(n, STATUS)
        self._q = np.empty((n, model.nq))
        self._q[:] = model.neutral().q

    @property
    def n(self) -> int:
        """Number of states."""
        return len(self._q)

    @property
    def threads(self) -> int:
        """Threads that work on a call, the caller's among them."""
        return self._own.threads

    @property
    def q(self) -> Array:
        """Coordinates [n, nq]; write to it."""
        return self._q

    @property
    def u(self) -> Array:
        """Speeds [n, nu]; write to it."""
        return self._u

    @property
    def t(self) -> Array:
        """Times [n] [s]; write to it."""
        return self._t

    @property
    def status(self) -> Statuses:
        """Of the last call [n]: 0, or why a state failed."""
        return self._status

    def _of(self, call: Any, *arguments: Any, **options: Any) -> Any:
        return call(self._q, self._u, *arguments, t=self._t, status=self._status, **options)

    def forward(self, tau: npt.ArrayLike | None = None, **options: Any) -> Array:
        """Accelerations [n, nu]; options as of Model.forward."""
        result: Array = self._of(self._calls.forward, tau, **options)
        return result

    def inverse(self, udot: npt.ArrayLike | None = None, **options: Any) -> Array:
        """Generalized forces [n, nu] for accelerations udot [nu] or [n, nu]."""
        result: Array = self._of(self._calls.inverse, udot, **options)
        return result

    def mass_matrix(self, *, out: Array | None = None) -> Array:
        """M [n, nu, nu]."""
        nu = self.group.nu
        return self._calls.of_state(lib.cal_batch_mass_matrix, "mass matrix", (nu, nu), self._q, self._u, t=self._t, out=out,
                                    status=self._status)

    def energy(self) -> Energy:
        """Energies, arrays [n]."""
        result: Energy = self._of(self._calls.energy)
        return result

    def momentum(self) -> Momentum:
        """Momenta, arrays [n] and [n, 3]."""
        result: Momentum = self._of(self._calls.momentum)
        return result

    def jacobian(self, node: str | int, *, out: Array | None = None) -> Array:
        """J [n, 6, nu] of a node."""
        result: Array = self._of(self._calls.jacobian, node, out=out)
        return result

    def kinematics(self, nodes: str | int | Sequence[str | int] | None = None) -> Motion:
        """Poses and velocities of nodes (None: all), [n, nodes]."""
        result: Motion = self._of(self._calls.kinematics, nodes)
        return result

    def rollout(self, tau: npt.ArrayLike | None = None, *, step: float, **options: Any) -> Rollout:
        """Roll-outs from these states, which stay; options as of Model.rollout."""
        result: Rollout = self._of(self._calls.rollout, tau, step=step, **options)
        return result

    def step(self, tau: npt.ArrayLike | None = None, *, step: float, steps: int = 1, **options: Any) -> Statuses:
        """Advances the states by `steps` steps of size `step` [s], and returns the statuses; those that fail become NaN."""
        if options.get("every") or options.get("out") is not None:
            raise ArgumentError("step: keeps the last state in place; use rollout for others")
        self._of(self._calls.rollout, tau, step=step, steps=steps, out=(self._q, self._u), **options)
        self._t += steps * step
        return self._status

    def close(self) -> None:
        """Ends the threads now; the arrays stay."""
        self._own.close()

    def __len__(self) -> int:
        return self.n

    def __reduce__(self) -> Any:
        return _restore, (self.group, self.threads, self._t, self._q, self._u)

    def __repr__(self) -> str:
        return f"<calder.Batch: {self.n} states of {self.group.name!r}, {self.threads} threads>"


def _restore(group: Batched, threads: int, t: Array, q: Array, u: Array) -> Batch:
    batch = Batch(group, len(q), threads=threads)
    batch.t[:], batch.q[:], batch.u[:] = t, q, u
    return batch
