# SPDX-License-Identifier: Apache-2.0
"""What readers and checks say about a model, as data: warnings, import report, findings, doctor."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
