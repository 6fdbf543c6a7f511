# SPDX-License-Identifier: Apache-2.0
"""Builds the extension calder._calder: libcalder by CMake, linked statically and hidden; see python/build_extension.py.

CALDER_BUILD=DIR takes the library of a CMake build that is there, which must be position-independent (CALDER_SHARED=ON).
"""
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "python"))
import build_extension  # noqa: E402


class BuildExtension(build_ext):
    """Compiles libcalder and writes the C source of the extension first."""

    def build_extension(self, ext: Extension) -> None:
        parts = build_extension.prepare(ROOT, Path(self.build_temp).resolve())
        ext.sources = [str(parts.source)]
        ext.depends = [str(parts.library)]
        ext.include_dirs = [str(ROOT / "include"), str(ROOT / "python")]
        ext.extra_objects = [str(parts.library)]
        ext.extra_compile_args = ["-std=gnu17", "-O2", "-fvisibility=hidden"]
        ext.extra_link_args = [*parts.link, "-Wl,--exclude-libs,ALL"]
        if not self.inplace:
            ext.extra_link_args.append("-Wl,--strip-debug")
        super().build_extension(ext)


class BuildPackage(build_py):
    """Takes the viewer's page along: r.view() writes it into replays."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "calder" / "viewer.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "viewer" / "dist" / "viewer.html", target)


setup(
    version=build_extension.version(ROOT),
    ext_modules=[Extension("calder._calder", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": BuildExtension, "build_py": BuildPackage},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
