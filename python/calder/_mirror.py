# SPDX-License-Identifier: Apache-2.0
"""The state of a simulation as Python sees it.

Memory of a CalSim moves when bodies change groups; a NumPy array on it would then point to something else. So each group has a
State of Python's own that is filled after every run and compared before the next: what a user wrote goes to the simulation. When
the topology changes the States are let go: old views keep their numbers, and nothing dangles.
"""
from __future__ import annotations

import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ._calder import ffi, lib
from ._handle import SimHandle
from ._names import text
from .errors import ArgumentError, StaleError, name_bytes, unknown
from .group import Group
from .model import Model
from .state import State, busy


class SimGroup(Group):
    """A group of a simulation whose topology has changed; its algorithms raise StaleError after the next change."""

    def __init__(self, handle: SimHandle, index: int) -> None:
        self._owner = handle
        self._adopt(lib.cal_sim_model(handle.c, index), handle.setup, handle)

    @property
    def _m(self) -> Any:
        """The model in the simulation's memory: not for others while it runs, and not after a change."""
        if self._pointer is None:
            raise StaleError("bodies have changed groups since, or the simulation was closed; ask the Sim for its states anew")
        if self._owner.user not in (0, threading.get_ident()):
            raise busy()
        return self._pointer

    @_m.setter
    def _m(self, pointer: Any) -> None:
        self._pointer = pointer

    def __reduce__(self) -> Any:
        raise TypeError("the groups of a simulation after a change of topology are not pickled")

    def state(self, q: Any = None, u: Any = None, t: float = 0.0) -> State:
        """A new state: neutral, or with q and u as given."""
        state = State(self)
        state.t = t
        state.q = state.q if q is None else q
        state.u = state.u if u is None else u
        return state


class Mirrors:
    """States of the groups of a simulation."""

    __slots__ = ("_handle", "_model", "_generation", "_states", "_shadows")

    def __init__(self, handle: SimHandle, model: Model) -> None:
        self._handle = handle
        self._model = model
        self._generation = lib.cal_sim_generation(handle.c)
        self._states: list[State] | None = None
        self._shadows: list[Any] = []

    # ---- finding ------------------------------------------------------------------------------

    def _group(self, index: int) -> Group:
        name = text(lib.cal_model_name(lib.cal_sim_model(self._handle.c, index)))
        own = self._model.groups.get(name)
        if self._generation == 0 and own is not None and own.nu == lib.cal_model_u_count(lib.cal_sim_model(self._handle.c, index)):
            return own
        return SimGroup(self._handle, index)

    def _make(self) -> list[State]:
        if self._states is None:
            self._states = [State(self._group(i)) for i in range(lib.cal_sim_group_count(self._handle.c))]
            self._shadows = [ffi.new("double[]", s.group.nq + s.group.nu + 1) for s in self._states]
            self.pull()
        return self._states

    def all(self) -> Mapping[str, State]:
        return MappingProxyType({state.group.name: state for state in self._make()})

    def index(self, group: str | None) -> int:
        if group is not None:
            index = lib.cal_sim_find_group(self._handle.c, name_bytes(group))
            if index < 0:
                raise unknown("group", group, self.all())
            return int(index)
        if lib.cal_sim_group_count(self._handle.c) != 1:
            raise ArgumentError(f"this simulation has several groups: {', '.join(self.all())}; name one (sim.states[name])")
        return 0

    def only(self) -> State:
        return self._make()[self.index(None)]

    def named(self, group: str | None) -> State:
        return self._make()[self.index(group)]

    # ---- exchange -----------------------------------------------------------------------------

    def pull(self) -> None:
        """What the simulation has."""
        self.look()
        for i, (state, shadow) in enumerate(zip(self._states or (), self._shadows)):
            lib.glue_pull_state(self._handle.c, i, state._c, shadow, state.group.nq, state.group.nu)

    def changed(self) -> bool:
        """Whether something was written to a state since."""
        return any(lib.glue_state_differs(state._c, shadow, state.group.nq, state.group.nu)
                   for state, shadow in zip(self._states or (), self._shadows))

    def push(self) -> bool:
        """Takes over what was written; True: something was."""
        self.look()
        done = False
        for i, (state, shadow) in enumerate(zip(self._states or (), self._shadows)):
            if lib.glue_state_differs(state._c, shadow, state.group.nq, state.group.nu):
                lib.glue_push_state(self._handle.c, i, state._c, state.group.nq, state.group.nu)
                done = True
        return done

    def look(self) -> None:
        """Lets the states go where the topology has changed."""
        generation = lib.cal_sim_generation(self._handle.c)
        if generation != self._generation:
            self.drop()
            self._generation = generation

    def drop(self) -> None:
        """Old views keep their numbers; groups of the simulation end."""
        for state in self._states or ():
            if isinstance(state.group, SimGroup):
                state.group._pointer = None
        self._states = None
        self._shadows = []
