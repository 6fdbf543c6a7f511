# SPDX-License-Identifier: Apache-2.0
"""Campaigns: one model run many times with other numbers in it (calder/campaign.h, docs/sweep.md)."""
from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._calder import ffi, lib
from ._names import text
from ._shared import drop, hold, share
from .errors import ArgumentError, Error, check, name_bytes, new_error, path_bytes
from .model import Model, own_setup
from .sim import Sim


@dataclass(frozen=True)
class Parameter:
    """A parameter of a plan."""

    name: str
    unit: str
    """SI unit of its values; "": none was given."""
    how: str
    """In words: "normal(10, 0.1)"."""
    targets: tuple[str, ...]
    """Places in the model file."""


@dataclass(frozen=True)
class Output:
    """What is kept of every case."""

    name: str
    signal: str
    statistic: str
    at: float
    """Of the statistic "at" [s]."""
    above: float
    """Lower limit, in the unit of the signal; -inf: none."""
    below: float
    """Upper limit; inf: none."""


@dataclass(frozen=True)
class Case:
    """What a case gave."""

    k: int
    """Its number in the plan, from 0."""
    status: str
    """"ok", "out of limits", "failed", ... ("not run")."""
    message: str
    """Why it failed; "": it did not."""
    outputs: Mapping[str, float]
    """Outputs by name, in the unit of their signals."""


_STATUS = {text(lib.cal_case_status_name(i)): i for i in range(lib.CAL_CASE_COUNT)}


class Cases:
    """Results of a campaign: one row per case, parameters and outputs."""

    def __init__(self, plan: Plan, cases: Iterable[Case]) -> None:
        self.plan = plan
        self.cases = sorted(cases, key=lambda case: case.k)

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, name: str) -> Any:
        """An output or a parameter of all cases, as an array."""
        if name in self.plan.outputs:
            return np.array([case.outputs[name] for case in self.cases])
        return np.array([self.plan.values(case.k)[name] for case in self.cases])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: index case, columns status, message, parameters, outputs."""
        import pandas

        rows: list[dict[str, Any]] = [
            {"status": c.status, "message": c.message, **self.plan.values(c.k), **c.outputs} for c in self.cases]
        return pandas.DataFrame(rows, index=pandas.Index([c.k for c in self.cases], name="case"))

    def __repr__(self) -> str:
        bad = sum(case.status != "ok" for case in self.cases)
        return f"<calder.Cases: {len(self)} of {self.plan.count}, {bad} not ok>"


class Plan:
    """A plan of a campaign: a model file, the places in it that vary and how, and what is kept.

    `plan.values(k)` are the parameters of case k, `plan.model(k)` its model; `plan.run()` runs all cases.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        place, error = ffi.new("CalPlan **"), new_error()
        check(lib.cal_plan_read(path_bytes(path), ffi.NULL, place, error), error)
        self._c = share(place[0], lib.cal_plan_destroy)
        self.path = os.fspath(path)
        info = lib.cal_plan_info(self._c)
        self.title: str = text(info.title)
        self.count: int = info.case_count
        self.seed: int = info.seed
        self.design: str = text(lib.cal_design_name(info.design))
        self.sample: float = info.sample
        """Time between samples [s]; 0: every step; < 0: as the model says."""
        self.parameters: dict[str, Parameter] = {}
        p, o = ffi.new("CalPlanParameter *"), ffi.new("CalPlanOutput *")
        for i in range(info.parameter_count):
            check(lib.cal_plan_parameter(self._c, i, p))
            targets = tuple(text(p.targets[t]) for t in range(p.target_count))
            self.parameters[text(p.name)] = Parameter(text(p.name), text(p.unit), text(p.how), targets)
        self.outputs: dict[str, Output] = {}
        for i in range(info.output_count):
            check(lib.cal_plan_output(self._c, i, o))
            self.outputs[text(o.name)] = Output(text(o.name), text(o.signal), text(lib.cal_statistic_name(o.statistic)),
                                                o.at, o.above, o.below)

    def _case(self, k: int) -> int:
        if not 0 <= k < self.count:
            raise ArgumentError(f"no case {k}; there are {self.count}")
        return int(k)

    def values(self, k: int) -> dict[str, float]:
        """Parameters of case k, SI."""
        place, error = ffi.new("double[]", len(self.parameters) + 1), new_error()
        check(lib.cal_plan_values(self._c, self._case(k), place, error), error)
        return dict(zip(self.parameters, place))

    def model(self, k: int | None = None) -> Model:
        """The model with the values of case k in it; None: as it stands."""
        place, error = ffi.new("CalSetup **"), new_error()
        check(lib.cal_plan_open_case(self._c, -1 if k is None else self._case(k), place, error), error)
        return Model(own_setup(place))

    def run_case(self, k: int, prepare: Any = None) -> Case:
        """Runs case k as `calder sweep` does; prepare(sim) is called before, for controllers and devices."""
        try:
            return self._run(self._case(k), prepare)
        except Error as error:
            return Case(k, "failed", error.text, {name: math.nan for name in self.outputs})

    def _run(self, k: int, prepare: Any) -> Case:
        with Sim(self.model(k)) as sim:
            if prepare is not None:
                prepare(sim)
            signals = list(dict.fromkeys(o.signal for o in self.outputs.values() if o.signal != "t"))
            times = [o.at for o in self.outputs.values() if o.statistic == "at"]
            interval = self.sample if self.sample >= 0 else None
            r = sim.record(signals, interval=interval, times=times, replay=False)
            doubts = sim.doubts
        message = f"doubt ({doubts[0].kind}): {doubts[0].text}" if doubts else ""
        return self._judge(k, r, message)

    def _judge(self, k: int, r: Any, message: str) -> Case:
        o, status, outputs = ffi.new("CalPlanOutput *"), "ok", {}
        rows = np.ascontiguousarray(r._rows)
        base, width = ffi.from_buffer("double[]", rows), rows.shape[1]
        for i, output in enumerate(self.outputs.values()):
            columns = [0] if output.signal == "t" else r._find(output.signal)
            if len(columns) != 1:
                raise ArgumentError(f"output {output.name!r}: {output.signal!r} is {len(columns)} numbers and one is wanted")
            check(lib.cal_plan_output(self._c, i, o))
            value = float(lib.glue_statistic(o, base, base + columns[0], width, len(rows)))
            outputs[output.name] = value
            if not math.isfinite(value):
                status, message = "failed", f"output \"{output.name}\" is not a finite number"
            elif status == "ok" and not output.above < value < output.below:
                low = value <= output.above
                word, limit = ("above", output.above) if low else ("below", output.below)
                status, message = "out of limits", f"output \"{output.name}\" is {value:.9g} and must be {word} {limit:.9g}"
        return Case(k, status, message, outputs)

    def run(self, cases: Iterable[int] | None = None, *, folder: str | os.PathLike[str] | None = None, threads: int = 1,
            prepare: Any = None) -> Cases:
        """Runs cases (all by default) on so many threads; folder: results are kept there as `calder sweep` keeps them.

        A case depends on the plan and its number alone; cases that a folder has already are not run again.
        """
        from concurrent.futures import ThreadPoolExecutor

        wanted = [self._case(k) for k in (range(self.count) if cases is None else cases)]
        kept = Folder(folder, self) if folder is not None else None
        done = [case for k in wanted if kept and (case := kept.case(k)) is not None]
        left = sorted(set(wanted) - {case.k for case in done})
        with ThreadPoolExecutor(max(1, threads)) as pool:
            for case in pool.map(lambda k: self.run_case(k, prepare), left):
                if kept:
                    kept.put(case)
                done.append(case)
        if kept:
            kept.merge()
        return Cases(self, done)

    def __reduce__(self) -> Any:
        return Plan, (self.path,)

    def __repr__(self) -> str:
        return f"<calder.Plan {self.path!r}: {self.count} cases, {self.design}>"


