# SPDX-License-Identifier: Apache-2.0
"""What there is to say about a model and a run, as data: import report, findings, doctor; doubts, balance, counts, log."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._arrays import Array
from ._calder import ffi, lib
from ._names import text
from .errors import check, new_error


@dataclass(frozen=True)
class ImportNote:
    """What became of a piece of a robot file that is not in the model as it stands in the file."""

    kind: str
    """"ignored", "assumed", "changed" or "missing"."""
    file: str
    line: int
    column: int
    element: str
    text: str


@dataclass(frozen=True)
class Diagnosis:
    """Something suspicious in a model: evidence, likely cause and remedy."""

    kind: str
    object: str
    evidence: str
    cause: str
    fix: str
    place: str


@dataclass(frozen=True)
class Finding:
    """An error or a warning of the check of a description."""

    error: bool
    text: str


@dataclass(frozen=True)
class RunSettings:
    """Run settings of a model."""

    duration: float
    """[s]"""
    method: str
    step: float
    """[s]; 0: chosen."""
    rtol: float
    """Relative tolerance of adaptive methods."""
    atol: float
    """Absolute tolerance of adaptive methods [rad, m, rad/s, m/s]."""
    signals: tuple[str, ...]


@ffi.def_extern()
def glue_on_finding(user: Any, finding: Any) -> None:
    ffi.from_handle(user).append(Finding(finding.status < 0, text(finding.text)))


@ffi.def_extern()
def glue_on_diagnosis(user: Any, d: Any) -> None:
    kind = text(lib.cal_diagnosis_name(d.kind))
    ffi.from_handle(user).append(
        Diagnosis(kind, text(d.object), text(d.evidence), text(d.cause), text(d.fix), text(d.place))
    )


class Reports:
    """Reports of a Model."""

    _setup: Any

    @property
    def format(self) -> str:
        """Format of the robot file that it was read from: "urdf", "mjcf", "sdf"; "" for model files."""
        return text(lib.cal_setup_format(self._setup))

    @property
    def warnings(self) -> list[str]:
        """What the reader found suspicious, with file, line and column."""
        return [text(lib.cal_setup_warning(self._setup, i)) for i in range(lib.cal_setup_warning_count(self._setup))]

    @property
    def import_report(self) -> list[ImportNote]:
        """What of a robot file was ignored, assumed, changed or is missing."""
        note, notes = ffi.new("CalImportNote *"), []
        for i in range(lib.cal_setup_import_note_count(self._setup)):
            check(lib.cal_setup_import_note(self._setup, i, note))
            notes.append(ImportNote(text(lib.cal_import_name(note.kind)), text(note.file), note.line, note.column,
                                    text(note.element), text(note.text)))
        return notes

    @property
    def devices(self) -> dict[str, str]:
        """Devices of the model by name, and their types."""
        kind, name, found = ffi.new("const char **"), ffi.new("const char **"), {}
        for i in range(lib.cal_setup_device_count(self._setup)):
            check(lib.cal_setup_device(self._setup, i, kind, name, ffi.NULL))
            found[text(name[0])] = text(kind[0])
        return found

    @property
    def events(self) -> dict[str, list[str]]:
        """Events of the model by name, and the kinds of their actions."""
        e, found = ffi.new("CalSetupEvent *"), {}
        for i in range(lib.cal_setup_event_count(self._setup)):
            check(lib.cal_setup_event(self._setup, i, e))
            found[text(e.name)] = [text(lib.cal_action_name(e.actions[k].kind)) for k in range(e.action_count)]
        return found

    @property
    def run_settings(self) -> RunSettings:
        """How long and by which method the model is run by default."""
        r = lib.cal_setup_run(self._setup)
        signals = [[text(s.signals[k]) for k in range(s.signal_count)] for s in (r.streams[i] for i in range(r.stream_count))]
        return RunSettings(r.duration, text(lib.cal_method_name(r.method.method)), r.method.step, r.method.rtol, r.method.atol,
                           tuple(signals[0]) if signals else ())

    def check(self) -> list[Finding]:
        """All errors and warnings of the description."""
        found: list[Finding] = []
        handle = ffi.new_handle(found)
        lib.cal_desc_check(lib.cal_setup_desc(self._setup), lib.glue_on_finding, handle)
        return found

    def doctor(self) -> list[Diagnosis]:
        """What a person should look at: inertias in wrong units, exchanged axes, limits that exclude the state, ..."""
        found: list[Diagnosis] = []
        handle, error = ffi.new_handle(found), new_error()
        check(lib.cal_setup_diagnose(self._setup, lib.glue_on_diagnosis, handle, error), error)
        return found


# ---- runs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Doubt:
    """A reason to doubt a run."""

    kind: str
    object: str
    """What it is about; "": all of the run."""
    time: float
    """When it was first seen [s]."""
    value: float
    """What was found, in the unit that `text` names."""
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


@dataclass(frozen=True, eq=False)
class Monitor:
    """Invariants of a group and how they changed since the start."""

    energy: float
    """Total, now [J]."""
    energy_change: float
    """[J]; drift of the integration only where `energy_conserved`."""
    linear_change: Array
    """[kg m/s]; drift only where `momentum_conserved`."""
    angular_change: Array
    """About the world's origin [kg m^2/s]."""
    residual: float
    """Of loops, the largest now."""
    residual_rate: float
    """Largest rate of the loops [m/s, 1/s]."""
    energy_conserved: bool
    momentum_conserved: bool


@dataclass(frozen=True)
class Stats:
    """Counts and clocks of a run since its start."""

    steps: int
    rejected: int
    evaluations: int
    time: float
    """Simulated [s]."""
    wall_s: float
    """Wall time [s]."""
    cpu_s: float
    """Processor time of all threads [s]."""
    real_time_factor: float
    """Simulated time by wall time."""


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
