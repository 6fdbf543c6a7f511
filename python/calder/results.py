# SPDX-License-Identifier: Apache-2.0
"""Results: samples of a run with names and units, recorded here or read from a result file."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import Array
from ._calder import ffi, lib
from ._names import text
from .errors import ArgumentError, check, name_bytes, new_error, path_bytes, unknown
from .report import Doubt, make_doubt
from .view import Viewable


@dataclass(frozen=True)
class Column:
    """A column of results."""

    name: str
    unit: str


class Results(Viewable):
    """A table of samples: r["q"], r["q:elbow"], r["energy:total"], r.t; units in r.units.

    Arrays are read-only views of one table [rows, columns] and keep it alive; a name with one column gives [rows], one with
    several [rows, count].
    """

    def __init__(self, columns: Sequence[Column], rows: Array, *, shown: int | None = None,
                 about: Mapping[str, Any] | None = None, path: str | None = None) -> None:
        self._columns = tuple(columns)
        self._rows = rows
        self._rows.flags.writeable = False
        self._shown = len(columns) if shown is None else shown
        self._places = {column.name: i for i, column in enumerate(columns)}
        self.about: Mapping[str, Any] = dict(about or {})
        self.path = path

    # ---- what there is ------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; the first is the time, "t". Those recorded for the viewer alone are not listed."""
        return tuple(column.name for column in self._columns[: self._shown])

    @property
    def units(self) -> dict[str, str]:
        """Unit of every column; "1": none."""
        return {column.name: column.unit for column in self._columns[: self._shown]}

    @property
    def t(self) -> Array:
        """Times of the samples [s]."""
        return self._rows[:, 0]

    @property
    def doubts(self) -> list[Doubt]:
        """Reasons to doubt the run."""
        return list(self.about.get("doubts", ()))

    def __len__(self) -> int:
        return len(self._rows)

    def _find(self, name: str) -> list[int]:
        name_bytes(name, "column")
        place = self._places.get(name)
        if place is not None:
            return [place]
        ahead = (name + ":", name + ".")
        found = [i for i, column in enumerate(self._columns[: self._shown]) if column.name.startswith(ahead)]
        found = found or [i for i, column in enumerate(self._columns) if column.name.startswith(ahead)]
        if not found:
            raise unknown("column", name, self.columns)
        return found

    def __getitem__(self, name: str) -> Array:
        """Samples of a column, or of all columns of a quantity ("q") or object ("pose:hand/tip")."""
        found = self._find(name)
        if len(found) == 1:
            return self._rows[:, found[0]]
        if found == list(range(found[0], found[-1] + 1)):
            return self._rows[:, found[0] : found[-1] + 1]
        return self._rows[:, found]

    def names_of(self, name: str) -> tuple[str, ...]:
        """Names of the columns that r[name] has."""
        return tuple(self._columns[i].name for i in self._find(name))

    def __contains__(self, name: object) -> bool:
        try:
            return bool(self._find(str(name)))
        except KeyError:
            return False

    # ---- out ----------------------------------------------------------------------------------

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with the time as index; units in df.attrs["units"]."""
        import pandas

        frame = pandas.DataFrame(self._rows[:, 1 : self._shown], index=pandas.Index(self.t, name="t [s]"),
                                 columns=list(self.columns[1:]))
        frame.attrs["units"] = self.units
        return frame

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes a CSV file with names and units in its first line."""
        head = ",".join(f"{c.name} [{c.unit}]" for c in self._columns[: self._shown])
        np.savetxt(path, self._rows[:, : self._shown], delimiter=",", header=head, comments="", fmt="%.17g")

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws columns over time with matplotlib, one panel for each name (all quantities by default); returns the figure."""
        from matplotlib import pyplot

        chosen = list(names) or list(dict.fromkeys(name.partition(":")[0] for name in self.columns[1:]))
        if axes is None:
            _, grid = pyplot.subplots(len(chosen), 1, sharex=True, squeeze=False, figsize=(8, 2.4 * len(chosen)))
            axes = grid[:, 0]
        panels = np.atleast_1d(axes)
        if len(panels) != len(chosen):
            raise ArgumentError(f"plot: {len(chosen)} names need as many axes, not {len(panels)}")
        for panel, name in zip(panels, chosen):
            found = self._find(name)
            for i in found:
                panel.plot(self.t, self._rows[:, i], label=self._columns[i].name)
            units = sorted({self._columns[i].unit for i in found} - {"1"})
            panel.set_ylabel(f"{name} [{', '.join(units)}]" if units else name)
            if len(found) <= 12:
                panel.legend(fontsize="small", loc="upper right")
        panels[-1].set_xlabel("t [s]")
        return panels[0].figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an HDF5 result file as the command line does, or CSV by its ending."""
        if not lib.cal_results_is_hdf5(path_bytes(path)):
            self.to_csv(path)
            return
        from .results_file import write

        write(self, path)

    def __reduce__(self) -> Any:
        return _restore, (self._columns, np.array(self._rows), self._shown, self.about, self.path)

    def __repr__(self) -> str:
        end = f" to t = {self.t[-1]:g} s" if len(self) else ""
        return f"<calder.Results: {len(self)} samples{end}, {self._shown} columns>"


def _restore(columns: Sequence[Column], rows: Array, shown: int, about: Mapping[str, Any], path: str | None) -> Results:
    return Results(columns, rows, shown=shown, about=about, path=path)
