# SPDX-License-Identifier: Apache-2.0
"""Replays: a run as one self-contained page, inline in a notebook or as a file."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._calder import ffi, lib
from .errors import FileError, UnsupportedError, check, name_bytes, new_error, path_bytes

if TYPE_CHECKING:
    from .results import Results


def _page() -> bytes:
    """The viewer's page: beside this file in a wheel, in viewer/dist in a source tree."""
    here = Path(__file__).resolve().parent
    for path in (here / "viewer.html", here.parents[1] / "viewer" / "dist" / "viewer.html"):
        if path.exists():
            return path.read_bytes()
    raise FileError(f"{here / 'viewer.html'}: the viewer's page is not in this installation", -5)


def _in_notebook() -> bool:
    import sys

    shell = sys.modules.get("IPython")
    current = shell.get_ipython() if shell is not None else None
    return current is not None and "IPKernelApp" in getattr(current, "config", {})


class Replay:
    """A replay page. Notebooks show it in a frame; `replay.save(path)` writes it; `replay.html` is its text."""

    def __init__(self, html: str, height: int = 480) -> None:
        self.html = html
        self.height = int(height)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes the page; it opens from disk, without network. Returns the path."""
        Path(path).write_text(self.html, encoding="utf-8")
        return os.fspath(path)

    def _repr_html_(self) -> str:
        from html import escape

        return (f'<iframe srcdoc="{escape(self.html, quote=True)}" width="100%" height="{self.height}" '
                'style="border:0" sandbox="allow-scripts"></iframe>')

    def __repr__(self) -> str:
        return f"<calder.Replay, {len(self.html)} characters>"


def replay_of(path: str, title: str | None, frames: int, height: int) -> Replay:
    """The page of a result file."""
    page = _page()
    held = [ffi.new("char[]", name_bytes(title))] if title else []
    options = ffi.new("CalReplayOptions *", {"page": ffi.from_buffer(page), "page_length": len(page), "max_frames": frames})
    if held:
        options.title = held[0]
    error = new_error()
    text, length = ffi.new("char **"), ffi.new("size_t *")
    status = lib.glue_replay_text(path_bytes(path), options, text, length, error)
    try:
        check(status, error)
        return Replay(bytes(ffi.buffer(text[0], length[0])).decode(), height)
    finally:
        lib.free(text[0])


class Viewable:
    """Results that can be looked at."""

    path: str | None

    if TYPE_CHECKING:

        def save(self, path: str | os.PathLike[str]) -> None: ...

    def replay(self, *, title: str | None = None, frames: int = 0, height: int = 480) -> Replay:
        """The run as a self-contained page."""
        if self.path is not None:
            return replay_of(self.path, title, frames, height)
        if not lib.glue_has_hdf5():
            raise UnsupportedError("replays need a library that was built with HDF5 (libhdf5-dev)", -7)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.h5")
            self.save(file)
            return replay_of(file, title, frames, height)

    def view(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None, height: int = 480) -> Any:
        """Shows the run: inline in a notebook; elsewhere writes an HTML file (`calder.html` unless named) and returns its path."""
        replay = self.replay(title=title, height=height)
        if path is None and _in_notebook():
            return replay
        return replay.save(path if path is not None else "calder.html")