class Folder:
    """The folder of a campaign, which any number of processes may share."""

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        place, self._error = ffi.new("CalCampaign **"), new_error()
        units = [ffi.new("char[]", name_bytes(unit)) for unit in _units(plan)]
        check(lib.cal_campaign_open(path_bytes(path), plan._c, ffi.new("char *[]", units), ffi.NULL, place, self._error),
              self._error)
        held = hold(plan._c)

        def close(c: Any) -> None:
            lib.cal_campaign_close(c)
            drop(held)

        self._c = ffi.gc(place[0], close)
        self._plan = plan
        check(lib.cal_campaign_refresh(self._c, self._error), self._error)

    def case(self, k: int) -> Case | None:
        """What was put for a case; None: nothing."""
        if lib.cal_campaign_status(self._c, k) == lib.CAL_CASE_MISSING:
            return None
        r = ffi.new("CalCaseResult *")
        check(lib.cal_campaign_result(self._c, k, r))
        n = len(self._plan.outputs)
        numbers = [math.nan] * n if r.outputs == ffi.NULL else ffi.unpack(r.outputs, n)
        return Case(k, text(lib.cal_case_status_name(r.status)), text(r.message), dict(zip(self._plan.outputs, numbers)))

    def put(self, case: Case) -> None:
        """Appends a result; the death of the process does not lose it."""
        message = ffi.new("char[]", case.message.encode())
        numbers = ffi.new("double[]", list(case.outputs.values()))
        r = ffi.new("CalCaseResult *", {"k": case.k, "status": _STATUS[case.status], "message": message, "outputs": numbers})
        check(lib.cal_campaign_put(self._c, r, self._error), self._error)

    def merge(self) -> None:
        """Writes cases.csv and cases.h5."""
        check(lib.cal_campaign_refresh(self._c, self._error), self._error)
        check(lib.cal_campaign_merge(self._c, self._error), self._error)


def _units(plan: Plan) -> list[str]:
    """Units of the outputs, from the model as it stands."""
    from .recording import Sampler

    units = []
    with Sim(plan.model()) as sim:
        sim.restart()
        for output in plan.outputs.values():
            sampler = Sampler()
            if output.signal != "t":
                sampler.add(sim._handle.c, output.signal)
            units.append(sampler.columns()[-1].unit)
    return units
