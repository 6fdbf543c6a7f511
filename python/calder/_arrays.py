# SPDX-License-Identifier: Apache-2.0
"""Arrays that cross the border to C, and arrays whose elements have names.

cffi takes any buffer for an array of doubles, float32 and int64 included. Nothing goes to C that has not been through
`vector`, `matrix` or `output` here, or that is not memory of our own.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._calder import ffi
from .errors import ArgumentError, unknown

Array: TypeAlias = npt.NDArray[np.float64]
DOUBLE = np.dtype(np.float64)
Index: TypeAlias = "int | slice"


def _listed(names: Sequence[str] | None) -> str:
    if not names:
        return ""
    return ": " + ", ".join(names[:24]) + (", ..." if len(names) > 24 else "")


def vector(x: npt.ArrayLike, count: int, what: str, names: Sequence[str] | None = None) -> Array:
    """x as count contiguous doubles; a wrong length is answered with the names of what is expected."""
    return array(x, (count,), what, names)


def array(x: npt.ArrayLike, shape: tuple[int, ...], what: str, names: Sequence[str] | None = None) -> Array:
    """x as contiguous doubles of a shape."""
    if isinstance(x, Mapping):
        raise ArgumentError(f"{what}: give an array of {shape[0]} numbers, not a dictionary")
    try:
        a = np.asarray(x)
        if a.dtype.kind not in "fiub":
            raise TypeError(f"numbers of type {a.dtype}")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: cannot be taken as an array of numbers ({error})") from None
    if a.shape != shape and not (a.shape == () and shape == (1,)):
        expected = f"{shape[0]} numbers" if len(shape) == 1 else f"an array of shape {shape}"
        raise ArgumentError(f"{what}: expected {expected}{_listed(names)}; got shape {a.shape}")
    a = np.ascontiguousarray(a, DOUBLE)  # gives a scalar one dimension
    return a if a.flags.aligned else a.copy()


def is_array(x: Any) -> bool:
    """x is given as an array of numbers, right or wrong, and not as an object of another kind."""
    return isinstance(x, (list, tuple)) or hasattr(x, "__array__")


def output(out: Any, shape: tuple[int, ...], what: str = "out") -> Array:
    """An array for results: the caller's, checked, or a new one."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray):
        raise ArgumentError(f"{what}: must be a NumPy array, not {type(out).__name__}")
    if out.dtype != DOUBLE or out.shape != shape or not out.flags.carray:
        raise ArgumentError(
            f"{what}: must be a writable, aligned, C-contiguous array of float64 with shape {shape}; "
            f"got {out.dtype} with shape {out.shape}"
        )
    return out


def pointer(a: Array) -> Any:
    """double * into an array that was checked; keep the result as long as C uses it."""
    return ffi.from_buffer("double[]", a)


def flags(x: npt.ArrayLike, count: int, what: str, names: Sequence[str] | None = None) -> npt.NDArray[np.uint8]:
    """x as count bytes, 1 where it is true."""
    a = np.asarray(x)
    if a.shape != (count,) or a.dtype.kind not in "biu":
        raise ArgumentError(f"{what}: expected {count} flags{_listed(names)}; got {a.dtype} with shape {a.shape}")
    return np.ascontiguousarray(a != 0, np.uint8)


class Names:
    """Places in an array by name: "joint" (one number, or a slice), "joint.qw", "body.eta" (all modes), "body.eta1"."""

    __slots__ = ("names", "places", "what")

    def __init__(self, names: Sequence[str], places: Mapping[str, Index], what: str) -> None:
        self.names = tuple(names)
        self.places = dict(places)
        self.what = what

    def __getitem__(self, name: str) -> Index:
        try:
            return self.places[name]
        except KeyError:
            raise unknown(self.what, name, self.places) from None


class NamedArray(np.ndarray[Any, Any]):
    """An array of float64 whose elements can be reached by name: q["elbow"], q["base.qw"], q["boom.eta"].

    A view: it shares its memory with the object that it comes from, and keeps that memory alive. Copies, slices and results of
    arithmetic are plain arrays.
    """

    _index: Names | None = None

    @staticmethod
    def view_of(a: Array, index: Names) -> NamedArray:
        """The same memory with names."""
        view = a.view(NamedArray)
        view._index = index
        return view

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each element."""
        return self._names().names

    def _names(self) -> Names:
        if self._index is None:
            raise ArgumentError("this slice or copy has no names; use them on the array itself")
        return self._index

    def __getitem__(self, key: Any) -> Any:
        """An element or a slice by index, or by the name of a joint, of a coordinate or of a body's modes."""
        if isinstance(key, str):
            return np.asarray(self)[self._names()[key]]
        got = super().__getitem__(key)
        return np.asarray(got) if isinstance(got, NamedArray) else got

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            place = self._names()[key]
            if isinstance(place, slice) and np.ndim(value) and np.shape(value) != (place.stop - place.start,):
                names = self._names().names[place]
                raise ArgumentError(f"{key!r} has {len(names)} numbers: {', '.join(names)}; got shape {np.shape(value)}")
            key = place
        try:
            if type(value) is not float and np.asarray(value).dtype.kind not in "fiub":  # NumPy reads texts, and None as NaN
                raise TypeError(f"expected numbers, not {type(value).__name__}")
            super().__setitem__(key, value)  # type: ignore[no-untyped-call]
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"cannot assign: {error}") from None

    def __array_wrap__(self, result: Any, context: Any = None) -> Any:
        return self if result is self else np.asarray(result)[()]

    def copy(self, order: Any = "C") -> Array:  # type: ignore[override]
        """A plain array with the same numbers."""
        return np.array(self, copy=True, subok=False)

    def __copy__(self) -> Array:  # type: ignore[override]
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Array:  # type: ignore[override]
        return self.copy()

    def __reduce__(self) -> Any:
        return self.copy().__reduce__()

    def as_dict(self) -> dict[str, float]:
        """Name and number of every element."""
        return dict(zip(self.names, np.asarray(self).tolist()))
