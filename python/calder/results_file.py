# SPDX-License-Identifier: Apache-2.0
"""Result files (HDF5) through the library's own reader and writer (calder/results.h)."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import Array
from ._calder import ffi, lib
from ._names import text
from .definitions import Held
from .errors import check, name_bytes, new_error, path_bytes, unknown
from .results import Column, Results
from .report import Doubt, LogEntry, make_doubt


def _read_table(path: bytes, stream: str | None) -> tuple[list[Column], Array, int, bool]:
    table, error = ffi.new("CalResultsTable *"), new_error()
    check(lib.cal_results_read(path, ffi.NULL if stream is None else name_bytes(stream), table, error), error)
    held = ffi.gc(table, lib.cal_results_table_free)
    columns = [Column(text(held.columns[i].name), text(held.columns[i].unit)) for i in range(held.column_count)]
    shape = (held.row_count, held.column_count)
    if held.row_count == 0:
        return columns, np.empty(shape), held.dropped, bool(held.closed)
    # The view of the rows keeps the table: ffi.gc() on the pointer, whose destructor holds it.
    rows = ffi.gc(held.rows, lambda _, keep=held: None)
    data = np.frombuffer(ffi.buffer(rows, 8 * shape[0] * shape[1])).reshape(shape)
    return columns, data, held.dropped, bool(held.closed)


class ResultsFile(Results):
    """A result file: a Results of its first stream, with what else it holds.

    `f["q"]`, `f.t`, `f.units` as of Results; `f.stream("name")` for the others; title, model_text, method, doubts, log.
    """

    def __init__(self, path: str | os.PathLike[str], stream: str | None = None) -> None:
        name = path_bytes(path)
        about, error = ffi.new("CalResultsAbout *"), new_error()
        check(lib.cal_results_about(name, about, error), error)
        try:
            self.streams: tuple[str, ...] = tuple(text(about.streams[i]) for i in range(about.stream_count))
            self.title: str = text(about.title)
            self.created: str = text(about.created)
            self.software_version: str = text(about.software_version)
            self.model_name: str = text(about.model_name)
            self.model_text: str = text(about.model_text)
            self.method: str = text(about.method)
            self.step, self.rtol, self.atol = float(about.step), float(about.rtol), float(about.atol)
            self.closed: bool = bool(about.closed)
            doubts: list[Doubt] = [make_doubt(about.doubts[i]) for i in range(about.doubt_count)]
            actions = [(text(about.events[i]), text(about.actions[i])) for i in range(about.action_count)]
        finally:
            lib.cal_results_about_free(about)
        if stream is not None and stream not in self.streams:
            raise unknown("stream", stream, self.streams)
        columns, rows, self.dropped, _ = _read_table(name, stream)
        self._stream = stream
        self._actions: Sequence[tuple[str, str]] = actions
        super().__init__(columns, rows, about={"title": self.title, "doubts": doubts}, path=os.fspath(path))

    def stream(self, name: str) -> Results:
        """Another stream of the file."""
        if name not in self.streams:
            raise unknown("stream", name, self.streams)
        assert self.path is not None
        columns, rows, _, _ = _read_table(path_bytes(self.path), name)
        return Results(columns, rows, about=self.about, path=self.path)

    def model(self) -> Any:
        """The model that the file stores."""
        from .model import loads

        return loads(self.model_text, name=self.model_name)

    @property
    def log(self) -> list[LogEntry]:
        """What events did."""
        if not self._actions or self.path is None:
            return []
        columns, rows, _, _ = _read_table(path_bytes(self.path), "log")
        at = {c.name: i for i, c in enumerate(columns)}
        entries = []
        for row in rows.tolist():
            event, action = self._actions[int(row[at["action"]])]
            entries.append(LogEntry(row[at["t"]], event, action, row[at["kinetic_lost"]], row[at["misfit"]],
                                    row[at["impulse"]], float("nan"), float("nan"),
                                    "refused" if row[at["refused"]] else ""))
        return entries

    def __reduce__(self) -> Any:
        return ResultsFile, (self.path, self._stream)


def open(path: str | os.PathLike[str], stream: str | None = None) -> ResultsFile:  # noqa: A001
    """Opens a result file (HDF5); stream: the first by default."""
    return ResultsFile(path, stream)


def _stream(held: Held, name: str, path: Any, columns: Sequence[Column], interval: float) -> dict[str, Any]:
    listed = ffi.new("CalResultsColumn[]", [{"name": held.text(c.name), "unit": held.text(c.unit)} for c in columns])
    held.append(listed)
    return {"name": held.text(name), "path": path, "interval": interval, "columns": listed, "column_count": len(columns)}


def write(results: Results, path: str | os.PathLike[str]) -> None:
    """Results as an HDF5 file: the stream "main", and "replay" with what the viewer needs."""
    held = Held()
    model = results.about.get("model")
    target = held.text(os.fspath(path))
    interval = float(results.about.get("interval", 0.0))
    replay = [0, *(i for i, c in enumerate(results._columns)
                   if i >= results._shown or c.name.startswith(("pose:", "velocity:", "q:", "device:", "balance", "total_momentum", "residual")))]
    parts = [("main", list(range(results._shown)))]
    if results._shown < len(results._columns):
        parts.append(("replay", replay))
    streams = ffi.new("CalResultsStream[]", [
        _stream(held, name, target, [results._columns[i] for i in chosen], interval) for name, chosen in parts])
    options = ffi.new("CalResultsOptions *", {"streams": streams, "stream_count": len(parts)})
    options.title = held.text(results.about.get("title", ""))
    if model is not None:
        options.model_name = held.text(model.source)
        options.model_text = held.text(model.to_text())
    place, error = ffi.new("CalResults **"), new_error()
    check(lib.cal_results_create(options, place, error), error)
    out = ffi.gc(place[0], lib.cal_results_destroy)
    for k, (_, chosen) in enumerate(parts):
        rows = np.ascontiguousarray(results._rows[:, chosen])
        base = ffi.from_buffer("double[]", rows)
        status = 0
        for i in range(len(rows)):
            status = status or lib.cal_results_put(out, k, base + i * len(chosen))
    check(lib.cal_results_finish(out, error), error)
    ffi.release(out)
