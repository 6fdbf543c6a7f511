# SPDX-License-Identifier: Apache-2.0
"""What there is to say of a run, as data: doubts, energy balance, counts, the log of events."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._arrays import Array
from ._calder import ffi, lib
from ._names import text
from .errors import check


@dataclass(frozen=True)
class Doubt:
    """A reason to doubt a run."""

    kind: str
    object: str
    """What it is about; "": all of the run."""
    time: float
    """When it was first seen [s]."""
    value: float
    limit: float
    """What `value` should not exceed, in the same unit."""
    count: int
    text: str
    """A sentence with the numbers, their units, and the remedy."""


@dataclass(frozen=True, eq=False)
class Balance:
    """Energy and momentum of a simulation; groups + stored + dissipated - supplied is constant."""

    groups: float
    """Kinetic, of gravity and elastic [J]."""
    stored: float
    """In devices [J]."""
    dissipated: float
    """By devices, dampers and changes of topology since the start [J]."""
    supplied: float
    """By devices, loads, drives and controllers since the start [J]."""
    error: float
    """What the balance misses [J]; an error of the integration only if `complete`."""
    complete: bool
    linear: Array
    """Momentum of groups and devices [kg m/s]."""
    angular: Array
    """About the world's origin [kg m^2/s]."""


@dataclass(frozen=True)
class Stats:
    """Counts and clocks of a run since its start."""

    steps: int
    rejected: int
    evaluations: int
    time: float
    """Simulated [s]."""
    wall_s: float
    cpu_s: float
    real_time_factor: float


@dataclass(frozen=True)
class LogEntry:
    """What an action of an event did."""

    time: float
    """[s]"""
    event: str
    action: str
    kinetic_lost: float
    """Kinetic energy before less that after [J]."""
    misfit: float
    """Of an attach: how far the nodes were off [m, rad]."""
    impulse: float
    """Of an attach in the tree: size of the force's impulse [N s]."""
    linear_jump: float
    """Change of the momentum of everything [kg m/s]."""
    angular_jump: float
    """[kg m^2/s]"""
    refused: str
    """Why it was not done; "": it was."""


def make_doubt(d: Any) -> Doubt:
    """A CalDoubt as data."""
    return Doubt(text(lib.cal_doubt_name(d.kind)), ffi.string(d.object).decode(), d.time, d.value, d.limit, d.count,
                 ffi.string(d.text).decode())


def read_doubts(sim: Any) -> list[Doubt]:
    """All doubts of a CalSim."""
    d, found = ffi.new("CalDoubt *"), []
    for i in range(lib.cal_sim_doubt_count(sim)):
        check(lib.cal_sim_doubt(sim, i, d))
        found.append(make_doubt(d))
    return found


def read_log(scenario: Any) -> list[LogEntry]:
    """The log of a scenario, as far as it is kept."""
    e, entries = ffi.new("CalScenarioEntry *"), []
    for i in range(lib.cal_scenario_dropped(scenario), lib.cal_scenario_entry_count(scenario)):
        check(lib.cal_scenario_entry(scenario, i, e))
        refused = (text(e.why) or text(lib.cal_status_text(e.refused))) if e.refused else ""
        entries.append(LogEntry(e.time, text(e.event), text(e.text), e.kinetic_lost, e.misfit, e.impulse, e.linear_jump,
                                e.angular_jump, refused))
    return entries
