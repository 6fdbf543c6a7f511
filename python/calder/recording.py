# SPDX-License-Identifier: Apache-2.0
"""Recording a run: quantities of the catalogue, by name, into arrays (calder/quantity.h)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array
from ._calder import ffi, lib
from ._names import text
from .errors import ArgumentError, check, name_bytes, new_error
from .results import Column, Results
from .report import read_doubts, read_log

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors
    from .model import Model

_CHUNK = 1 << 20  # numbers in one piece of a record


class Sampler:
    """A CalSampler: columns found by name in a simulation."""

    def __init__(self) -> None:
        place, error = ffi.new("CalSampler **"), new_error()
        check(lib.cal_sampler_create(ffi.NULL, place, error), error)
        self.c = ffi.gc(place[0], lib.cal_sampler_destroy)

    def add(self, sim: Any, name: str) -> None:
        """Adds the columns of a quantity."""
        error = new_error()
        check(lib.cal_sampler_add(self.c, sim, name_bytes(name), error), error)

    def add_where_there(self, sim: Any, name: str) -> None:
        """The same for what may not be there."""
        status = lib.cal_sampler_add(self.c, sim, name_bytes(name), ffi.NULL)
        if status == lib.CAL_ERR_MEMORY:
            check(status)

    def __len__(self) -> int:
        return int(lib.cal_sampler_column_count(self.c))

    def columns(self) -> list[Column]:
        """Name and unit of every column; the first is the time."""
        info, found = ffi.new("CalSamplerColumn *"), []
        for i in range(len(self)):
            check(lib.cal_sampler_column(self.c, i, info))
            found.append(Column(text(info.name), text(info.unit)))
        return found

    def find(self, name: str) -> tuple[int, int]:
        """First column of a name that was added, and how many there are."""
        first, count = ffi.new("int *"), ffi.new("int *")
        check(lib.cal_sampler_find(self.c, name_bytes(name), first, count))
        return int(first[0]), int(count[0])


def add_replay(sampler: Sampler, sim: Any) -> None:
    """What the viewer needs: poses, speeds and modes of all bodies, contacts, balances."""
    info, device = ffi.new("CalBodyInfo *"), ffi.new("CalDeviceInfo *")
    rows = 0
    for g in range(lib.cal_sim_group_count(sim)):
        model = lib.cal_sim_model(sim, g)
        rows += lib.cal_model_row_count(model)
        for i in range(lib.cal_model_body_count(model)):
            check(lib.cal_model_body(model, i, info))
            body = text(info.name)
            sampler.add_where_there(sim, f"pose:{body}")
            sampler.add_where_there(sim, f"velocity:{body}")
            for k in range(info.modes):
                sampler.add_where_there(sim, f"q:{body}.eta{k + 1}")
    for i in range(lib.cal_sim_device_count(sim)):
        check(lib.cal_sim_device(sim, i, device))
        if text(device.ops.type) == "contact":
            sampler.add_where_there(sim, f"device:{text(device.name)}")
    for name in ("balance", "total_momentum", *(("residual",) if rows else ())):
        sampler.add_where_there(sim, name)


def quantities() -> dict[str, str]:
    """The catalogue of what can be recorded: how each name is written, and what it is."""
    info, found = ffi.new("CalQuantityInfo *"), {}
    for i in range(lib.cal_quantity_count()):
        check(lib.cal_quantity(i, info))
        word, about = text(info.word), text(info.object)
        found[f"{word}:{about}" if about else word] = text(info.doc)
    return found


class Recordings:
    """Recording of a Sim."""

    model: Model
    _handle: SimHandle
    _mirrors: Mirrors
    _error: Any

    if TYPE_CHECKING:

        def _started(self, c: Any) -> Any: ...
        def _advance(self, status: int) -> bool: ...
        def _begin(self, c: Any) -> None: ...
        def _end(self, c: Any, duration: float | None, until: float | None) -> float: ...

    def read(self, quantity: str) -> Any:
        """A quantity now, e.g. "energy:total", "velocity:hand/tip", "reaction:elbow": a number, or an array of several."""
        with self._handle.open() as c:
            if not self._handle.acting:
                self._started(c)
            sampler = Sampler()
            sampler.add(c, quantity)
            row = ffi.new("double[]", len(sampler))
            self._advance(lib.cal_sampler_sample(sampler.c, c, row))
            first, count = sampler.find(quantity)
            values = np.array(ffi.unpack(row, len(sampler)))[first : first + count]
            return float(values[0]) if count == 1 else values

    def record(self, quantities: Sequence[str] | str | None = None, duration: float | None = None, *,
               until: float | None = None, interval: float | None = None, times: Sequence[float] = (),
               replay: bool = True) -> Results:
        """Runs as run() does, and returns samples of quantities as Results.

        quantities: names of the catalogue (calder.quantities()): "q", "energy", "pose:hand/tip", "reaction:elbow.Fx"; by default
        those of the model file, or q, u, energy and momentum. interval [s]: between samples; 0: every step; by default as the
        model file says, or every step. The first sample is the present state. times [s]: further samples, exactly there. replay:
        also what r.view() needs.
        """
        settings = lib.cal_setup_run(self.model._setup)
        stream = settings.streams[0] if settings.stream_count else None
        if quantities is None:
            quantities = [text(stream.signals[i]) for i in range(stream.signal_count)] if stream else []
            quantities = quantities or ["q", "u", "energy", "momentum"]
        names = [quantities] if isinstance(quantities, str) else list(quantities)
        if interval is None:
            interval = float(stream.interval) if stream else 0.0
        if not interval >= 0:
            raise ArgumentError(f"interval: expected a time >= 0 [s], not {interval!r}")
        with self._handle as c:
            self._begin(c)
            end = self._end(c, duration, until)
            sampler = Sampler()
            for name in names:
                sampler.add(c, name)
            wanted = len(sampler)
            if replay:
                add_replay(sampler, c)
            rows = self._collect(c, sampler, end, interval, np.array(sorted(times), float))
            self._mirrors.pull()
            about = {"title": self.model.title, "doubts": read_doubts(c), "log": read_log(self._handle.scenario),
                     "model": self.model, "interval": interval}
        return Results(sampler.columns(), rows, shown=wanted, about=about)

    def _collect(self, c: Any, sampler: Sampler, end: float, interval: float, times: Array) -> Array:
        width = len(sampler)
        further = times[(times > lib.cal_sim_time(c)) & (times < end)]
        extra = ffi.new("double[]", further.tolist())
        record = ffi.new("GlueRecord *", {"sampler": sampler.c, "start": lib.cal_sim_time(c), "end": end,
                                          "interval": interval, "extra": extra, "extra_count": len(further)})
        pieces: list[Array] = []
        size = 256
        while record.taken == 0 or lib.cal_sim_time(c) < record.end:
            piece = np.empty((size, width))
            held = ffi.from_buffer("double[]", piece)
            record.rows, record.capacity, record.used = held, size, 0
            stopped = self._advance(lib.glue_record(c, self._handle.clock, record, self._error))
            pieces.append(piece[: record.used])
            if stopped:
                break
            size = min(2 * size, max(256, _CHUNK // width))
        return np.concatenate(pieces)
