# SPDX-License-Identifier: Apache-2.0
"""Every algorithm of the C library can be reached: the package calls each function of the headers below, or says why not."""
from __future__ import annotations

import re
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "python"))
import build_extension  # noqa: E402

HEADERS = ["batch", "branches", "closed", "derivatives", "doctor", "doubt", "dynamics", "fe", "flex", "identify", "impulse", "integrate",
           "inverse_kinematics", "linear", "loops", "mechanism", "mesh", "motion", "operators", "parameter", "sparse_mass", "state_space",
           "transition", "trim"]

BY_SIM = "calder.Sim and Batch integrate; an integrator of one's own takes its forces from a C function"
OF_FILES = "calder.load() and loads() read it from a model file; the package has no second way to describe it"
EXCEPTIONS = {  # a function, or all that begin with a text that ends with *
    "cal_batch_model": "a Batch has its group",
    "cal_batch_threads": "a Batch has the threads that were asked for",
    "cal_batch_lanes": "states side by side have the bits of states alone; nothing depends on them",
    "cal_batch_alone": "likewise",
    "cal_batch_to_device": "GPUs are for C programs so far",
    "cal_batch_device*": "likewise",
    "cal_batch_rollout_rows": "a Rollout has its arrays, with as many rows",
    "cal_derivatives_init": "a State makes its own by cal_derivatives_create()",
    "cal_fe_read_*": "cal_fe_read() reads these files, with the usual names of their matrices",
    "cal_integrator_*": BY_SIM,
    "cal_method_order": "cal_method_info() has it",
    "cal_method_names": "calder.methods() lists them",
    "cal_node_jacobian": "cal_node_jacobian_at() gives the same for a state, cal_node_jacobians() for several nodes",
    "cal_sim_add_motion": OF_FILES,
    "cal_sim_add_joint_drive": OF_FILES,
    "cal_drive_function_*": "for drives that C code gives to a description; " + OF_FILES,
    "cal_sim_find_dof": "sim.q and sim.u go by name",
    "cal_sim_find_mode": "likewise",
    "cal_sim_set_parameter": "cal_scenario_set_parameter() does the same and logs it",
    "cal_sim_memory_left": "a change that has no room says so",
    "cal_desc_loop_mechanism": "a description in the making has no reader in Python; the compiled model has",
    "cal_desc_joint_*": "likewise",
}


def declared():
    """All functions that the extension is generated for."""
    return set(re.findall(r"\b(cal_\w+)\(", build_extension.declarations(ROOT)))


def of_header(name):
    return re.findall(r"CAL_API[^;(]*?\b(cal_\w+)\(", (ROOT / f"include/calder/{name}.h").read_text())


def called():
    """Functions that the package or its glue calls."""
    package = "".join(path.read_text() for path in sorted((ROOT / "python/calder").glob("*.py")))
    return set(re.findall(r"\blib\.(cal_\w+)", package)) | set(re.findall(r"\b(cal_\w+)\(", (ROOT / "python/glue.c").read_text()))


def is_excepted(function):
    return any(function == name or name.endswith("*") and function.startswith(name[:-1]) for name in EXCEPTIONS)


def test_the_headers_are_read_in_full():
    headers = [path.stem for path in (ROOT / "include/calder").glob("*.h")]
    assert set(HEADERS) <= set(headers)
    assert {f for header in headers for f in of_header(header)} == declared()


@pytest.mark.parametrize("header", HEADERS)
def test_every_algorithm_is_reachable(header):
    functions = of_header(header)
    assert functions
    missing = [f for f in functions if f not in called() and not is_excepted(f)]
    assert missing == [], f"{header}.h: wrap these, or say in EXCEPTIONS why not"


def test_exceptions_are_needed():
    functions = {f for header in HEADERS for f in of_header(header)} - called()
    for name, reason in EXCEPTIONS.items():
        assert reason and any(f == name or name.endswith("*") and f.startswith(name[:-1]) for f in functions), name
