# SPDX-License-Identifier: Apache-2.0
"""Exceptions that hit a callback before its own try: Ctrl-C at the first instruction. They belong to the thread that runs."""
from __future__ import annotations

import threading
from typing import Any

_here = threading.local()


def keep(kind: Any, error: BaseException, traceback: Any) -> None:
    """The onerror of every callback; cffi then returns the callback's error value to C."""
    _here.error = error


def take() -> BaseException | None:
    """What was kept in this thread."""
    error: BaseException | None = getattr(_here, "error", None)
    _here.error = None
    return error
