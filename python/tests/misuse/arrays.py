# SPDX-License-Identifier: Apache-2.0
"""Arrays of wrong shape, type, order and content."""
from __future__ import annotations

import numpy as np
from harness import Cases, calder, model

CASES = Cases()
Bad = calder.ArgumentError
m = model()


def s() -> calder.State:
    return m.state()


def read_only(n: int) -> np.ndarray:
    a = np.zeros(n)
    a.flags.writeable = False
    return a


# ---- inputs: every algorithm that takes a vector -------------------------------------------------

WRONG = {
    "too short": [1.0], "too long": np.zeros(3), "empty": [], "matrix": np.zeros((2, 2)), "column": np.zeros((2, 1)),
    "scalar": 1.0, "text": "shoulder", "texts": ["1", "2"], "complex": np.zeros(2, complex), "objects": [object(), object()],
    "dictionary": {"shoulder": 1.0}, "bytes": b"12", "ragged": [[1, 2], [3]], "dates": np.zeros(2, "datetime64[s]"),
    "records": np.zeros(2, [("a", float), ("b", float)]), "huge": np.broadcast_to(0.0, (10**12,)),
}
INPUTS = {
    "forward": lambda x: m.forward(s(), x),
    "inverse": lambda x: m.inverse(s(), x),
    "mass_mul": lambda x: m.mass_mul(s(), x),
    "mass_solve": lambda x: m.mass_solve(s(), x),
    "state.q": lambda x: setattr(s(), "q", x),
    "kinematics": lambda x: m.kinematics(s(), x),
    "integrate": lambda x: s().integrate(x),
}
for _call, _function in INPUTS.items():
    for _what, _x in WRONG.items():
        if (_call, _what) == ("mass_solve", "matrix"):  # two right-hand sides
            continue
        CASES.refused(f"{_call}: {_what}", Bad, "expected 2|expected an array of shape|array of (2 )?numbers|dictionary",
                      lambda f=_function, x=_x: f(x))

# ---- outputs -------------------------------------------------------------------------------------

OUTS = {
    "short": np.empty(1), "long": np.empty(3), "float32": np.empty(2, np.float32), "int64": np.empty(2, np.int64),
    "complex": np.empty(2, complex), "objects": np.empty(2, object), "list": [0.0, 0.0], "read-only": read_only(2),
    "big-endian": np.empty(2, ">f8"),
}
for _what, _x in OUTS.items():
    CASES.refused(f"forward out: {_what}", Bad, "out: must be", lambda x=_x: m.forward(s(), out=x))
    CASES.refused(f"inverse out: {_what}", Bad, "out: must be", lambda x=_x: m.inverse(s(), out=x))
for _what, _x in {"flat": np.empty(4), "Fortran": np.empty((2, 2), order="F"), "strided": np.empty((4, 4))[::2, ::2],
                  "3-D": np.empty((2, 2, 1)), "None in list": [None]}.items():
    CASES.refused(f"mass_matrix out: {_what}", Bad, "out: must be", lambda x=_x: m.mass_matrix(s(), out=x))
CASES.refused("inverse out: strided", Bad, "out: must be", lambda: m.inverse(s(), out=np.empty(4)[::2]))
CASES.refused("jacobian out: transposed", Bad, "out: must be", lambda: m.jacobian(s(), "upper", out=np.empty((2, 6))))


@CASES.harmless
def outputs_that_are_the_state_itself() -> None:
    for name in ("inverse", "bias", "gravity", "elastic"):
        for part in ("q", "u"):
            a = m.state(q=[0.3, -0.4], u=[1.5, 0.5])
            expected = getattr(m, name)(a)
            given = getattr(a, part)
            assert np.array_equal(getattr(m, name)(a, out=given), expected), (name, part)


@CASES.harmless
def outputs_that_are_the_input() -> None:
    for name in ("forward", "inverse", "mass_mul", "mass_solve"):
        a, x = m.state(q=[0.3, -0.4], u=[1.5, 0.5]), np.array([0.25, -2.0])
        expected = getattr(m, name)(a, x)
        assert np.array_equal(getattr(m, name)(a, x, out=x), expected), name


@CASES.harmless
def arrays_given_again_and_again() -> None:
    x, free = np.array([0.25, -2.0]), np.empty(2)
    for target in (lambda a: np.asarray(a.q), lambda a: a.u[:], lambda a: x, lambda a: free):
        for _ in range(4):  # State keeps arrays that come back
            x[:] = 0.25, -2.0
            a = m.state(q=[0.3, -0.4], u=[1.5, 0.5])
            expected, out = m.forward(a.copy(), x.copy()), target(a)
            for _ in range(3):
                a.q, a.u = [0.3, -0.4], [1.5, 0.5]
                x[:] = 0.25, -2.0
                assert np.array_equal(m.forward(a, x, out=out), expected)


@CASES.harmless
def read_only_inputs() -> None:
    m.forward(s(), read_only(2))
    m.inverse(s(), read_only(2))


@CASES.harmless
def int64_and_float32_inputs_are_converted() -> None:
    a = m.state(u=[1.0, 2.0])
    for dtype in (np.float32, np.int64, np.int8, np.uint16, bool, np.longdouble, ">f8", "<i4"):
        assert np.array_equal(m.inverse(a, np.array([1, 0], dtype)), m.inverse(a, [1.0, 0.0])), dtype


