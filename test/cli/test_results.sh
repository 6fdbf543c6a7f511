#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Result files as a user meets them: streams with rates of their own in HDF5 and CSV, what the file states about the run, a
# process that is killed, a disk that is full or slow, names that are wrong, and the signals that only results have.
# Without h5py (Debian: python3-h5py) the files are read by h5dump where it is, and by `calder plot`.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

h5python=$(python_with h5py numpy)
[ -n "$h5python" ] || echo "no h5py: the content of HDF5 files is checked less"

# h5 CODE: python with h5py, numpy and the file's table in hand
h5() {
	[ -z "$h5python" ] || "$h5python" -c "
import csv, h5py, numpy as np, sys
def table(stream):
    return {c: stream[:, i] for i, c in enumerate(stream.attrs['columns'])}
$1" || fail "python: $1"
}

cat >model.yaml <<'YAML'
calder: 1
title: Two rates
gravity: [0, 0, -9.81]
bodies:
  rod:
    mass: 2 kg
    rod: {from: [0, 0, 0], to: [0, 0, -1]}
    nodes: {tip: [0, 0, -1]}
  cart: {mass: 1, box: [1, 1, 1]}
joints:
  hinge: {type: revolute, to: rod, axis: y}
  rail: {type: prismatic, from: rod, to: cart, axis: x}
state:
  hinge: {q: 60 deg}
loads:
  - {joint: hinge, effort: 3}
  - {joint: rail, acceleration: 0.5}
  - {node: rod/tip, force: [2, 0, 0], frame: node}
run:
  duration: 1 s
  output:
    - {name: fast, interval: 10 ms, signals: [q, u, force]}
    - {interval: 0.3 s, signals: [pose, energy]}
YAML

# ---- what does not need HDF5
calder 0 run model.yaml -q -o run.csv
[ "$(wc -l <run-fast.csv)" -eq 102 ] && [ "$(wc -l <run-stream2.csv)" -eq 6 ] && [ ! -e run.csv ] ||
	fail "two streams are two CSV files: $(ls)"
python '
t = [float(line.split(",")[0]) for line in open("run-stream2.csv").readlines()[1:]]
assert len(t) == 5 and all(abs(a - b) < 1e-12 for a, b in zip(t, [0, 0.3, 0.6, 0.9, 1])), t
assert set(t) <= {float(line.split(",")[0]) for line in open("run-fast.csv").readlines()[1:]}, "the same instants"'
calder 0 run model.yaml -o run.csv --json -s q
python 'import json; d = json.load(open("out"))
assert d["streams"] == [{"name": "main", "file": "run.csv", "written": 101, "dropped": 0}], d'
calder 2 run model.yaml -o -
stderr_has '2 streams cannot all go to stdout'
calder 2 run model.yaml --when-full panic
stderr_has "wait or drop, not 'panic'"
calder 3 run model.yaml -o /dev/full -s q
stderr_has '^/dev/full: error: cannot be written: No space left on device'
calder 3 run model.yaml -o nowhere/x.csv -s q
stderr_has '^nowhere/x.csv: error: cannot be written: No such file'

# names, in the file and by options
calder 3 run model.yaml -s enrgy
stderr_has 'signal "enrgy" is not known; did you mean "energy"\?'
calder 3 run model.yaml -s pose:rod/top
stderr_has 'signal "pose:rod/top": the model has no node of that name; did you mean "pose:rod/tip"\?'
calder 3 run model.yaml -s q:hing
stderr_has 'no joint of that name; did you mean "q:hinge"\?'
calder 3 run model.yaml -s node
stderr_has 'write "node:BODY/NODE"'
sed 's/pose, energy/pose, residul/' model.yaml >bad.yaml
calder 3 run bad.yaml
stderr_has '^bad.yaml:23:[0-9]+: error: run: unknown signal "residul"; did you mean "residual"'
sed 's/{interval: 0.3 s/{name: fast, interval: 0.3 s/' model.yaml >bad.yaml
calder 3 run bad.yaml
stderr_has '^bad.yaml:23:[0-9]+: error: run: two outputs are called "fast"'
sed 's/pose, energy/"loop:pin"/' model.yaml >bad.yaml
calder 3 run bad.yaml
stderr_has 'unknown loop "pin"'
sed 's/name: fast/file: both.csv/; s/{interval: 0.3 s/{file: both.csv, interval: 0.3 s/' model.yaml >bad.yaml
calder 3 run bad.yaml
stderr_has 'both.csv: error: .*"main" and "stream2" cannot share a CSV file'
calder 0 run "$SOURCE_DIR/examples/four_bar.yaml" -q -d 0.1 -o loops.csv -s residual -s reaction
head -n 1 loops.csv >out
stdout_has 'reaction:.*\.fz \[N\]$'

# CSV on a slow disk: a pipe whose reader waits
slow_run() { # MODE: what the reader got is in got
	rm -f pipe
	mkfifo pipe
	(
		exec 3<pipe
		sleep 0.5
		cat <&3 >got
	) &
	calder 0 run model.yaml -o pipe -s q -s pose -s energy -m rk4 --step 1e-4 -i 1e-4 -d 2 --when-full "$1" --json
	wait $!
}
slow_run wait
[ "$(wc -l <got)" -eq 20002 ] || fail "waiting loses records: $(wc -l <got) lines"
calder 0 plot got q:hinge -o got.svg

