# SPDX-License-Identifier: Apache-2.0
"""The extension is made of the headers: all functions are there, and structs have the layout that the C compiler gives them."""
from __future__ import annotations

import re
import subprocess
import sys

from calder._calder import ffi, lib

from conftest import ROOT

sys.path.insert(0, str(ROOT / "python"))
import build_extension  # noqa: E402


def test_all_functions_of_the_headers_are_there():
    text = build_extension.declarations(ROOT)
    names = set(re.findall(r"\b(cal_[a-z0-9_]+)\(", text))
    assert len(names) > 500
    assert not [name for name in names if not hasattr(lib, name)]


def test_structs_have_the_layout_of_c(tmp_path):
    structs = [name for name in ffi.list_types()[0] if name.startswith("Cal") and ffi.typeof(name).kind == "struct"]
    fields = [(name, field) for name in structs for field, _ in (ffi.typeof(name).fields or ())]
    assert len(structs) > 80 and len(fields) > 500
    lines = [f'printf("{n} {f} %zu %zu\\n", offsetof({n}, {f}), sizeof({n}));' for n, f in fields]
    source = tmp_path / "layout.c"
    source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <calder/calder.h>\nint main(void) {\n"
                      + "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run(["cc", f"-I{ROOT / 'include'}", str(source), "-o", str(tmp_path / "layout")], check=True)
    out = subprocess.run([str(tmp_path / "layout")], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, field, offset, size = line.split()
        assert ffi.offsetof(name, field) == int(offset) and ffi.sizeof(name) == int(size), line


def test_the_extension_exports_nothing_else():
    import calder._calder as extension

    out = subprocess.run(["nm", "-D", "--defined-only", extension.__file__], check=True, capture_output=True, text=True).stdout
    assert [line.split()[-1] for line in out.splitlines()] == ["PyInit__calder"]


def test_import_is_quiet():
    code = ("import sys, threading, locale, signal, os\nbefore = dict(os.environ), locale.setlocale(locale.LC_ALL), "
            "signal.getsignal(signal.SIGINT)\nimport calder\nafter = dict(os.environ), locale.setlocale(locale.LC_ALL), "
            "signal.getsignal(signal.SIGINT)\nassert before == after and threading.active_count() == 1\n"
            "assert len(os.listdir('/proc/self/task')) == 1\n"
            "assert not {'pandas', 'matplotlib', 'IPython', 'h5py'} & set(sys.modules)\n")
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin",
                                                                   "OPENBLAS_NUM_THREADS": "1"})