@CASES.harmless
def unaligned_input() -> None:
    raw = np.zeros(17, np.uint8)
    x = raw[1:].view(np.float64)
    x[:] = [1.0, 2.0]
    assert np.array_equal(m.inverse(s(), x), m.inverse(s(), [1.0, 2.0]))
    a = s()
    for _ in range(3):
        assert np.array_equal(m.forward(a, x, out=x.copy()), m.forward(s(), [1.0, 2.0]))


def unaligned() -> np.ndarray:
    return np.zeros(17, np.uint8)[1:].view(np.float64)


CASES.refused("inverse out: unaligned", Bad, "out: must be", lambda: m.inverse(s(), out=unaligned()))


@CASES.harmless
def subclass_of_ndarray() -> None:
    assert type(m.forward(s(), np.ma.array([1.0, 2.0], mask=[0, 0]))) is np.ndarray


# ---- content -------------------------------------------------------------------------------------

def put_into(part: str, value: float) -> calder.State:
    a = s()
    getattr(a, part)[1] = value
    return a


for _value in (np.nan, np.inf, -np.inf, 1e308):
    for _part in ("q", "u") if _value != 1e308 else ("u",):
        CASES.refused(f"forward: {_value} in {_part}", calder.NumericalError, "finite|singular",
                      lambda v=_value, part=_part: m.forward(put_into(part, v)))
    CASES.refused(f"forward: {_value} in tau", calder.NumericalError, "finite",
                  lambda v=_value: m.forward(s(), [v, 10 * v]))
    CASES.refused(f"implicit: h = {-abs(_value)}", (Bad, calder.NumericalError), "h|finite|argument",
                  lambda v=_value: m.implicit(s(), -abs(v)))


@CASES.harmless
def what_solves_nothing_passes_nan_on() -> None:
    for value in (np.nan, np.inf):
        for part in ("q", "u"):
            a = put_into(part, value)
            with np.errstate(all="ignore"):
                assert not np.isfinite(m.inverse(a)).all() and not np.isfinite(m.energy(a).total)
                moved = m.kinematics(a)
                assert not (np.isfinite(moved.position).all() and np.isfinite(moved.velocity).all())


@CASES.harmless
def compliance_of_no_nodes_is_empty() -> None:
    assert m.compliance(s(), []).shape == (0, 0)


CASES.refused("implicit: h text", (Bad, TypeError), "not supported|number", lambda: m.implicit(s(), "small"))
CASES.refused("prescribed: floats", Bad, "flags", lambda: m.hybrid(s(), prescribed=[0.5, 1.0]))
CASES.refused("prescribed: length", Bad, "flags", lambda: m.hybrid(s(), prescribed=[True]))
CASES.refused("wrenches: five numbers", Bad, "wrench on 'upper'", lambda: m.forward(s(), wrenches={"upper": range(5)}))
CASES.refused("wrenches: numbers", (Bad, TypeError, AttributeError), "Wrench|wrench",
              lambda: m.forward(s(), wrenches=[1.0]))
CASES.refused("wrenches: NaN", calder.NumericalError, "finite",
              lambda: m.forward(s(), wrenches={"upper": [np.nan] * 6}))
CASES.refused("rhs: length", Bad, "expected 4 numbers", lambda: m.rhs(0.0, [1.0]))
CASES.refused("rhs: quaternions", Bad, "quaternion", lambda: model("heavy_top").rhs(0.0, np.zeros(7)))

# ---- writing to views ----------------------------------------------------------------------------

def put(value: object, key: object = slice(None)) -> None:
    s().q[key] = value


for _what, _x in {"None": None, "text": "x", "texts": ["1", "2"], "complex": np.zeros(2, complex), "three": [1, 2, 3],
                  "object": object(), "dictionary": {}}.items():
    CASES.refused(f"s.q[:] = {_what}", Bad, "assign", lambda x=_x: put(x))
CASES.refused("s.q['elbow'] = two numbers", (Bad, TypeError, ValueError), ".", lambda: put([1.0, 2.0], "elbow"))
CASES.refused("s.q['elbow'] = None", Bad, "assign", lambda: put(None, "elbow"))
CASES.refused("s.q[7]", IndexError, "out of bounds", lambda: s().q[7])
CASES.refused("s.q[7] = 1", IndexError, "out of bounds", lambda: put(1.0, 7))
CASES.refused("s.q[1.5]", IndexError, "only integers", lambda: s().q[1.5])
CASES.refused("s.q.resize", ValueError, "own|referenc", lambda: s().q.resize(1000))
CASES.refused("s.t = text", (TypeError, Bad), ".", lambda: setattr(s(), "t", "now"))
CASES.refused("s.t = None", (TypeError, Bad), ".", lambda: setattr(s(), "t", None))
CASES.refused("state(q=long)", Bad, "expected 2 numbers: shoulder, elbow", lambda: m.state(q=np.zeros(9)))
CASES.refused("state of quaternions", Bad, "expected 7 numbers|expected 4 numbers",
              lambda: model("heavy_top").state(q=[0.0, 0.0, 0.0]))
CASES.refused("quaternion of zeros", (Bad, calder.NumericalError), ".",
              lambda: model("heavy_top").forward(model("heavy_top").state(q=np.zeros(model("heavy_top").nq))))
CASES.refused("normalize zeros", (Bad, calder.NumericalError), ".",
              lambda: model("heavy_top").state(q=np.zeros(model("heavy_top").nq)).normalize())
