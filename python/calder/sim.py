# SPDX-License-Identifier: Apache-2.0
"""Sim: a model that runs in time."""
from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ._arrays import Array, NamedArray
from ._calder import ffi, lib
from ._handle import SimHandle
from ._mirror import Mirrors
from ._names import long_text, text, vec3
from .checkpoint import Checkpoints
from .control import Callbacks
from .errors import ArgumentError, check, fail, name_bytes, take, unknown
from .linear import SimLinear
from .model import Model
from .parameters import Parameters
from .pose import NodeView
from .recording import Recordings
from .report import Balance, Doubt, LogEntry, Monitor, Stats, read_doubts, read_log
from .state import State
from .state_space import SimStateSpace
from .transitions import Transitions

_SLICE_S = 0.1  # wall time after which a run looks whether somebody wants to interrupt it


def methods() -> dict[str, str]:
    """Names of the integration methods of this build, and what each is."""
    found = {}
    for i in range(lib.CAL_METHOD_COUNT):
        info = lib.cal_method_info(i)
        if info.missing == ffi.NULL:
            found[text(info.name)] = text(info.doc)
    return found


def _set_method(options: Any, method: str | None, step: float | None) -> None:
    if method is None and step is not None and lib.cal_method_info(options.method.method).adaptive:
        method = "rk4"
    if method is not None:
        place = ffi.new("CalMethod *")
        if lib.cal_method_find(name_bytes(method), place) != 0:
            raise unknown("method", method, methods())
        if options.method.method != place[0]:
            options.method.rtol = options.method.atol = 0
        options.method.method = place[0]
    if step is not None:
        if not (step > 0 and math.isfinite(step)):
            raise ArgumentError(f"step: expected a time > 0 [s], not {step!r}")
        options.method.step = step
    info = lib.cal_method_info(options.method.method)
    if not info.adaptive and not options.method.step > 0:
        raise ArgumentError(f"method {text(info.name)!r} has fixed steps: give step= [s]")


