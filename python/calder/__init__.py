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
from .builder import Builder
from .campaign import Case, Cases, Plan
from .device import Context, Device
from .dynamics import Energy, Momentum, Wrench, wrench_express, wrench_shift
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
from .derivatives import ForwardDerivatives, InverseDerivatives, NodeDerivatives
from .fe import FiniteElements, Mesh, Modal
from .group import Group
from .identify import Combination, ForceFit, Identification, IdentifiedParameter, estimate_rates
from .linear import Linear, SystemForm, SystemMode
from .model import Model, load, loads
from .pose import Pose
from .recording import quantities
from .results import Results
from .parameters import Parameter
from .results_file import ResultsFile, open
from .sim import Sim, methods
from .sparse_mass import SparseFactor, SparseMass
from .state import State
from .state_space import StateSpace, Trim, TrimPath, save_series
from .transitions import Transition

__version__: str = _ffi.string(_lib.cal_version()).decode()

__all__ = [
    "ArgumentError", "Batch", "Builder", "BusyError", "Case", "Cases", "ClosedError", "Combination", "Context", "Device",
    "Energy", "Error", "FileError", "FiniteElements", "ForceFit", "ForwardDerivatives", "Group", "Identification",
    "IdentifiedParameter", "InputError", "InverseDerivatives", "Linear", "Mesh", "Modal", "Model", "ModelError",
    "Momentum", "NodeDerivatives", "NumericalError", "Parameter", "Plan", "Pose", "Results", "ResultsFile", "Rollout",
    "Sim", "SparseFactor", "SparseMass", "StaleError", "State", "StateSpace", "SystemForm", "SystemMode", "Transition",
    "Trim", "TrimPath", "UnsupportedError", "Wrench", "estimate_rates", "load", "loads", "methods", "quantities",
    "save_series", "status_text", "wrench_express", "wrench_shift",
]
