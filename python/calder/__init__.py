# SPDX-License-Identifier: Apache-2.0
"""Calder: dynamics of mechanical systems made of rigid and flexible bodies, at a cost linear in their number.

    import calder
    m = calder.load("arm.urdf")
    s = m.state(); s.q["shoulder"] = 0.3
    qdd = m.forward(s)
    sim = calder.Sim(m); sim.run(10); sim["tool"].position

SI units and radians; quaternions (w, x, y, z); spatial vectors angular first. docs/python.md
"""
from ._calder import ffi as _ffi
from ._calder import lib as _lib
from .batch import Batch, Rollout
from .dynamics import Energy, Momentum, Wrench
from .errors import (
    ArgumentError,
    BusyError,
    ClosedError,
    Error,
    FileError,
    InputError,
    ModelError,
    NumericalError,
    StaleError,
    UnsupportedError,
    status_text,
)
from .group import Group
from .model import Model, load, loads
from .pose import Pose
from .state import State

__version__: str = _ffi.string(_lib.cal_version()).decode()

__all__ = [
    "ArgumentError", "Batch", "BusyError", "ClosedError", "Energy", "Error", "FileError", "Group", "InputError", "Model",
    "ModelError", "Momentum", "NumericalError", "Pose", "Rollout", "StaleError", "State", "UnsupportedError", "Wrench", "load", "loads",
    "status_text",
]