class Sim(Transitions, Parameters, Callbacks, Recordings, Checkpoints, SimLinear, SimStateSpace):
    """A simulation of a model: all its groups with their devices, loads and events, advanced together in time.

    step [s]: fixed step; method: "rk4", "dopri5", ... (calder.methods()); by default both as the model says, and with a step
    alone a method of fixed steps ("rk4" where the model names none). rtol, atol: of adaptive methods. threads: that share the
    work of a step. state: a State, or {group: State}, to start from. room: for changes of topology (sim.reserve()).

    `sim.q` and `sim.u` show the present state; what is written there counts from the next run on, and closes loops anew. They
    stay the present state until bodies change groups (attach, detach); from then on an old view keeps its last numbers, and
    `sim.q` is a new one.
    """

    def __init__(self, model: Model, *, step: float | None = None, method: str | None = None, rtol: float | None = None,
                 atol: float | None = None, max_step: float | None = None, threads: int = 0, branches: int = 0,
                 state: State | Mapping[str, State] | None = None, room: Mapping[str, int] | bool | None = None) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"expected a calder.Model, not {type(model).__name__}")
        self.model = model
        options = ffi.new("CalSimOptions *", lib.cal_setup_options(model._setup))
        _set_method(options, method, step)
        for name, value in (("rtol", rtol), ("atol", atol), ("max_step", max_step)):
            if value is not None:
                setattr(options.method, name, value)
        options.threads = threads or options.threads
        options.branches = branches or options.branches
        clock = ffi.new("GlueClock *", {"slice_s": _SLICE_S})
        options.stop = lib.glue_stop(clock)
        self._handle = SimHandle(model._setup, options, clock, self._room_of(room))
        self._error = self._handle.error
        self._callbacks: list[Any] = []
        self._mirrors = Mirrors(self._handle, model)
        self._must_restart = True
        self._stopped: str | None = None
        self._last_duration = 0.0
        if state is not None:
            self.set_state(state)

    # ---- life ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Releases the simulation now. Views of states stay valid; everything else raises ClosedError."""
        self._mirrors.drop()
        self._handle.close()

    def __enter__(self) -> Sim:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Sim is not pickled: pickle its model and sim.checkpoint(), and restore them there")

    def __copy__(self) -> Sim:
        raise TypeError("a Sim is not copied: make another of the same model and restore sim.checkpoint() into it")

    def __deepcopy__(self, memo: Any) -> Sim:
        return self.__copy__()

    # ---- running ------------------------------------------------------------------------------

    def run(self, duration: float | None = None, *, until: float | None = None) -> Sim:
        """Advances by duration [s], or until a time [s]; by default for the duration that the model names, or as long as the last
        run. Returns the sim.

        An event that stops the run ends it in order (`sim.stopped`). An exception in a callback stops it too, and comes out here.
        """
        with self._handle as c:
            self._begin(c)
            end = self._end(c, duration, until)
            self._advance(lib.glue_advance(c, self._handle.clock, end, self._error))
            self._mirrors.pull()
        return self

    def step(self, count: int = 1) -> Sim:
        """So many steps; a step ends early where something jumps or happens. Returns the sim."""
        if count < 0:
            raise ArgumentError(f"count: expected a number of steps >= 0, not {count!r}")
        with self._handle as c:
            self._begin(c)
            self._advance(lib.glue_steps(c, self._handle.clock, count, self._error))
            self._mirrors.pull()
        return self

    def _end(self, c: Any, duration: float | None, until: float | None) -> float:
        now = lib.cal_sim_time(c)
        if until is not None:
            if duration is not None:
                raise ArgumentError("give either duration or until")
            end = float(until)
        elif duration is not None:
            end = now + float(duration)
        else:
            usual = float(lib.cal_setup_run(self.model._setup).duration) or self._last_duration
            if not usual > 0:
                raise ArgumentError("for how long? The model names no duration; give one [s]")
            end = now + usual
        if not math.isfinite(end) or end < now:
            raise ArgumentError(f"cannot advance from t = {now:g} s to t = {end:g} s; time only runs forward")
        self._last_duration = end - now
        return end

    def _begin(self, c: Any) -> None:
        """Takes over what was written to the state, and starts the run where that was not done."""
        self._stopped = None
        for callback in self._callbacks:
            callback.error = None
        if self._mirrors.push() or self._must_restart:
            self._advance(lib.cal_sim_restart(c, self._error))
            self._must_restart = False
            self._mirrors.pull()

    def _advance(self, status: int) -> bool:
        """True where an event stopped the run; raises the exception of a callback, or of the status."""
        self._mirrors.look()
        errors = [take(), *(callback.error for callback in self._callbacks)]
        for callback in self._callbacks:
            callback.error = None
        for error in errors:
            if error is not None:
                self._mirrors.pull()
                raise error
        if status == lib.CAL_STOPPED:
            why = ffi.new("const char **")
            lib.cal_scenario_stopped(self._handle.scenario, why)
            self._stopped = text(why[0]) or "stopped"
            return True
        if status:
            self._mirrors.pull()
            fail(status, self._error)
        return False

    def restart(self) -> Sim:
        """Makes the present state the start: loops are closed, monitors and doubts begin anew. Returns the sim."""
        with self._handle as c:
            self._mirrors.push()
            self._advance(lib.cal_sim_restart(c, self._error))
            self._must_restart = False
            self._mirrors.pull()
        return self

    def _started(self, c: Any) -> Any:
        """The simulation, started and with what was written to its state."""
        if self._must_restart or self._mirrors.changed():
            self._begin(c)
        return c

    # ---- the present state --------------------------------------------------------------------

    @property
    def t(self) -> float:
        """Time [s]."""
        if self._handle.closed:
            self._handle.__enter__()
        return float(lib.cal_sim_time(self._handle.c))

    @property
    def stopped(self) -> str | None:
        """Why an event stopped the last run; None: it did not."""
        return self._stopped

    @property
    def states(self) -> Mapping[str, State]:
        """The state of every group now, by name."""
        with self._handle.open():
            return self._mirrors.all()

    @property
    def state(self) -> State:
        """The state of the only group; of several: `sim.states[name]`."""
        with self._handle.open():
            return self._mirrors.only()

    @property
    def q(self) -> NamedArray:
        """Coordinates of the only group, a live view."""
        return self.state.q

    @q.setter
    def q(self, q: Any) -> None:
        self.state.q = q

    @property
    def u(self) -> NamedArray:
        """Speeds of the only group, a live view."""
        return self.state.u

    @u.setter
    def u(self, u: Any) -> None:
        self.state.u = u

    def set_state(self, state: State | Mapping[str, State]) -> None:
        """Copies time, q and u of a State (or one for each group by name) into the simulation."""
        given = {state.group.name: state} if isinstance(state, State) else dict(state)
        for one in given.values():
            if not isinstance(one, State):
                raise ArgumentError(f"expected a calder.State for each group, not {type(one).__name__}")
        with self._handle.open():
            for name, one in given.items():
                mine = self._mirrors.named(name)
                mine.q, mine.u = one.q, one.u
            if given:
                t = next(iter(given.values())).t
                for mine in self._mirrors.all().values():
                    mine.t = t

    def __getitem__(self, node: str) -> NodeView:
        """Motion of a body ("hand") or node ("hand/tip") now; properties follow the run."""
        with self._handle.open():
            for state in self._mirrors.all().values():
                if node in state.group._node_index or lib.cal_model_find_node(state.group._m, name_bytes(node)) >= 0:
                    return state[node]
            raise unknown("node", node, [n for s in self._mirrors.all().values() for n in s.group.nodes])

    def view(self, duration: float | None = None, *, path: Any = None, interval: float | None = None, height: int = 480) -> Any:
        """Runs as record() does and shows the run: inline in a notebook; elsewhere writes an HTML file and returns its path."""
        return self.record(["energy"], duration, interval=interval).view(path, height=height)

    def acceleration(self, group: str | None = None) -> Array:
        """udot [nu] of a group now, under everything that acts."""
        with self._handle as c:
            self._started(c)
            view = ffi.new("CalSimView *")
            index = self._mirrors.index(group)
            self._advance(lib.cal_sim_observe(c, index, view))
            return np.array(ffi.unpack(view.udot, lib.cal_model_u_count(view.model)))

    # ---- what there is to say of the run ------------------------------------------------------

    @property
    def doubts(self) -> list[Doubt]:
        """Reasons to doubt the run so far: balance errors, steps beyond what is stable, moved initial states, ..."""
        with self._handle as c:
            self._advance(lib.cal_sim_examine(self._started(c)))
            return read_doubts(c)

    @property
    def balance(self) -> Balance:
        """Energy and momentum of all groups and devices, and what the energy balance misses."""
        with self._handle as c:
            b = ffi.new("CalSimBalance *")
            self._advance(lib.cal_sim_balance(self._started(c), b))
            return Balance(b.groups, b.stored, b.dissipated, b.supplied, b.error, bool(b.complete), vec3(b.linear),
                           vec3(b.angular))

    def monitor(self, group: str | None = None) -> Monitor:
        """Energy, momentum and loop residuals of a group, and how they changed since the start."""
        with self._handle as c:
            m = ffi.new("CalSimMonitor *")
            self._started(c)
            self._advance(lib.cal_sim_monitor(c, self._mirrors.index(group), m))
            return Monitor(m.energy.total, m.energy_change, vec3(m.linear_change), vec3(m.angular_change), m.residual,
                           m.residual_rate, bool(m.energy_conserved), bool(m.momentum_conserved))

    def assembly(self, group: str | None = None) -> str:
        """What closing the loops moved of the state that was given, in words; "": nothing."""
        with self._handle as c:
            self._started(c)
            return long_text(partial(lib.cal_sim_assembly_text, c, self._mirrors.index(group)))

    @property
    def stats(self) -> Stats:
        """Counts and clocks since the start."""
        with self._handle as c:
            s = lib.cal_sim_stats(c)
            return Stats(s.steps, s.rejected, s.evaluations, s.time, s.wall_s, s.cpu_s, s.real_time_factor)

    @property
    def log(self) -> list[LogEntry]:
        """What events did: time, event, action, energy lost, jumps of momentum."""
        with self._handle.open():
            return read_log(self._handle.scenario)

    @property
    def events(self) -> dict[str, int]:
        """Events by name, and how often each has happened."""
        with self._handle.open() as c:
            found = {}
            for i in range(lib.cal_sim_event_count(c)):
                found[text(lib.cal_sim_event_name(c, i))] = int(lib.cal_sim_event_happened(c, i, ffi.NULL))
            return found

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<calder.Sim, closed>"
        return f"<calder.Sim of {self.model.source!r} at t = {self.t:g} s>"
