# SPDX-License-Identifier: Apache-2.0
"""C objects that others need until they are destroyed themselves: setups, models, plans.

Python's collector destroys the members of a cycle in any order, so that no reference of one to another keeps it alive long enough.
Counts in a table of this module do: who needs an object holds it, and the last one that drops it destroys it.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ._calder import ffi

_lock = threading.RLock()  # destructors may run within each other
_entries: dict[int, list[Any]] = {}  # address: [count, pointer, destroy]


def _address(c: Any) -> int:
    return int(ffi.cast("uintptr_t", c))


def share(pointer: Any, destroy: Callable[[Any], Any], size: int = 0) -> Any:
    """An owner of a new C object; size: its bytes, for the collector."""
    with _lock:
        _entries[_address(pointer)] = [1, pointer, destroy]
    return ffi.gc(pointer, _release, size)


def hold(owner: Any) -> int:
    """Keeps an object until drop() of what is returned."""
    address = _address(owner)
    with _lock:
        _entries[address][0] += 1
    return address


def drop(address: int) -> None:
    """The last one destroys the object."""
    with _lock:
        entry = _entries[address]
        entry[0] -= 1
        if entry[0] > 0:
            return
        del _entries[address]
    entry[2](entry[1])


def _release(pointer: Any) -> None:
    drop(_address(pointer))
