# SPDX-License-Identifier: Apache-2.0
"""Objects shared by threads, taken over a fork, and sent to other processes."""
from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from harness import EXAMPLES, Cases, calder, model, sim

CASES = Cases()
m = model("chain128")


def together(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Runs work(i) in threads at once; what was raised."""
    caught: list[BaseException] = []
    barrier = threading.Barrier(count)

    def body(i: int) -> None:
        barrier.wait()
        try:
            work(i)
        except BaseException as error:
            caught.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return caught


@CASES.harmless
def one_state_in_four_threads() -> None:
    s = m.state()
    expected = m.forward(s)

    def work(_: int) -> None:
        for _ in range(300):
            try:
                assert np.array_equal(m.forward(s), expected)
                assert np.isfinite(m.energy(s).total)
            except calder.BusyError:
                pass

    assert together(4, work) == []
    assert np.array_equal(m.forward(s), expected)


@CASES.harmless
def one_model_in_four_threads() -> None:
    expected = m.forward(m.state())

    def work(_: int) -> None:
        for _ in range(50):
            s = m.state()
            assert np.array_equal(m.forward(s), expected)
            assert s["link1"].position.shape == (3,) if "link1" in m.body_names else True

    assert together(4, work) == []


@CASES.harmless
def one_simulation_in_four_threads() -> None:
    a = sim(step=1e-3)

    def work(_: int) -> None:
        for _ in range(50):
            for use in (lambda: a.run(0.002), lambda: a.q.copy(), lambda: a.t, lambda: a.step(), lambda: a.read("energy:total"),
                        lambda: a["lower/tip"].position, lambda: a.devices, lambda: a.checkpoint(), lambda: repr(a)):
                try:
                    use()
                except calder.BusyError:
                    pass

    assert together(4, work) == []
    assert a.t > 0 and np.isfinite(a.run(0.01).q).all()


@CASES.harmless
def views_written_during_a_run() -> None:
    a = sim(step=1e-4)
    q, stop = a.q, threading.Event()

    def write() -> None:
        while not stop.is_set():
            q[:] = 0.1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            a.run(0.01)
    finally:
        stop.set()
        thread.join()
    assert np.isfinite(a.q).all()


@CASES.harmless
def closed_during_a_run() -> None:
    a, said = sim(step=1e-4), []

    def close() -> None:
        while not said:
            try:
                time.sleep(0.02)
                a.close()
                said.append("closed")
            except calder.BusyError:
                said.append("busy")

    thread = threading.Thread(target=close)
    thread.start()
    try:
        a.run(2)
    except calder.ClosedError:
        pass
    thread.join()
    assert said
    a.close()


@CASES.harmless
def an_interrupt_ends_a_run() -> None:
    a = sim(step=1e-6)
    try:  # however late the interrupt comes, and whether the run has begun by then
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        a.run(1e6)
    except KeyboardInterrupt:
        a.run(1e-5)
        return
    raise AssertionError("the run was not interrupted")


def in_child(work: Callable[[], None], limit_s: float = 3000) -> None:
    """Forks; work() must return in the child, which then ends as an interpreter does."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, status
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


@CASES.harmless
def model_and_state_after_a_fork() -> None:
    s = m.state()
    expected = m.forward(s)

    def work() -> None:
        assert np.array_equal(m.forward(s), expected) and np.array_equal(m.forward(m.state()), expected)

    in_child(work)
    work()


@CASES.harmless
def simulation_after_a_fork() -> None:
    a = sim(step=1e-2).run(0.1)
    point = a.checkpoint()
    expected = a.run(0.1).q.copy()
    a.restore(point)
    in_child(lambda: np.testing.assert_array_equal(a.run(0.1).q, expected))
    assert np.array_equal(a.run(0.1).q, expected)


@CASES.harmless
def simulation_with_threads_after_a_fork() -> None:
    a = calder.Sim(m, step=1e-3, threads=2)
    a.run(0.01)

    def work() -> None:
        try:
            a.run(0.01)
        except calder.Error as error:
            assert "process" in str(error)

    in_child(work)
    a.run(0.01)


@CASES.harmless
def simulation_with_threads_is_deleted_after_a_fork() -> None:
    box = [calder.Sim(m, step=1e-3, threads=2)]
    box[0].run(0.01)
    in_child(box.clear)
    box[0].run(0.01)


def spin(given: tuple[calder.Model, calder.State]) -> np.ndarray:
    """Work of another process."""
    arm, state = given
    return arm.forward(arm.state(q=state.q, u=state.u))


@CASES.harmless
def models_and_states_in_other_processes() -> None:
    arm = model()
    states = [arm.state(q=[0.1 * i, 0.2], u=[1.0, i]) for i in range(4)]
    for method in ("fork", "spawn"):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            for state, result in zip(states, pool.map(spin, [(arm, state) for state in states])):
                assert np.array_equal(result, arm.forward(state)), method


@CASES.harmless
def damaged_pickles() -> None:
    data = pickle.dumps(model().state())
    rng = np.random.default_rng(7)
    for _ in range(100):
        broken = bytearray(data)
        broken[int(rng.integers(40, len(data)))] ^= 1 << int(rng.integers(0, 8))
        try:
            s = pickle.loads(bytes(broken))
            s.group.forward(s)
        except Exception:  # any of pickle's, of Python's or of ours
            pass


@CASES.harmless
def exceptions_are_pickled() -> None:
    for call in (lambda: calder.load("none.yaml"), lambda: calder.loads("a: ["), lambda: model().forward(None), lambda: model().body("x")):
        try:
            call()
        except calder.Error as error:
            again = pickle.loads(pickle.dumps(error))
            assert type(again) is type(error) and str(again) == str(error) and again.status == error.status
        else:
            raise AssertionError("nothing was raised")


@CASES.harmless
def import_starts_nothing() -> None:
    assert threading.active_count() == 1 and (EXAMPLES / "pendulum.yaml").exists()
