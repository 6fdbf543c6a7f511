# SPDX-License-Identifier: Apache-2.0
"""examples/python/vector_env.py: the same for any number of threads, and what one cart-pole does by itself."""
from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from conftest import EXAMPLES

PATH = EXAMPLES / "python" / "vector_env.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("vector_env", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["vector_env"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def play(example, count, threads, steps, policy):
    envs = example.CartPoles(count, threads=threads)
    observations, _ = envs.reset(seed=3)
    rows = [observations]
    for k in range(steps):
        observations, rewards, terminated, truncated, _ = envs.step(policy(observations, k))
        rows.append(np.hstack([observations, rewards[:, None], terminated[:, None], truncated[:, None]]))
    envs.close()
    return rows


def test_threads_do_not_change_an_episode(example):
    policy = lambda observations, k: (np.arange(len(observations)) + k // 3) % 2  # noqa: E731
    alone = play(example, 40, 1, 60, policy)
    for threads in (2, 3):
        for a, b in zip(alone, play(example, 40, threads, 60, policy)):
            assert np.array_equal(a, b)
    assert sum(row[:, 5].sum() for row in alone[1:]) > 0  # some fell, and started anew


def test_an_environment_is_forward_dynamics_of_one_state(example):
    envs = example.CartPoles(5)
    start, _ = envs.reset(seed=7)
    actions = np.array([0, 1, 1, 0, 1])
    observations, *_ = envs.step(actions)
    m, h = envs.model, envs.period / envs.substeps
    for i, action in enumerate(actions):
        s = m.state(start[i, :2], start[i, 2:])
        for _ in range(envs.substeps):
            s.u = s.u + h * m.forward(s, [10.0 if action else -10.0, 0.0])
            s.q = s.q + h * s.u
        np.testing.assert_allclose(np.concatenate([s.q, s.u]), observations[i], rtol=0, atol=1e-15)


def test_episodes_end_and_start_anew(example):
    envs = example.CartPoles(3)
    envs.reset(seed=1)
    envs.batch.q[0, 1], envs.batch.q[1, 0], envs._age[2] = 0.5, 3.0, envs.longest - 1
    observations, rewards, terminated, truncated, _ = envs.step(np.ones(3))
    assert terminated.tolist() == [True, True, False] and truncated.tolist() == [False, False, True]
    assert rewards.tolist() == [1, 1, 1] and abs(observations[0, 1]) > envs.limits[1]
    observations, rewards, terminated, truncated, _ = envs.step(np.ones(3))
    assert not terminated.any() and not truncated.any() and rewards.tolist() == [0, 0, 0]
    assert (np.abs(observations) <= 0.05).all() and envs._age.tolist() == [0, 0, 0]
    with pytest.raises(ValueError):
        envs.step(np.ones(4))


def test_the_policy_of_the_example_balances(example):
    rows = play(example, 16, 1, 200, lambda observations, k: example.balance(observations))
    assert not any(row[:, 5].any() for row in rows[1:])


def test_the_example_prints_its_rate():
    run = subprocess.run([sys.executable, str(PATH), "--envs", "64", "--steps", "20"], capture_output=True, text=True)
    assert run.returncode == 0 and "steps/s" in run.stdout and "0 poles fell" in run.stdout, run.stderr
