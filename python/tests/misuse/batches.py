# SPDX-License-Identifier: Apache-2.0
"""Arrays of states: wrong shapes and counts, use after close, threads, a fork, owners that are deleted first."""
from __future__ import annotations

import gc
import math
import pickle
import threading

import numpy as np
from harness import Cases, calder, model
from processes import in_child

CASES = Cases()
m = model()
Bad = (calder.ArgumentError, TypeError)
Q, U = np.zeros((5, 2)), np.ones((5, 2))

for _what, _q in {"one column": np.zeros((5, 1)), "three columns": np.zeros((5, 3)), "3-D": np.zeros((2, 2, 2)), "text": "q", "complex": Q + 0j,
                  "objects": Q.astype(object), "huge": np.broadcast_to(0.0, (10**9, 7))}.items():
    for _name in ("forward", "energy", "mass_matrix", "momentum"):
        CASES.refused(f"{_name}: q {_what}", Bad, ".", lambda n=_name, q=_q: getattr(m, n)(q))
for _what, _u in {"other count": np.zeros((4, 2)), "columns": np.zeros((5, 3)), "text": "u", "complex": U + 0j, "scalar": 1.0}.items():
    CASES.refused(f"forward: u {_what}", Bad, ".", lambda u=_u: m.forward(Q, u))
    CASES.refused(f"forward: tau {_what}", Bad, ".", lambda u=_u: m.forward(Q, U, u))
    CASES.refused(f"step: tau {_what}", Bad, ".", lambda u=_u: calder.Batch(m, 5).step(u, step=1e-2))
for _what, _out in {"shape": np.empty((5, 3)), "float32": np.empty((5, 2), np.float32), "list": [[0.0, 0.0]] * 5,
                    "strided": np.empty((10, 2))[::2], "Fortran": np.empty((5, 2), order="F")}.items():
    CASES.refused(f"forward: out {_what}", Bad, "out", lambda out=_out: m.forward(Q, U, out=out))
for _n in (-1, 1.5, None, "many", 2**31, True):
    CASES.refused(f"Batch of {_n!r}", calder.ArgumentError, "number of states", lambda n=_n: calder.Batch(m, n))
for _threads in (-1, 1.5, "all", 10**30):
    CASES.refused(f"threads={_threads!r}", (*Bad, OverflowError), ".", lambda t=_threads: calder.Batch(m, 5, threads=t).forward())
for _step in (0.0, math.nan, math.inf, "x"):  # below zero: back in time
    CASES.refused(f"step={_step!r}", Bad, ".", lambda h=_step: calder.Batch(m, 5).step(step=h))
for _steps in (-1, 1.5, 2**70):
    CASES.refused(f"steps={_steps!r}", (*Bad, OverflowError), ".", lambda n=_steps: calder.Batch(m, 5).step(step=1e-2, steps=n))
CASES.refused("Batch of no model", calder.ArgumentError, "Model", lambda: calder.Batch(None, 5))
CASES.refused("q is replaced by another shape", (*Bad, AttributeError, ValueError), ".", lambda: setattr(calder.Batch(m, 5), "q", np.zeros(3)))
CASES.refused("jacobian of an unknown node", KeyError, "no node", lambda: calder.Batch(m, 5).jacobian("hand"))
CASES.refused("closed", calder.ClosedError, "closed", lambda: closed().forward())


def closed() -> calder.Batch:
    batch = calder.Batch(m, 5, threads=2)
    batch.close()
    batch.close()
    return batch


@CASES.harmless
def empty_batches() -> None:
    batch = calder.Batch(m, 0)
    assert batch.forward().shape == (0, 2) and len(batch.step(step=1e-2)) == 0


@CASES.harmless
def one_bad_state_among_many() -> None:
    batch = calder.Batch(m, 5)
    batch.u[2, 0] = math.nan
    status = batch.step(step=1e-2)
    assert status[2] != 0 and (np.delete(status, 2) == 0).all() and np.isfinite(np.delete(batch.q, 2, axis=0)).all()


@CASES.harmless
def arrays_outlive_the_batch() -> None:
    batch = calder.Batch(calder.loads(m.to_text()), 1000, threads=2)
    q = batch.q[3:]
    batch.step(step=1e-2)
    expected = q.copy()
    del batch
    gc.collect()
    assert np.array_equal(q, expected)


@CASES.harmless
def cycles_of_batches_are_collected() -> None:
    for _ in range(10):
        own = calder.loads(m.to_text())
        own.kept = [own, calder.Batch(own, 10, threads=2), own.forward(Q)]
        del own
        gc.collect()


@CASES.harmless
def one_batch_in_four_threads() -> None:
    batch, wrong = calder.Batch(m, 200, threads=2), []

    def work() -> None:
        for _ in range(50):
            try:
                batch.forward()
            except calder.BusyError:
                pass
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@CASES.harmless
def batch_with_threads_after_a_fork() -> None:
    box = [calder.Batch(m, 200, threads=2)]
    box[0].forward()

    def work() -> None:
        try:
            box[0].forward()
        except calder.Error as error:
            assert "fork" in str(error) or "process" in str(error)
        m.forward(Q, threads=1)
        box.clear()

    in_child(work)
    box[0].forward()


@CASES.harmless
def batches_are_pickled() -> None:
    batch = calder.Batch(m, 5)
    batch.q[:] = 0.3
    again = pickle.loads(pickle.dumps(batch))
    assert np.array_equal(again.q, batch.q)
