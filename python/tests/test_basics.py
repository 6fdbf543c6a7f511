# SPDX-License-Identifier: Apache-2.0
"""Models, states, names and errors."""
from __future__ import annotations

import copy
import gc
import pickle
import re
import threading

import numpy as np
import pytest

import calder

from conftest import EXAMPLES, ROOT


def test_forward_inverts_inverse(arm):
    s = arm.state()
    s.u = [0.3, -0.2]
    udot = np.array([1.5, -0.5])
    np.testing.assert_allclose(arm.forward(s, arm.inverse(s, udot)), udot, rtol=1e-12)


def test_names_reach_coordinates(arm):
    s = arm.state()
    s.q["elbow"] = 0.25
    assert s.q[1] == 0.25 and s.q["elbow"] == 0.25
    assert arm.q_names == ("shoulder", "elbow")
    with pytest.raises(calder.Error, match="did you mean 'elbow'"):
        s.q["elbo"]


def test_wrong_length_lists_names(arm):
    with pytest.raises(calder.ArgumentError, match="expected 2 numbers: shoulder, elbow; got shape"):
        arm.forward(arm.state(), [1, 2, 3])


@pytest.mark.parametrize("bad", ["x", [1j, 2], 1.0, [[1, 2]], [object(), 1], {"shoulder": 1}])
def test_wrong_arrays_are_refused(arm, bad):
    with pytest.raises(calder.ArgumentError):
        arm.forward(arm.state(), bad)


def test_other_dtypes_and_strides_are_converted(arm):
    s, tau = arm.state(), np.array([0.5, -0.25])
    expected = arm.forward(s, tau)
    for given in (tau.astype(np.float32), np.array([[0.5, 9], [-0.25, 9]])[:, 0], [0.5, -0.25], tau[::-1][::-1]):
        assert np.array_equal(arm.forward(s, given), expected)


@pytest.mark.parametrize("out", [np.empty(3), np.empty(2, np.float32), np.empty((2, 2)), [0, 0], np.empty(4)[::2], "x"])
def test_wrong_outputs_are_refused(arm, out):
    if isinstance(out, np.ndarray) and out.shape == (2,) and out.dtype == np.float64:
        assert np.array_equal(arm.forward(arm.state(), out=out), arm.forward(arm.state()))  # strides are fine here
        with pytest.raises(calder.ArgumentError):
            arm.inverse(arm.state(), out=out)
        return
    with pytest.raises(calder.ArgumentError):
        arm.forward(arm.state(), out=out)


def test_nan_is_reported_with_the_joint(arm):
    s = arm.state()
    s.q["elbow"] = np.nan
    with pytest.raises(calder.NumericalError) as caught:
        arm.forward(s)
    assert caught.value.status == 2


def test_views_outlive_their_owners():
    m = calder.load(EXAMPLES / "double_pendulum.yaml")
    s = m.state()
    q, part = s.q, s.q[1:]
    expected = q.copy()
    del s, m
    gc.collect()
    junk = [np.full(1000, np.nan) for _ in range(100)]
    assert np.array_equal(q, expected) and part[0] == expected[1]
    q[:] = 7
    assert part[0] == 7 and junk


def test_arithmetic_gives_plain_arrays(arm):
    s = arm.state()
    assert type(s.q + 1) is np.ndarray and type(s.q[:1]) is np.ndarray and type(s.q.copy()) is np.ndarray
    q = s.q
    s.q += 1
    assert s.q is q


def test_states_and_models_are_pickled_and_copied(arm):
    s = arm.state()
    s.u["elbow"] = 1.25
    for other in (pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s), s.copy()):
        assert other == s and other is not s
        assert np.array_equal(other.group.forward(other), arm.forward(s))
        other.q["elbow"] = 9
        assert other != s
    again = pickle.loads(pickle.dumps(arm))
    assert again.q_names == arm.q_names and again.to_text() == arm.to_text()


def test_a_state_of_another_model_is_refused(arm):
    other = calder.load(EXAMPLES / "pendulum.yaml")
    for wrong in (other.state(), None, 3, np.zeros(3)):
        with pytest.raises(calder.ArgumentError):
            arm.forward(wrong)


def test_two_threads_cannot_use_one_state(arm):
    s = arm.state()
    with s:
        errors = []

        def work():
            try:
                arm.forward(s)
            except calder.BusyError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(errors) == 1
    arm.forward(s)


def test_errors_have_a_place(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("calder: 1\nbodies:\n  a: {mas: 1}\n")
    with pytest.raises(calder.InputError) as caught:
        calder.load(path)
    error = caught.value
    assert error.file == str(path) and error.line == 3 and error.column > 0 and error.status == -4
    assert pickle.loads(pickle.dumps(error)).text == error.text
    with pytest.raises(OSError):
        calder.load(tmp_path / "none.yaml")


def test_several_groups_go_by_name():
    m = calder.load(EXAMPLES / "docking.yaml")
    assert list(m.groups) == ["main", "chaser", "tanker"]
    with pytest.raises(calder.ArgumentError, match="several groups"):
        m.state()
    chaser = m.groups["chaser"]
    assert chaser.forward(chaser.state()).shape == (10,)
    assert "chaser" in m._repr_html_()


def test_states_of_several_groups_are_pickled():
    m = calder.load(EXAMPLES / "docking.yaml")
    states = [group.state() for group in m.groups.values()]
    again = pickle.loads(pickle.dumps(states))
    assert again == states and again[1].group.name == "chaser" and again[1].group is not states[1].group
    assert pickle.loads(pickle.dumps(m)).groups.keys() == m.groups.keys()


def test_bound_arrays_follow_and_never_alias(arm):
    s, tau, out = arm.state(), np.zeros(2), np.empty(2)
    for scale in (0.0, 1.0, 2.0, 3.0):  # from the second call on both arrays are bound
        tau[:] = scale
        assert arm.forward(s, tau, out=out) is out
        assert np.array_equal(out, arm.forward(arm.state(), [scale, scale]))
    both = np.array([1.0, 2.0])
    expected = arm.forward(s, [1.0, 2.0])
    for _ in range(3):
        both[:] = 1.0, 2.0
        assert np.array_equal(arm.forward(s, both, out=both), expected)
    inside = np.asarray(s.u)
    for _ in range(3):
        s.u = [0, 0]
        arm.forward(s, [1.0, 2.0], out=inside)
        assert np.array_equal(inside, expected)
    s.u = [0, 0]
    frozen = np.empty(2)
    frozen.flags.writeable = False
    for _ in range(3):
        with pytest.raises(calder.ArgumentError):
            arm.forward(s, tau, out=frozen)
    del tau, out
    gc.collect()
    assert np.array_equal(arm.forward(s), arm.forward(arm.state()))


def test_the_page_runs(tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S):
        exec(block, names)
    assert names["sim"].t == 10 and np.allclose(names["sim"].q["shoulder"], 0.5, atol=1e-3) and (tmp_path / "run.html").exists()
