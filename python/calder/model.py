# SPDX-License-Identifier: Apache-2.0
"""Model: a description read from a file or built in Python, compiled."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from ._calder import ffi, lib
from ._names import text
from ._shared import share
from .errors import ArgumentError, FileError, check, new_error, path_bytes
from .group import Group, setup_text
from .report import Reports

_BASES = {None: 0, "fixed": 1, "free": 2}


class Model(Reports, Group):
    """A model: groups of bodies with initial state, loads, devices, events and run settings.

    Where the model has one group, as most have, the model is that group: `m.state()`, `m.forward(s, tau)`. Where it has several,
    `m.groups["name"]` is each of them, and calder.Sim(m) runs all together.
    """

    def __init__(self, setup: Any, solver: str = "auto") -> None:
        self._setup = setup
        self._solver = solver
        desc = lib.cal_setup_desc(setup)
        error = new_error()
        used = set()
        for k in range(1, lib.cal_desc_body_count(desc) + 1):
            used.add(max(lib.cal_desc_body(desc, ffi.new("CalBodyId *", [k])[0]).group.value, 1))
        if not used:
            raise ArgumentError("the model has no bodies")
        groups: dict[str, Group] = {}
        for k in sorted(used):
            group = self if len(used) == 1 else Group.__new__(Group)
            group._compile(setup, k, solver)
            groups[group.name] = group
        self.groups: Mapping[str, Group] = MappingProxyType(groups)
        self.title: str = text(lib.cal_setup_run(setup).title)
        self.source: str = text(lib.cal_setup_name(setup))
        if len(used) > 1:
            self.name = self.source
            self.__class__ = SeveralGroups
        check(lib.cal_setup_check(setup, error), error)

    # ---- files --------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The model as a model file (YAML), which reads back as the same model, numbers bit for bit."""
        return setup_text(self._setup)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as a model file (YAML)."""
        content = self.to_text()
        try:
            with open(path, "w", encoding="utf-8") as out:
                out.write(content)
        except OSError as error:
            raise FileError(f"{os.fspath(path)}: {error.strerror}", -5) from error

    def __reduce__(self) -> Any:
        return _restore, (self.to_text(), self.source, self._solver)

    # ---- pictures -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        if len(self.groups) == 1:
            return super().__repr__()
        return f"<calder.Model {self.source!r}: groups {', '.join(self.groups)}>"

    def _repr_html_(self) -> str:
        from html import escape

        parts = [f"<b>{escape(self.title or self.source)}</b>"]
        for group in self.groups.values():
            head = f"<tr><th colspan=2 style='text-align:left'>{escape(group.name)}</th></tr>"
            rows = "".join(f"<tr><td>{a}</td><td>{escape(b)}</td></tr>" for a, b in group._table())
            parts.append(f"<table>{head}{rows}</table>")
        return "".join(parts)


class SeveralGroups(Model):
    """A model of several groups. A class of its own, since __getattr__ makes every access to a member slow."""

    def _own(self, state: Any) -> None:
        self.__getattr__("_m")  # raises, and says which groups there are

    def __getattr__(self, name: str) -> Any:
        """Reached only where a model of several groups has no such member itself."""
        groups = self.__dict__.get("groups")
        if groups is None or len(groups) < 2 or not hasattr(Group, name) and name not in next(iter(groups.values())).__dict__:
            raise AttributeError(f"'Model' object has no attribute {name!r}")
        known = ", ".join(repr(g) for g in groups)
        example = "state()" if name.startswith("_") or name in ("nq", "nu") else name
        raise ArgumentError(f"this model has several groups: {known}; use model.groups[name].{example}, or calder.Sim(model)")

    def __reduce__(self) -> Any:
        return _restore, (self.to_text(), self.source, self._solver)


def _restore(content: str, name: str, solver: str) -> Model:
    return loads(content, name=name, solver=solver)


def _options(base: str | None, partial: bool, roots: Sequence[str | os.PathLike[str]]) -> tuple[Any, list[Any]]:
    if base not in _BASES:
        raise ArgumentError(f"base is 'fixed' or 'free', not {base!r}")
    if isinstance(roots, (str, bytes)):
        raise ArgumentError("roots: give a list of folders")
    held = [ffi.new("char[]", path_bytes(root)) for root in roots]
    listed = ffi.new("char *[]", held)
    options = ffi.new("CalReadOptions *", {"base": _BASES[base], "partial": int(partial), "roots": listed,
                                           "root_count": len(held)})
    return options, [held, listed]


def own_setup(place: Any) -> Any:
    """A setup that is destroyed with its last user."""
    return share(place[0], lib.cal_setup_destroy)


def load(path: str | os.PathLike[str], *, base: Literal["fixed", "free"] | None = None, partial: bool = False,
         roots: Sequence[str | os.PathLike[str]] = (), solver: str = "auto") -> Model:
    """Reads a model in any format that Calder knows: model files (YAML, JSON), URDF, MJCF, SDFormat.

    base: how the root link of a robot file is tied to the ground where the file does not say. partial=True: what changes the
    motion and cannot be taken over is a note of `m.import_report`, not an error. roots: folders in which package:// and model://
    paths are sought. solver: "auto", "recursive" or "dense".
    """
    options, _held = _options(base, partial, roots)
    place, error = ffi.new("CalSetup **"), new_error()
    check(lib.cal_model_read(path_bytes(path), options, ffi.NULL, place, error), error)
    return Model(own_setup(place), solver)


def loads(content: str | bytes, *, name: str = "text", base: Literal["fixed", "free"] | None = None, partial: bool = False,
          roots: Sequence[str | os.PathLike[str]] = (), solver: str = "auto") -> Model:
    """The same from a text; `name` stands for the file in messages, and files that it names are sought beside it."""
    if not isinstance(content, (str, bytes, bytearray, memoryview)):
        raise ArgumentError(f"loads: expected a text or bytes, not {type(content).__name__}; calder.load() reads files")
    data = content.encode() if isinstance(content, str) else bytes(content)
    options, _held = _options(base, partial, roots)
    place, error = ffi.new("CalSetup **"), new_error()
    check(lib.cal_model_parse(data, len(data), path_bytes(name), options, ffi.NULL, place, error), error)
    return Model(own_setup(place), solver)
