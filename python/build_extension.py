# SPDX-License-Identifier: Apache-2.0
"""Declarations and C source of the extension calder._calder, made from the public headers at build time.

The headers are preprocessed and given to cffi as they are: no struct is written down twice, and the C compiler checks every
layout when it compiles what cffi generates. glue.h and glue.c add the few functions that Python needs for speed or because it
cannot take callbacks from C otherwise.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Parts:
    """What the extension is compiled and linked from."""

    source: Path
    library: Path
    link: list[str]


def version(root: Path) -> str:
    """major.minor.patch of include/calder/base.h."""
    text = (root / "include/calder/base.h").read_text()
    return ".".join(re.search(rf"CAL_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def preprocess(root: Path, header: Path) -> str:
    """A header and all that it includes, without comments, macros and what comes from the system."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stddef.h", "stdint.h", "stdio.h"):  # cffi knows their types
            (Path(empty) / name).touch()
        command = [os.environ.get("CC", "cc"), "-E", "-P", "-nostdinc", "-U__GNUC__"]  # without __GNUC__ CAL_API is empty
        command += [f"-I{empty}", f"-I{root / 'include'}", str(header)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declarations(root: Path) -> str:
    """Everything that calder/calder.h declares, and constants that are macros."""
    constants = "".join(
        f"#define {name} ...\n" for name in ("CAL_SCENARIO_LOG", "CAL_DEVICE_API_VERSION", "CAL_VERSION_MAJOR")
    )
    return constants + preprocess(root, root / "include/calder/calder.h")


def builder(root: Path):
    """The cffi builder of the extension."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(declarations(root))
    ffi.cdef((root / "python/glue.h").read_text())
    ffi.set_source("calder._calder", '#include "glue.c"\n')
    return ffi


def build_library(root: Path) -> Path:
    """The folder of a CMake build with libcalder.a; built here unless CALDER_BUILD names one."""
    given = os.environ.get("CALDER_BUILD")
    if given:
        return Path(given).resolve()
    folder = root / "build" / "python"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCALDER_SHARED=ON", "-DCALDER_TESTS=OFF", "-DCALDER_PORTABLE_PATHS=ON"]
    options += ["-DCALDER_WITH_MPI=OFF", "-DCALDER_WITH_CIVETWEB=OFF"]  # of the command line alone
    subprocess.run(["cmake", "-S", root, "-B", folder, *generator, *options], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "calder", "-j", str(os.cpu_count() or 1)], check=True)
    return folder


def link_options(build: Path) -> list[str]:
    """What libcalder.a needs, from the calder.pc that CMake wrote for it."""
    text = (build / "calder.pc").read_text()
    packages = re.search(r"^Requires.private:(.*)$", text, re.M)[1].split()
    libraries = re.search(r"^Libs.private:(.*)$", text, re.M)[1].split()
    flags = subprocess.run(["pkg-config", "--libs", *packages], check=True, capture_output=True, text=True).stdout.split() if packages else []
    return flags + libraries


def prepare(root: Path, scratch: Path) -> Parts:
    """Builds the library and writes the source of the extension to scratch."""
    build = build_library(root)
    scratch.mkdir(parents=True, exist_ok=True)
    source = scratch / "_calder.c"
    builder(root).emit_c_code(str(source))  # leaves an unchanged file alone
    return Parts(source, build / "libcalder.a", link_options(build))