# ---- HDF5
calder 0 run model.yaml -q -o run.csv
"$CALDER" run model.yaml -o run.h5 >out 2>err
code=$?
if grep -q 'writes no HDF5' err; then
	[ "$code" -eq 3 ] && grep -q 'libhdf5-dev' err || fail "the message without HDF5"
	echo "built without HDF5; $failures failures"
	# a stream that claims 40 GB and holds nothing
if [ -n "$h5python" ]; then
	calder 0 run -q model.yaml -o claims.h5
	h5 "
with h5py.File('claims.h5', 'r+') as file:
    old = file['streams'][sorted(file['streams'])[0]]
    name, keep = old.name, dict(old.attrs)
    del file[name]
    new = file.create_dataset(name, shape=(10**9 // 8, len(keep['columns'])), chunks=(1024, len(keep['columns'])), dtype='<f8')
    for key in ('columns', 'units'):
        new.attrs.create(key, keep[key], dtype=h5py.string_dtype('utf-8'))
    new.attrs['interval'] = keep['interval']
    open('name', 'w').write(name.split('/')[-1])
"
	calder 3 plot claims.h5 --stream "$(cat name)" -o claims.svg
	stderr_has 'claims.h5.*it claims 125000000 x [0-9]+ numbers, of which the file holds 0 bytes'
fi

exit $((failures > 0))
fi
[ "$code" -eq 0 ] || fail "exit code $code"
stdout_has 'wrote +run.h5 \(fast: 101 records\)'
stdout_has 'wrote +run.h5 \(stream2: 5 records\)'
h5 '
f = h5py.File("run.h5")
a = f.attrs
assert a["format"] == "calder-results" and a["format_version"] == 1 and a["software"] == "calder", dict(a)
assert a["software_version"].count(".") == 2 and a["title"] == "Two rates" and a["method"] == "dopri5"
assert a["created"].endswith("Z") and a["start_time"] == 0 and len(a["seeds"]) == 0
assert f["model"].asstr()[()] == open("model.yaml").read() and f["model"].attrs["name"] == "model.yaml"
names = {k: list(f["names"][k].asstr()) for k in f["names"]}
assert names == dict(groups=["main"], bodies=["rod", "cart"], joints=["hinge", "rail"], loops=[],
                     nodes=names["nodes"]) and "rod/tip" in names["nodes"] and "cart" in names["nodes"], names
assert list(f["names/nodes"].attrs["group"]) == [0] * len(names["nodes"])
assert f["status/closed"][()] == 1 and list(f["status/dropped"]) == [0, 0, 0]
assert list(f["status/dropped"].attrs["streams"]) == ["fast", "stream2", "replay"]
assert f["streams/fast"].shape == (101, 7) and f["streams/fast"].attrs["interval"] == 0.01
for name in "fast", "stream2":
    rows = list(csv.reader(open("run-%s.csv" % name)))
    s = f["streams"][name]
    assert rows[0] == ["%s [%s]" % c for c in zip(s.attrs["columns"], s.attrs["units"])]
    assert (np.array(rows[1:], float) == s[:]).all()'
calder 0 plot run.h5 q:hinge --stream fast -o a.svg -t run.h5 # otherwise the other stream is noted below the picture
calder 0 plot run-fast.csv q:hinge -o b.svg -t run.h5
cmp -s a.svg b.svg || fail "the plot of HDF5 differs from that of CSV"
calder 0 plot run.h5 --stream stream2 energy -o a.svg
calder 3 plot run.h5 --stream slow
stderr_has 'run.h5: error: there is no stream "slow"; the file has fast, stream2'
calder 3 plot model.h5
stderr_has 'model.h5: error: cannot be read'
calder 3 run model.yaml -o nowhere/x.h5
stderr_has '^nowhere/x.h5: error: cannot be written: No such file'
sed 's/{interval: 0.3 s/{file: second.h5, interval: 0.3 s/' model.yaml >files.yaml
calder 0 run files.yaml -q -o first.csv
[ -s first.csv ] && [ -s second.h5 ] || fail "a stream with a file of its own"

# the signals of nodes, joints and loads
calder 0 run model.yaml -q -o s.h5 -i 1e-3 -s q -s u -s udot -s node:rod/tip -s pose -s velocity -s acceleration \
	-s force -s wrench:rod/tip -s reaction -s reaction:rail.fx -s pose:cart.x
h5 '
t = table(h5py.File("s.h5")["streams/main"])
for c in "x", "y", "z", "qw", "qx", "qy", "qz":
    assert (t["node:rod/tip." + c] == t["pose:rod/tip." + c]).all()
for c in "vx", "vz", "wy":
    assert (t["node:rod/tip." + c] == t["velocity:rod/tip." + c]).all()
q, u, w = t["q:hinge"], t["u:hinge"], t["udot:hinge"]
near = lambda a, b: np.abs(a - b).max() < 1e-10
assert near(t["acceleration:rod/tip.aly"], w) and near(t["acceleration:rod/tip.ax"], -w * np.cos(q) + u * u * np.sin(q))
assert near(t["acceleration:rod/tip.az"], w * np.sin(q) + u * u * np.cos(q))
s = t["q:rail"]
assert near(t["velocity:cart.vx"], t["u:rail"] * np.cos(q) - s * u * np.sin(q)) and near(t["pose:cart.x"], s * np.cos(q))
assert (t["force:hinge"] == 3).all()
assert near(t["wrench:rod/tip.fx"], 2 * np.cos(q)) and near(t["wrench:rod/tip.fz"], -2 * np.sin(q))
assert np.abs(t["wrench:rod/tip.my"]).max() == 0
# The force along the rail is what drives the cart: its acceleration and its weight along the rail.
ax, az = t["acceleration:cart.ax"], t["acceleration:cart.az"]
assert near(t["force:rail"], ax * np.cos(q) - (az + 9.81) * np.sin(q))
assert near(t["reaction:rail.fx"], ax) and near(t["reaction:rail.fz"], az + 9.81)'

# ---- killed in the middle: everything up to the last flush, and the file simply opens
for run in 1 3 5; do
	rm -f killed.h5
	"$CALDER" run model.yaml -q -o killed.h5 -s q -s pose -m rk4 --step 1e-3 -i 1e-3 -d 1e5 --flush 0.02 &
	pid=$!
	# Beyond the room that is taken at the start: some flushes are done.
	until [ -e killed.h5 ] && [ "$(stat -c %s killed.h5)" -gt $((2000000 * run)) ]; do sleep 0.02; done
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	last=(run and kill -9)
	calder 0 plot killed.h5 q -o killed.svg
	if command -v h5dump >/dev/null; then h5dump -H killed.h5 >out 2>err || fail "h5dump"; fi
	h5 '
f = h5py.File("killed.h5")
t = table(f["streams/main"])
n = len(t["t"])
assert n > 200, n
assert np.abs(t["t"] - 1e-3 * np.arange(n)).max() < 1e-9
assert np.abs(t["pose:rod/tip.z"] + np.cos(t["q:hinge"])).max() < 1e-9
assert f["status/closed"][()] == 0 and "Two rates" in f["model"].asstr()[()]'
done

# ---- killed before the first flush, as soon as there is a file: it opens all the same, with all that it says of the model
for _ in 1 2 3 4 5; do
	rm -f killed.h5
	"$CALDER" run model.yaml -q -o killed.h5 -s q -s pose -i 1e-3 -d 1e5 --real-time --flush 600 &
	pid=$!
	until [ -e killed.h5 ]; do :; done
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	last=(run and kill -9 at once)
	calder 0 info killed.h5
	if command -v h5dump >/dev/null; then h5dump killed.h5 >out 2>err || fail "h5dump"; fi
	h5 '
f = h5py.File("killed.h5")
t = table(f["streams/main"])
assert len(t["t"]) < 1000 and "pose:rod/tip.z" in t
assert f["status/closed"][()] == 0 and "Two rates" in f["model"].asstr()[()]'
done

# ---- a file that may not grow, and a disk that is full: what was written stays
limited() { # FILE: in a shell with a limit on the size of files
	(
		ulimit -f 1200
		"$CALDER" run model.yaml -q -o "$1" -s q -s pose -i 1e-3 -d 1e4 >out 2>err
		echo $? >code
	)
	last=("run -o $1 with a limit")
	[ "$(cat code)" -eq 3 ] || fail "exit code $(cat code) instead of 3"
	stderr_has "^$1: error: cannot be written: File too large; what was written until then is kept"
}
limited full.h5
h5 '
f = h5py.File("full.h5")
t = table(f["streams/main"])
assert len(t["t"]) > 1000 and np.abs(t["t"] - 1e-3 * np.arange(len(t["t"]))).max() < 1e-9
assert np.abs(t["pose:rod/tip.z"] + np.cos(t["q:hinge"])).max() < 1e-9 and f["status/closed"][()] == 0'
calder 0 plot full.h5 q -o full.svg
limited full.csv
calder 0 plot full.csv q -o full.svg
mkdir disk
if mount -t tmpfs -o size=400k tmpfs disk 2>/dev/null; then
	calder 3 run model.yaml -q -o disk/x.h5 -s q -s pose -i 1e-3 -d 1e4
	stderr_has '^disk/x.h5: error: cannot be written: No space left on device'
	calder 0 plot disk/x.h5 q -o full.svg
	umount disk
fi

# ---- dropped records are reported in the summary
slow_run drop
python 'import json
s = json.load(open("out"))["streams"][0]
lines = open("got").read().splitlines()
assert s["written"] + s["dropped"] == 20001, s
notes = [l for l in lines if l.startswith("#")]
assert len(lines) == s["written"] + 1 + len(notes) and (s["dropped"] == 0) == (not notes), (s, notes)
assert not notes or notes == ["# %d records are missing: the disk was slower than the simulation" % s["dropped"]]'

echo "$failures failures"
[ "$failures" -eq 0 ]
