#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vector_env.py [--envs N] [--threads N] [--steps N]: cart-poles for learning, a thousand at a time.

The interface is that of gymnasium.vector: reset() and step() take and give arrays over all environments, and an environment that
has ended starts anew by itself in its next step (mode "next step"). Gymnasium is not needed. Prints steps per second.
"""
from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

try:
    import calder
except ImportError:  # in the source tree, after ./dev python
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    import calder

CART_POLE = """
calder: 1
gravity: [0, 0, -9.81]
bodies:
  cart: {mass: 1 kg, inertia: [1, 1, 1]}
  pole: {mass: 0.1 kg, rod: {from: [0, 0, 0], to: [0, 0, 1 m]}}
joints:
  rail: {type: prismatic, to: cart, axis: x}
  hinge: {type: revolute, from: cart, to: pole, axis: y}
"""


@dataclass(frozen=True)
class Box:
    """Arrays between two bounds; has the members of gymnasium.spaces.Box that learners read."""

    low: np.ndarray
    high: np.ndarray
    dtype: type = np.float64

    @property
    def shape(self) -> tuple[int, ...]:
        return self.low.shape


@dataclass(frozen=True)
class Discrete:
    """Numbers 0 to n - 1."""

    n: int


class CartPoles:
    """Cart-poles to be balanced by pushes of 10 N to the left (0) or right (1) every 20 ms.

    Observations [n, 4]: position of the cart [m], angle of the pole [rad], their rates. An environment terminates where the cart
    leaves +-2.4 m or the pole +-12 degrees, and is truncated after 500 steps.
    """

    metadata = {"autoreset_mode": "next_step"}
    force, period, substeps, longest = 10.0, 0.02, 4, 500
    limits = np.array([2.4, np.deg2rad(12)])

    def __init__(self, num_envs: int, *, threads: int = 1) -> None:
        self.num_envs = num_envs
        self.model = calder.loads(CART_POLE, name="cart_pole")
        self.batch = calder.Batch(self.model, num_envs, threads=threads)
        high = np.array([*(2 * self.limits), np.inf, np.inf])
        self.single_observation_space, self.single_action_space = Box(-high, high), Discrete(2)
        self.observation_space = Box(np.tile(-high, (num_envs, 1)), np.tile(high, (num_envs, 1)))
        self._tau = np.zeros((num_envs, self.model.nu))
        self._age, self._ended = np.zeros(num_envs, int), np.zeros(num_envs, bool)
        self._random = np.random.default_rng()

    def reset(self, *, seed: int | None = None) -> tuple[np.ndarray, dict]:
        """All environments near the upright position; the same ones for the same seed."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._start(np.ones(self.num_envs, bool))
        return self._observe(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """(observations, rewards, terminations, truncations, info) after one period."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"expected {self.num_envs} actions, got shape {actions.shape}")
        fresh = self._ended.copy()
        self._tau[:, 0] = np.where(actions == 1, self.force, -self.force)
        failed = self.batch.step(self._tau, step=self.period / self.substeps, steps=self.substeps, method="euler-cromer") != 0
        self._age += 1
        if fresh.any():
            self._start(fresh)
        terminated = (failed | (np.abs(self.batch.q) > self.limits).any(axis=1)) & ~fresh
        truncated = (self._age >= self.longest) & ~terminated & ~fresh
        self._ended = terminated | truncated
        return self._observe(), np.where(fresh, 0.0, 1.0), terminated, truncated, {}

    def close(self) -> None:
        """Ends the threads."""
        self.batch.close()

    def _start(self, which: np.ndarray) -> None:
        start = self._random.uniform(-0.05, 0.05, (int(which.sum()), 4))
        self.batch.q[which], self.batch.u[which], self.batch.t[which] = start[:, :2], start[:, 2:], 0
        self._age[which] = 0
        self._ended[which] = False

    def _observe(self) -> np.ndarray:
        return np.hstack([self.batch.q, self.batch.u])


def balance(observations: np.ndarray) -> np.ndarray:
    """A linear policy that keeps the pole up."""
    return (observations @ np.array([0.5, 10.0, 1.0, 2.0]) > 0).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1, help="0: all processors")
    parser.add_argument("--steps", type=int, default=500)
    arguments = parser.parse_args()
    envs = CartPoles(arguments.envs, threads=arguments.threads)
    observations, _ = envs.reset(seed=1)
    ended = 0
    begin = time.perf_counter()
    for _ in range(arguments.steps):
        observations, rewards, terminated, truncated, _ = envs.step(balance(observations))
        ended += int(terminated.sum())
    seconds = time.perf_counter() - begin
    total = arguments.envs * arguments.steps
    print(f"{arguments.envs} cart-poles, {envs.batch.threads} threads: {total / seconds:.3g} steps/s "
          f"({total * envs.substeps / seconds:.3g} integration steps/s), {ended} poles fell")
    envs.close()


if __name__ == "__main__":
    main()
