# SPDX-License-Identifier: Apache-2.0
"""A simulation linearized at its present state: x' = A x + B u, y = C x + D u (calder/state_space.h)."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, pointer, vector
from ._calder import ffi, lib
from ._names import text
from .errors import ArgumentError, check, name_bytes, new_error, unknown

if TYPE_CHECKING:
    from ._handle import SimHandle


def _matrix(p: Any, *shape: int) -> Array:
    count = int(np.prod(shape))
    return np.array(ffi.unpack(p, count)).reshape(shape) if count else np.zeros(shape)


def _names(p: Any, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units."""
    return tuple(text(p[i].name) for i in range(count)), tuple(text(p[i].unit) for i in range(count))


@dataclass(frozen=True)
class Trim:
    """An equilibrium that sim.trim() found."""

    iterations: int
    residual: float
    """Largest acceleration or rate of a device that is left."""
    stability: str
    """"stable", "neutral" or "unstable"."""
    growth: float
    """Largest real part of a pole [1/s]."""
    zero_poles: int


@dataclass(frozen=True, eq=False)
class TrimPath:
    """Equilibria along a parameter that sim.trim_path() found."""

    value: Array
    """Of the parameter [points]."""
    q: Array
    """Coordinates of all groups [points, nq]."""
    stability: tuple[str, ...]
    """"stable", "neutral" or "unstable" [points]."""
    growth: Array
    """Largest real part of a pole [1/s] [points]."""
    turns: tuple[bool, ...]
    """Whether the parameter turns back between the point before and this one [points]."""


class StateSpace:
    """x' = A x + B u, y = C x + D u about the state of a simulation; made by sim.state_space().

    x are displacements from the state: independent coordinates (in the tangent space), speeds, states of devices. u is added to
    what acts in the run; y are changes of the outputs.
    """

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.cal_state_space_release)
        n, m, p = c.state_count, c.input_count, c.output_count
        self.time: float = c.time
        """[s]"""
        self.A: Array = _matrix(c.A, n, n)
        self.B: Array = _matrix(c.B, n, m)
        self.C: Array = _matrix(c.C, p, n)
        self.D: Array = _matrix(c.D, p, m)
        self.states, self.state_units = _names(c.states, n)
        self.inputs, self.input_units = _names(c.inputs, m)
        self.outputs, self.output_units = _names(c.outputs, p)
        self.rate: Array = _matrix(c.rate, n)
        """Of the state itself [n]: speeds, accelerations, rates of devices; zero in equilibrium."""
        self.value: Array = _matrix(c.value, p)
        """Outputs at the state [p]."""
        self.warning: str = text(c.warning)
        """What the matrices do not show, e.g. a force that jumps at the state; "": nothing."""

    def poles(self) -> npt.NDArray[np.complex128]:
        """Eigenvalues of A [1/s], by magnitude; of a pair the one with positive imaginary part first."""
        n = len(self.states)
        poles = ffi.new("CalPole[]", max(n, 1))
        check(lib.cal_state_space_poles(self._c, poles), where="poles")
        return np.array([complex(poles[i].real, poles[i].imag) for i in range(n)])

    def transfer(self, input: str, output: str) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128], float]:
        """(zeros, poles, gain) of one transfer function, H(s) = gain prod(s - zeros)/prod(s - poles), as scipy.signal.lti takes them."""
        for name, names, what in ((input, self.inputs, "input"), (output, self.outputs, "output")):
            if name not in names:
                raise unknown(what, name, names)
        zeros, count, gain = ffi.new("CalPole[]", max(len(self.states), 1)), ffi.new("int *"), ffi.new("double *")
        check(lib.cal_state_space_transfer(self._c, self.inputs.index(input), self.outputs.index(output), zeros, count, gain),
              where="transfer function")
        return np.array([complex(zeros[i].real, zeros[i].imag) for i in range(count[0])], dtype=complex), self.poles(), gain[0]

    def response(self, frequency: npt.ArrayLike) -> npt.NDArray[np.complex128]:
        """C (i w - A)^-1 B + D at frequencies w [rad/s]: [..., p, m]."""
        w = np.asarray(frequency, dtype=float)
        p, m = self.D.shape
        H = np.zeros((w.size, p, m, 2))
        for i, one in enumerate(w.ravel()):
            check(lib.cal_state_space_response(self._c, float(one), pointer(H[i])), where=f"response at {one} rad/s")
        return (H[..., 0] + 1j * H[..., 1]).reshape(*w.shape, p, m)

    def step(self, input: str, duration: float, count: int = 201, *, size: float = 1.0) -> tuple[Array, Array]:
        """(t [count], y [count, p]) after an input steps from 0 to size, from x = 0."""
        if input not in self.inputs:
            raise unknown("input", input, self.inputs)
        if not (count >= 2 and duration > 0):
            raise ArgumentError("a step response needs a duration above 0 and at least 2 times")
        t, y = np.linspace(0, duration, count), np.zeros((count, len(self.outputs)))
        check(lib.cal_state_space_step(self._c, self.inputs.index(input), size, ffi.NULL, duration / (count - 1), count,
                                       pointer(y)), where="step response")
        return t, y

    def free(self, x0: npt.ArrayLike, duration: float, count: int = 201) -> tuple[Array, Array]:
        """(t [count], y [count, p]) from x0 [n] without inputs."""
        if not (count >= 2 and duration > 0):
            raise ArgumentError("a response needs a duration above 0 and at least 2 times")
        x = vector(x0, len(self.states), "x0", self.states)
        t, y = np.linspace(0, duration, count), np.zeros((count, len(self.outputs)))
        check(lib.cal_state_space_step(self._c, -1, 0.0, pointer(x), duration / (count - 1), count, pointer(y)),
              where="free response")
        return t, y

    def save(self, path: str | PathLike[str]) -> None:
        """Writes everything by the ending of the path: .json, .csv, .h5 or .mat (MATLAB level 5)."""
        error = new_error()
        check(lib.cal_state_space_write(self._c, name_bytes(fspath(path)), error), error)

    def __reduce__(self) -> Any:
        raise TypeError("a linearization is not pickled; keep its matrices, or save() it")

    def __repr__(self) -> str:
        return f"<calder.StateSpace: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def save_series(spaces: Sequence[StateSpace], path: str | PathLike[str]) -> None:
    """Writes linearizations at several times of a run as one linear system that varies with time; formats as StateSpace.save()."""
    if not spaces:
        raise ArgumentError("there is no linearization to save")
    error = new_error()
    c = ffi.new("CalStateSpace[]", [space._c[0] for space in spaces])
    check(lib.cal_state_space_write_series(c, len(spaces), name_bytes(fspath(path)), error), error)


