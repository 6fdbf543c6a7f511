# SPDX-License-Identifier: Apache-2.0
"""C objects that others use until their own end.

A reference from Python is not enough: where a cycle is collected, the destructors of all that is in it run in any order. So a setup
counts its models and simulations, and ends with the last of them.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ._calder import ffi

_users: dict[int, int] = {}
_lock = threading.RLock()  # a destructor may run in the middle of anything


def own(c: Any, destroy: Callable[[Any], None]) -> Any:
    """A pointer whose object ends with the last of its users, of which this is the first."""
    address = int(ffi.cast("uintptr_t", c))
    with _lock:
        _users[address] = 1
    return ffi.gc(c, lambda _, c=c: _drop(address, c, destroy))


def hold(c: Any, destroy: Callable[[Any], None]) -> Callable[[], None]:
    """Makes an object of own() stay; returns the function that lets it go, to be called once."""
    address = int(ffi.cast("uintptr_t", c))
    raw = ffi.cast(ffi.typeof(c), address)  # does not keep c
    with _lock:
        _users[address] += 1
    return lambda: _drop(address, raw, destroy)


def _drop(address: int, c: Any, destroy: Callable[[Any], None]) -> None:
    with _lock:
        _users[address] -= 1
        last = _users[address] == 0
        if last:
            del _users[address]
    if last:
        destroy(c)
