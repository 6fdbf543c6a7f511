#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `calder run` records for the viewer: no body turns by a quarter turn between two frames, whatever the interval of the
# output is; angles and velocities are those of the motion; and the other streams are the same bits with and without it.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

h5python=$(python_with h5py)
[ -n "$h5python" ] || exit 77

cat >spin.yaml <<'YAML'
calder: 1
bodies:
  hub: {mass: 2, inertia: [3, 3, 3], nodes: {rim: [1, 0, 0]}}
  arm: {mass: 1, inertia: [1, 1, 1]}
joints:
  axle: {type: revolute, axis: z, to: hub}
  weld: {type: weld, from: hub/rim, to: arm}
state: {axle: {u: 3 rad/s}}
run: {duration: 20 s, step: 0.01 s, method: rk4, output: {interval: 2 s, signals: [q, u]}}
YAML
calder 0 run -q spin.yaml -o spin.h5
calder 0 run -q spin.yaml -o plain.h5 --no-replay
"$h5python" - <<'PY' || fail "the frames are not those of the motion"
import h5py, math
main = [h5py.File(name)["streams/main"][:].tobytes() for name in ("spin.h5", "plain.h5")]
assert main[0] == main[1], "frames for the viewer change the run"
data = h5py.File("spin.h5")["streams/replay"]
names = [n.decode() if isinstance(n, bytes) else n for n in data.attrs["columns"]]
at = {n: i for i, n in enumerate(names)}
rows = data[:]
for body in ("hub", "arm"):
    w, z = at[f"pose:{body}.qw"], at[f"pose:{body}.qz"]
    for a, b in zip(rows, rows[1:]):
        assert 3 * (b[0] - a[0]) < math.pi / 2, (a[0], b[0])
    for row in rows:
        half = 1.5 * row[0]  # of the angle 3 t
        assert abs(abs(row[w] * math.cos(half) + row[z] * math.sin(half)) - 1) < 1e-9, row[0]
        assert abs(row[at[f"velocity:{body}.wz"]] - 3) < 1e-9
for row in rows:
    assert abs(row[at["velocity:arm.vx"]] + 3 * math.sin(3 * row[0])) < 1e-9, row[0]
assert {2.0 * k for k in range(11)} <= {round(t, 9) for t in rows[:, 0]}
assert len(rows) <= 60 / 0.4 + 11, len(rows)  # 60 rad, a frame after 0.4 at the earliest, and the samples
PY
# one that hardly moves has no more frames than samples
sed 's/u: 3/u: 0.01/' spin.yaml >slow.yaml
calder 0 run -q slow.yaml -o slow.h5
"$h5python" -c 'import h5py; assert len(h5py.File("slow.h5")["streams/replay"]) == 11' ||
	fail "a slow body has more frames than samples"

exit $((failures > 0))
