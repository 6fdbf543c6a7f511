# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a Sim: a run that resumes from one is bit-identical to one that was not interrupted."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ._calder import ffi, lib
from .errors import ArgumentError, check, path_bytes

if TYPE_CHECKING:
    from ._handle import SimHandle
    from ._mirror import Mirrors


class Checkpoints:
    """Checkpoints of a Sim, as bytes and as files."""

    _handle: SimHandle
    _mirrors: Mirrors
    _error: Any
    _must_restart: bool

    if TYPE_CHECKING:

        def _started(self, c: Any) -> Any: ...
        def _advance(self, status: int) -> bool: ...

    def checkpoint(self) -> bytes:
        """Everything that the simulation carries from one step to the next."""
        with self._handle as c:
            self._started(c)
            size = lib.cal_checkpoint_size(c)
            memory, used = ffi.new("char[]", size), ffi.new("size_t *")
            check(lib.cal_checkpoint_take(c, memory, size, used), where="checkpoint")
            return bytes(ffi.buffer(memory, used[0]))

    def restore(self, checkpoint: bytes) -> None:
        """Brings the simulation to a checkpoint of this one, or of one that was made in the same way."""
        if not isinstance(checkpoint, (bytes, bytearray, memoryview)):
            raise ArgumentError(f"restore: expected the bytes of sim.checkpoint(), not {type(checkpoint).__name__}; load() reads files")
        with self._handle as c:
            data = bytes(checkpoint)
            self._started(c)
            check(lib.cal_checkpoint_restore(c, data, len(data), self._error), self._error)
            self._resumed()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint to a file, which appears whole or not at all."""
        with self._handle as c:
            self._started(c)
            check(lib.cal_checkpoint_save(c, path_bytes(path), self._error), self._error)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Brings the simulation to the checkpoint in a file."""
        with self._handle as c:
            self._started(c)
            check(lib.cal_checkpoint_load(c, path_bytes(path), self._error), self._error)
            self._resumed()

    def _resumed(self) -> None:
        check(lib.cal_scenario_resume(self._handle.scenario))
        self._must_restart = False
        self._mirrors.drop()
        self._mirrors.look()