def _list(names: Sequence[str]) -> tuple[Any, list[Any]]:
    """char *[] and what it points to."""
    texts = [ffi.new("char[]", name_bytes(name)) for name in names]
    return ffi.new("char *[]", texts) if texts else ffi.NULL, texts


class SimStateSpace:
    """Linearization of a Sim with inputs and outputs."""

    _handle: SimHandle
    _error: Any

    if TYPE_CHECKING:

        def _started(self, c: Any) -> Any: ...

    def state_space(self, inputs: Sequence[str] = (), outputs: Sequence[str] = (), *,
                    independent: Sequence[str] = ()) -> StateSpace:
        """All groups and devices linearized at the present state; does not change the run.

        inputs: "force:JOINT", "force:JOINT.DOF", "wrench:NODE.fx", "device:DEVICE.COMMAND". outputs: names of quantities, as
        sim.record() takes them. independent: degrees of freedom whose coordinates are states of groups with loops.
        """
        for names in (inputs, outputs, independent):
            if isinstance(names, str):
                raise ArgumentError(f"expected a list of names, not the text {names!r}")
        (i, i_texts), (o, o_texts), (d, d_texts) = _list(inputs), _list(outputs), _list(independent)
        options = ffi.new("CalStateSpaceOptions *", {"inputs": i, "input_count": len(i_texts), "outputs": o,
                                                     "output_count": len(o_texts), "independent": d,
                                                     "independent_count": len(d_texts)})
        c = ffi.new("CalStateSpace *")
        with self._handle as sim:
            self._started(sim)
            check(lib.cal_sim_state_space(sim, options, c, self._error), self._error)
        return StateSpace(c)

    def deviation(self, space: StateSpace) -> Array:
        """x [n]: how far the present state is from that of a linearization, as a controller u = -K x needs it."""
        x = np.zeros(len(space.states))
        with self._handle as sim:
            check(lib.cal_state_space_deviation(space._c, sim, pointer(x)), where="deviation")
        return x

    def trim(self, *, start: int = 0, seed: int = 1, spread: float = 0.0, max_iterations: int = 0, tolerance: float = 0.0) -> Trim:
        """Moves the simulation to an equilibrium: speeds zero but for driven ones, nothing accelerates.

        start k > 0: from another state, drawn at random within spread (0: pi rad) about the present one. Raises NumericalError
        where none is found; the state is then as before.
        """
        if start < 0 or max_iterations < 0 or not (spread >= 0 and tolerance >= 0 and seed >= 0):
            raise ArgumentError("start, seed, spread, max_iterations and tolerance are zero or more")
        options = ffi.new("CalTrimOptions *", {"start": start, "seed": seed, "spread": spread, "max_iterations": max_iterations,
                                               "tolerance": tolerance})
        found = ffi.new("CalTrim *")
        with self._handle as sim:
            self._started(sim)
            check(lib.cal_sim_trim(sim, options, found, self._error), self._error)
            return Trim(found.iterations, found.residual, text(lib.cal_stability_name(found.stability)), found.growth,
                        found.zero_poles)

    def trim_path(self, input: str, start: float, stop: float, *, back: float = 0.0, step: float = 0.0,
                  most: int = 1000) -> TrimPath:
        """Follows the equilibrium near the present state while an input (as state_space() names them) goes from start to stop.

        By arc length, past limit points. back: how far it may come back beyond start, in parts of stop - start. step: the longest
        (0: 0.1 rad, m or part of stop - start). The simulation is left at the last point, without the input.
        """
        if not (most >= 1 and step >= 0 and back >= 0 and start != stop):
            raise ArgumentError("start and stop differ, step and back are zero or more, most is 1 or more")
        name = ffi.new("char[]", name_bytes(input))
        options = ffi.new("CalTrimPathOptions *", {"input": name, "from": start, "to": stop, "back": back, "step": step,
                                                   "most": most})
        points, count = ffi.new("CalTrimPoint[]", most), ffi.new("int *")
        with self._handle as sim:
            self._started(sim)
            nq = sum(lib.cal_model_q_count(lib.cal_sim_model(sim, g)) for g in range(lib.cal_sim_group_count(sim)))
            q = np.zeros((most, nq))
            check(lib.glue_trim_path(sim, options, points, pointer(q), nq, count, self._error), self._error)
        n = count[0]
        return TrimPath(np.array([points[i].value for i in range(n)]), q[:n].copy(),
                        tuple(text(lib.cal_stability_name(points[i].stability)) for i in range(n)),
                        np.array([points[i].growth for i in range(n)]), tuple(bool(points[i].turns) for i in range(n)))
