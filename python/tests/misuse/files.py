# SPDX-License-Identifier: Apache-2.0
"""Result files that are missing, truncated, changed or something else."""
from __future__ import annotations

import atexit
import os
import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np
from harness import EXAMPLES, Cases, calder, sim

CASES = Cases()
FOLDER = Path(tempfile.mkdtemp(prefix="calder-misuse-"))
atexit.register(shutil.rmtree, FOLDER, True)
Bad = (calder.Error, OSError)


def result() -> calder.Results:
    return sim(step=1e-2).record(["q", "energy"], 0.2)


def good() -> bytes:
    """Bytes of a good result file."""
    path = FOLDER / "good.h5"
    if not path.exists():
        result().save(path)
    return path.read_bytes()


def written(data: bytes, name: str = "bad.h5") -> Path:
    path = FOLDER / name
    path.write_bytes(data)
    return path


for _what, _make in {"empty": lambda: b"", "text": lambda: b"t,q\n0,1\n", "rubbish": lambda: os.urandom(5000), "signature": lambda: b"\x89HDF\r\n\x1a\n",
                     "head": lambda: good()[:512], "half": lambda: good()[: len(good()) // 2], "zeros": lambda: bytes(10000)}.items():
    CASES.refused(f"open: {_what}", Bad, ".", lambda make=_make: calder.open(written(make())))
for _what, _path in {"missing": "none.h5", "empty name": "", "folder": str(FOLDER), "model file": str(EXAMPLES / "pendulum.yaml"), "zero": "a\0b"}.items():
    CASES.refused(f"open: {_what}", (*Bad, ValueError), ".", lambda p=_path: calder.open(p))
for _path in (None, 5, []):
    CASES.refused(f"open: {_path!r}", TypeError, ".", lambda p=_path: calder.open(p))
CASES.refused("open: unknown stream", KeyError, "stream", lambda: calder.open(written(good()), "none"))
CASES.refused("open: stream number", (calder.Error, TypeError), ".", lambda: calder.open(written(good()), 3))
CASES.refused("stream: unknown", KeyError, "stream", lambda: calder.open(written(good())).stream("none"))
CASES.refused("column: unknown", KeyError, "did you mean", lambda: calder.open(written(good()))["energy:totl"])
CASES.refused("column: number", calder.Error, "column", lambda: result()[0])
CASES.refused("save: missing folder", Bad, ".", lambda: result().save(FOLDER / "none" / "x.h5"))
CASES.refused("save: folder", Bad, ".", lambda: result().save(FOLDER))
CASES.refused("save: CSV into a missing folder", Bad, ".", lambda: result().save(FOLDER / "none" / "x.csv"))
CASES.refused("save: None", TypeError, ".", lambda: result().save(None))
CASES.refused("view: height", (calder.Error, TypeError, ValueError), ".", lambda: result().view(height="tall"))
CASES.refused("stream of a deleted file", Bad, ".", lambda: deleted().stream("replay"))
CASES.refused("plot: axes", calder.ArgumentError, "axes", lambda: result().plot("q", "energy", axes=[None]))
CASES.refused("plot: unknown", KeyError, "no column", lambda: result().plot("speed"))


def deleted() -> calder.ResultsFile:
    path = written(good(), "gone.h5")
    f = calder.open(path)
    path.unlink()
    return f


@CASES.harmless
def truncated_anywhere() -> None:
    data = good()
    for length in np.linspace(0, len(data) - 1, 120).astype(int):
        try:
            f = calder.open(written(data[:length]))
            assert f["q"].shape[1] == 2
        except (calder.Error, OSError):
            pass


@CASES.harmless
def flipped_bits() -> None:
    data, rng = good(), np.random.default_rng(18)
    for _ in range(150):
        broken = bytearray(data)
        for at in rng.integers(0, len(data), rng.integers(1, 6)):
            broken[at] ^= 1 << int(rng.integers(0, 8))
        try:
            f = calder.open(written(bytes(broken)))
            f.to_pandas().sum()
            f.log, f.doubts, f.units
        except (calder.Error, OSError):
            pass


@CASES.harmless
def overwritten_while_open() -> None:
    path = written(good(), "live.h5")
    f = calder.open(path)
    q = f["q"].copy()
    path.write_bytes(b"x" * 100)
    assert np.array_equal(f["q"], q)


@CASES.harmless
def a_stream_survives_pickling() -> None:
    f = calder.open(written(good(), "kept.h5"), "replay")
    assert pickle.loads(pickle.dumps(f)).columns == f.columns


@CASES.harmless
def saved_and_read_back() -> None:
    r = result()
    r.save(FOLDER / "again.h5")
    f = calder.open(FOLDER / "again.h5")
    assert np.array_equal(f["q"], r["q"]) and f.units["q:elbow"] == r.units["q:elbow"]
