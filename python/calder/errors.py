# SPDX-License-Identifier: Apache-2.0
"""Errors: every status of the library as an exception with its text and place."""
from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from typing import Any, NoReturn

from ._calder import ffi, lib

_PLACE = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?:error: )?")


class Error(Exception):
    """What went wrong, in words a person can act on.

    Attributes: `status` (the C status: > 0 numerics, < 0 the call or the input is wrong), `text` (the message), and where a
    file is the cause `file`, `line` and `column` (from 1; None where not known).
    """

    def __init__(self, text: str, status: int = -1) -> None:
        super().__init__(text)
        self.text = text
        self.status = status
        place = _PLACE.match(text)
        self.file: str | None = place["file"] if place else None
        self.line: int | None = int(place["line"]) if place else None
        self.column: int | None = int(place["column"]) if place else None

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.text, self.status)


class ArgumentError(Error, ValueError):
    """An argument is not valid: wrong length, wrong object, not finite."""


class NameError_(Error, KeyError):
    """There is no object of that name; the message lists the nearest ones."""


class InputError(Error, ValueError):
    """A file is not valid; `file`, `line` and `column` say where."""


class ModelError(Error, ValueError):
    """The description of a model is not valid."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class MemoryError_(Error, MemoryError):
    """The library ran out of memory."""


class UnsupportedError(Error):
    """This build, this model or this state of a run does not support the call."""


class NumericalError(Error, ArithmeticError):
    """Numbers failed: singular, not finite, not converged, step too small."""


class BusyError(Error, RuntimeError):
    """The object is in use by another thread, or by the callback that called it."""


class ClosedError(Error, RuntimeError):
    """The object was closed."""


class StaleError(Error, RuntimeError):
    """The topology has changed since the object was made."""


_CLASSES = {-1: ArgumentError, -2: MemoryError_, -3: ModelError, -4: InputError, -5: FileError, -6: UnsupportedError,
            -7: UnsupportedError}


def status_text(status: int) -> str:
    """The library's sentence for a status."""
    return str(ffi.string(lib.cal_status_text(status)).decode())


def make(status: int, text: str = "") -> Error:
    """The exception of a status."""
    kind = NumericalError if status > 0 else _CLASSES.get(status, Error)
    return kind(text or status_text(status), status)


def fail(status: int, error: Any = None, where: str = "") -> NoReturn:
    """Raises the exception of a status, with the text of a CalError."""
    text = ffi.string(error.text).decode(errors="replace") if error is not None else ""
    if not text:
        text = status_text(status)
        text = f"{where}: {text}" if where else text
    raise make(status, text)


def check(status: int, error: Any = None, where: str = "") -> None:
    """Nothing for 0, otherwise the exception."""
    if status:
        fail(status, error, where)


def new_error() -> Any:
    """A CalError to give to a call."""
    return ffi.new("CalError *")


def name_bytes(name: object, what: str = "name") -> bytes:
    """A name for C, where a text ends at its first zero."""
    if not isinstance(name, str):
        raise ArgumentError(f"{what}: expected a text, not {type(name).__name__}")
    if "\0" in name:
        raise ArgumentError(f"{what}: no name has a zero character: {name!r}")
    try:
        return name.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{what}: {error}") from None


def path_bytes(path: str | bytes | os.PathLike[str]) -> bytes:
    """A path for C."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ArgumentError(f"no path has a zero character: {path!r}")
    return name


def unknown(kind: str, name: object, names: Iterable[str]) -> NameError_:
    """The exception for a name that is not there, with those that are."""
    import difflib

    known = list(names)
    near = difflib.get_close_matches(str(name), known, n=1)
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {shown}" if known else "; there are none"
    return NameError_(f"no {kind} {name!r}{hint}", -1)


# ---- exceptions that hit a callback before its own try: Ctrl-C at the first instruction; they belong to the thread that runs

_here = threading.local()


def keep(kind: Any, error: BaseException, traceback: Any) -> None:
    """The onerror of every callback; cffi then returns the callback's error value to C."""
    _here.error = error


def take() -> BaseException | None:
    """What was kept in this thread."""
    error: BaseException | None = getattr(_here, "error", None)
    _here.error = None
    return error
