# SPDX-License-Identifier: Apache-2.0
"""Numbers that may change in a run: gains, friction, springs, loads, masses, gravity (calder/parameter.h)."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._calder import ffi, lib
from ._names import text
from .errors import check, name_bytes, unknown

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors


@dataclass(frozen=True)
class Parameter:
    """A number that may change in a run."""

    name: str
    """"device:servo.proportional", "body:arm.mass", "joint:elbow.damping", "group:main.gravity.z"."""
    unit: str
    value: float
    """Now."""
    low: float
    """Least value, in its unit."""
    high: float
    """Largest value, in its unit."""
    above: bool
    """It must be above `low`, not only from it on."""
    fixed: str
    """Why it cannot be changed; "": it can."""


def _parameters(c: Any) -> dict[str, Parameter]:
    found = {}
    p = ffi.new("CalParameter *")
    for i in range(lib.cal_sim_parameter_count(c)):
        lib.cal_sim_parameter(c, i, p)
        name = ffi.string(p.name).decode()
        found[name] = Parameter(name, ffi.string(p.unit).decode(), p.value, p.low, p.high, bool(p.above),
                                "" if p.fixed == ffi.NULL else text(p.fixed))
    return found


class Parameters:
    """Parameters of a Sim."""

    _handle: SimHandle
    _mirrors: Mirrors
    _error: Any

    if TYPE_CHECKING:

        def _started(self, c: Any) -> Any: ...
        def _reserve(self, c: Any, room: Any = None) -> None: ...

    def parameters(self) -> dict[str, Parameter]:
        """All of them by name: those of devices, and with sim.reserve() those of joints, bodies and groups."""
        with self._handle.open() as c:
            return _parameters(c)

    def set_parameter(self, name: str, value: float) -> float:
        """Changes one between steps; positions and speeds stay. Returns by how much the energy grew [J]; sim.log has it too."""
        with self._handle.open() as c:
            if not self._handle.acting:
                self._started(c)
            elif self._mirrors.push():
                self._mirrors.pull()
            if not name.startswith("device:"):
                self._reserve(c)
            index = lib.cal_sim_find_parameter(c, name_bytes(name))
            if index < 0:
                raise unknown("parameter", name, _parameters(c))
            scenario, entry = self._handle.scenario, ffi.new("CalScenarioEntry *")
            before = lib.cal_scenario_entry_count(scenario)
            status = lib.cal_scenario_set_parameter(scenario, index, value, self._error)
            self._mirrors.look()
            self._mirrors.pull()
            check(status, self._error)
            count = lib.cal_scenario_entry_count(scenario)
            logged = count > before and lib.cal_scenario_entry(scenario, count - 1, entry) == 0
            return float(entry.energy) if logged else 0.0
