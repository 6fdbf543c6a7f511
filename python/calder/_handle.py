# SPDX-License-Identifier: Apache-2.0
"""C objects of a simulation, released in the right order whatever Python deletes first."""
from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._calder import ffi, lib
from .errors import ClosedError, UnsupportedError, check, new_error
from .state import busy


def forked() -> UnsupportedError:
    """The exception for threads that a child process does not have."""
    return UnsupportedError("threads do not survive a fork: make the object in the child process", -7)


class SimHandle:
    """A CalSim with its scenario. Holds the setup, which must outlive both, and what callbacks point to."""

    __slots__ = ("c", "scenario", "kept", "lock", "error", "closed", "clock", "acting", "user", "pid", "__weakref__")

    def __init__(self, setup: Any, options: Any, clock: Any, room: Any) -> None:
        place, scenario, error = ffi.new("CalSim **"), ffi.new("CalScenario **"), new_error()
        desc = lib.cal_setup_desc(setup)
        check(lib.cal_sim_create(desc, options, place, error), error)
        sim = place[0]
        status = lib.cal_sim_reserve(sim, desc, room, error) if room is not None else 0
        status = status or lib.cal_scenario_create(setup, sim, scenario, error)
        if status:
            lib.cal_sim_destroy(sim)
            check(status, error)
        made = scenario[0]
        self.kept: list[Any] = [setup, options, clock]

        pid = self.pid = os.getpid() if options.threads > 1 else 0

        def destroy(c: Any, made: Any = made, kept: list[Any] = self.kept) -> None:
            if pid and pid != os.getpid():
                return  # a child has none of the threads that would have to end
            lib.cal_scenario_destroy(made)
            lib.cal_sim_destroy(c)
            kept.clear()

        self.c = ffi.gc(sim, destroy)
        self.scenario = made
        self.clock = clock
        self.lock = threading.Lock()
        self.error = error
        self.closed = False
        self.user = 0  # the thread that has it
        self.acting = 0  # the thread whose run is in the action of an event, which may change the simulation

    @contextmanager
    def open(self) -> Iterator[Any]:
        """For calls that actions of events may make too."""
        if self.acting and self.acting == threading.get_ident():
            yield self.c
        else:
            with self as c:
                yield c

    def __enter__(self) -> Any:
        if not self.lock.acquire(False):
            raise busy()
        if self.closed:
            self.lock.release()
            raise ClosedError("this simulation was closed", -1)
        if self.pid and self.pid != os.getpid():
            self.lock.release()
            raise forked()
        self.user = threading.get_ident()
        return self.c

    def __exit__(self, *_: Any) -> None:
        self.user = 0
        self.lock.release()

    def close(self) -> None:
        """Releases everything now; refused while a call is under way."""
        if not self.lock.acquire(False):
            raise busy()
        try:
            if not self.closed:
                self.closed = True
                ffi.release(self.c)
        finally:
            self.lock.release()
