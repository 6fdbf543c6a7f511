#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# calder run --distribute under mpirun: the same results as on one rank for chains and trees, rigid and flexible; what is sent
# between ranks; ranks that do not match, that have nothing to do, that are killed; and resuming from the checkpoint.
set -uo pipefail

mpirun=$(command -v mpirun) || { echo "SKIP: mpirun is not there (Debian: openmpi-bin)"; exit 77; }

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

# ranks CODE COUNT ARGUMENT...: the program on so many ranks, and the exit code
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # MPI has leaks of its own
ranks() {
	local code=$1 count=$2 got=0
	shift 2
	last=("$@" "(on $count ranks)")
	timeout 3000 "$mpirun" --oversubscribe -np "$count" "$CALDER" "$@" >out 2>err </dev/null || got=$?
	[ "$got" -eq "$code" ] || fail "exit code $got instead of $code"
}
"$mpirun" --oversubscribe -np 1 true >/dev/null 2>&1 || { echo "SKIP: mpirun does not work here"; exit 77; }
"$mpirun" --oversubscribe -np 1 "$CALDER" run nowhere.yaml --distribute 2>&1 | grep -q 'this build has no MPI' &&
	{ echo "SKIP: built without MPI"; exit 77; }

# model KIND COUNT: a chain, or a tree of which each body carries two; every third body is a beam if KIND ends in -flex
model() {
	awk -v kind="$1" -v n="$2" 'BEGIN {
		print "calder: 1\ntitle: " kind "\ngravity: [0, 0, -9.81]\nbodies:"
		for (i = 0; i < n; i++) {
			if (kind ~ /flex/ && i % 3 == 1)
				print "  b" i ": {beam: {length: 1 m, section: {shape: tube, diameter: 50 mm, thickness: 2 mm, " \
				      "youngs_modulus: 70 GPa, density: 2700 kg/m^3}, modes: 3, damping_ratio: 0.01}}"
			else
				printf "  b%d: {mass: %g, box: [1, 0.1, 0.1], nodes: {root: [-0.5, 0, 0], tip: [0.5, 0, 0]}}\n", i, 1 + 0.1 * (i % 5)
		}
		print "joints:"
		for (i = 0; i < n; i++) {
			up = kind ~ /tree/ ? int((i - 1) / 2) : i - 1
			printf "  j%d: {type: revolute, %sto: b%d/root, axis: %s, dof: {damping: 0.1}}\n", i,
			       i ? "from: b" up "/tip, " : "", i, i % 2 ? "z" : "y"
		}
		print "state:"
		for (i = 0; i < n; i++)
			printf "  j%d: {q: %g deg, u: %g}\n", i, 7 * (i % 11) - 30, 0.1 * (i % 7) - 0.3
		print "loads:\n  - {joint: j" n - 1 ", effort: 0.5, start: 0.004, end: 0.012}"
		print "run:\n  duration: 0.02 s\n  method: rk4\n  step: 5e-4\n  output:"
		print "    - {name: fast, interval: 2 ms, signals: [q, u, energy]}"
		print "    - {name: slow, interval: 5 ms, signals: [pose, momentum, \"balance:dissipated\", \"balance:supplied\"]}"
	}'
}

# close A B: two CSV files with the same header and times, and numbers that are the same to 1e-10 of the largest in their column.
# Doubts do not count: fixed steps are not probed on several ranks (docs/doubts.md).
close() {
	python3 - "$1" "$2" <<'PYTHON' || fail "$1 and $2 differ"
import csv, sys
a, b = ([row for row in csv.reader(open(name)) if not row[0].startswith("#")] for name in sys.argv[1:])
assert a[0] == b[0] and len(a) == len(b) and len(a) > 2, "header or length"
for k, name in enumerate(a[0]):
    x, y = ([float(row[k]) for row in rows[1:]] for rows in (a, b))
    assert k > 0 or x == y, "times"
    worst, scale = max(abs(p - q) for p, q in zip(x, y)), max(map(abs, x))
    assert worst <= 1e-10 * max(scale, 1e-3), f"{name}: {worst:g} of {scale:g}"
PYTHON
}

# messages SIZE SENT: the summary counts three messages and 45 numbers for each interface between ranks and evaluation
messages() {
	python3 - "$1" "$2" <<'PYTHON' || fail "messages"
import json, sys
r = json.load(open("out"))["ranks"]
crossings = r["interfaces"] * r["evaluations"]
assert r["size"] == int(sys.argv[1]) and r["interface_only"] == (sys.argv[2] == "interfaces"), r
assert r["messages"] == 3 * crossings and r["numbers"] == 45 * crossings, r
assert r["interfaces"] >= r["busy"] - 1 and (r["size"] == 1 or r["busy"] > 1), r
assert r["interface_only"] or r["gathers"] >= r["evaluations"], r
PYTHON
}

for kind in chain tree-flex; do
	model "$kind" 40 >model.yaml
	calder 0 run model.yaml -q -o serial.csv
	for size in 1 2 3 4 7; do
		ranks 0 "$size" run model.yaml --distribute=forced --json -o many.csv
		messages "$size" interfaces
		close serial-fast.csv many-fast.csv
		close serial-slow.csv many-slow.csv
	done
done
model tree 31 >model.yaml
model chain-flex 24 >other.yaml
for file in model other; do
	calder 0 run $file.yaml -q -o serial.csv
	ranks 0 4 run $file.yaml --distribute=forced --json -o many.csv
	messages 4 interfaces
	close serial-fast.csv many-fast.csv
	close serial-slow.csv many-slow.csv
done

# ---- an adaptive method reads the whole state; devices on nodes, loops
calder 0 run other.yaml -q -m dopri5 -o serial.csv
ranks 0 3 run other.yaml -m dopri5 --distribute=forced --json -o many.csv
messages 3 whole
close serial-fast.csv many-fast.csv
sed -i 's/^run:/devices:\n  leash: {type: spring, from: ground, to: b9, stiffness: 50, damping: 1}\nrun:/' other.yaml
calder 0 run other.yaml -q -o serial.csv
ranks 0 3 run other.yaml --distribute=forced --json -o many.csv
messages 3 interfaces # its node is on the first rank
close serial-slow.csv many-slow.csv
model chain 20 | sed -e 's/^\(  j[0-9]*: {q: .*\)}$/\1, guess: true}/' -e 's/^run:/loops:\n  tie: {type: distance, from: ground, to: b19\/tip, length: 15}\nrun:/' >loop.yaml
calder 0 run loop.yaml -q -o serial.csv
for size in 2 3; do
	ranks 0 "$size" run loop.yaml --distribute=forced --cross-loops always --json -o many.csv
	close serial-fast.csv many-fast.csv
	python3 - <<'PYTHON' || fail "messages of a closed loop"
import json
r = json.load(open("out"))["ranks"]
# the loop has one row and its end is outboard of every interface; samples alone gather
sums = r["evaluations"] + r["corrections"]
assert r["interface_only"] and r["interfaces"] == r["busy"] - 1 > 0 and r["gathers"] < 40 < r["evaluations"], r
assert r["messages"] == 4 * r["interfaces"] * sums + 4 * r["interfaces"] * r["residuals"], r
PYTHON
done
ranks 2 2 run loop.yaml --distribute --cross-loops often
stderr_has "--cross-loops is auto, never or always, not 'often'"

# ---- attach and detach on ranks; a checkpoint after a change resumes on another number of ranks, bit-identically
model chain 3 | sed 's/^run:/events:\n  - {name: drop, at: 0.01 s, do: [{detach: j2, group: tail}]}\nrun:/' >drops.yaml
calder 0 run drops.yaml -q -o serial.csv
ranks 0 2 run drops.yaml --distribute=forced -q -o many.csv
close serial-fast.csv many-fast.csv
walk=$SOURCE_DIR/examples/walking_arm.yaml # grips, and lets go of where it stood
calder 0 run "$walk" -q -m rk4 --step 5e-4 -d 1.6 -o serial.csv
ranks 0 2 run "$walk" -q -m rk4 --step 5e-4 -d 1.6 --distribute=forced -o many.csv
close serial.csv many.csv
ranks 0 3 run "$walk" -q -m rk4 --step 5e-4 -d 1.3 --distribute=forced -o first.csv --checkpoint walk.ckpt
ranks 0 2 run "$walk" -q -m rk4 --step 5e-4 -d 1.6 --distribute=forced -o rest.csv --restart walk.ckpt
[ "$(tail -n 1 rest.csv)" = "$(grep -v '^#' many.csv | tail -n 1)" ] || fail "a resumed run differs"

# ---- without mpirun, and on one: one rank
calder 0 run model.yaml --distribute -o one.csv
stdout_has 'ranks       1, of which 1 has 1 branch; 0 interfaces between ranks'
calder 2 run - --distribute
calder 2 run model.yaml --distribute --real-time
calder 2 run model.yaml --distribute=often

# ---- more ranks than branches: said once
model chain 3 >small.yaml
ranks 0 4 run small.yaml --distribute -o small.csv
[ "$(grep -c 'small.yaml: warning: 3 of 4 ranks have nothing to do: the model is partitioned into 1 branch, as more would not be faster' err)" -eq 1 ] ||
	fail "idle ranks are not reported once"
calder 0 run small.yaml -q -o serial.csv
close serial-fast.csv small-fast.csv

# ---- HDF5: the same datasets
if "$CALDER" run small.yaml -q -o small.h5 >/dev/null 2>&1 && command -v h5dump >/dev/null; then
	ranks 0 2 run small.yaml -q --distribute=forced -o many.h5
	diff <(h5dump -n small.h5 | tail -n +2) <(h5dump -n many.h5 | tail -n +2) >/dev/null || fail "other datasets"

	# ---- each rank records its part: joined, they are the file of one run, to every reader
	model tree-flex 40 | sed 's/^run:/events:\n  - {name: drop, at: 0.01 s, do: [{detach: j39, group: tail}]}\nrun:/' >model.yaml
	mkdir whole parts
	ranks 0 3 run model.yaml -q --distribute=forced -o whole/run.h5
	ranks 0 3 run model.yaml --distribute=forced --parts --json -o parts/run.h5
	[ "$(cd parts && echo *)" = "run.h5 run.rank0.h5 run.rank1.h5 run.rank2.h5" ] || fail "files: $(ls parts)"
	python3 -c 'import json; s = json.load(open("out"))["streams"]; assert [x["written"] for x in s] == [11, 5], s' ||
		fail "records of parts"
	for python in python3 /usr/bin/python3; do # readers that go by HDF5
		"$python" -c 'import h5py' 2>/dev/null || continue
		"$python" - <<'PYTHON' || fail "parts are not the whole"
import h5py, numpy
whole, joined = h5py.File("whole/run.h5"), h5py.File("parts/run.h5")
parts = [h5py.File(f"parts/run.rank{r}.h5") for r in range(3)]
for name in "fast", "slow", "replay":
    a, b = whole["streams"][name], joined["streams"][name]
    assert b.is_virtual and a.shape == b.shape and numpy.array_equal(a[:], b[:], equal_nan=True), name
    assert list(a.attrs["columns"]) == list(b.attrs["columns"]) and list(a.attrs["units"]) == list(b.attrs["units"])
    widths = [p["streams"][name].shape[1] - 1 for p in parts]
    assert sum(widths) == a.shape[1] - 1 and (min(widths) > 0 or name != "fast"), widths
assert numpy.array_equal(whole["events/log"][:], joined["events/log"][:]) and "events" not in parts[1]
assert joined["status/closed"][()] == 1 and list(joined["names/bodies"]) == list(whole["names/bodies"])
PYTHON
		break
	done
	for folder in whole parts; do
		cd $folder || exit 1
		calder 0 plot run.h5 q -o plot.svg
		calder 0 view run.h5 --html page.html
		sed -i 's/"created":"[^"]*"//' page.html
		calder 0 info run.h5
		cd ..
	done
	for file in plot.svg page.html; do cmp -s whole/$file parts/$file || fail "another $file"; done
	diff <(grep -v written whole/out) <(grep -v written parts/out) >/dev/null || fail "other words of a joined file"
	calder 0 plot parts/run.rank1.h5 q -o plot.svg # a part is a result file too
	rm parts/run.rank1.h5
	calder 3 plot parts/run.h5 q -o plot.svg
	stderr_has 'parts/run.rank1.h5: cannot be read: the file could not be opened'
	ranks 3 2 run small.yaml -q --distribute=forced --parts -o nowhere/parts.h5
	[ "$(grep -c 'error: cannot be written: No such file' err)" -eq 1 ] || fail "a missing folder is not said once"
	calder 2 run small.yaml --parts -o parts.h5
	ranks 2 2 run small.yaml --distribute --parts --when-full drop -o parts.h5
fi

# ---- what is wrong on all ranks is said once, what is wrong on one is said by it
ranks 3 3 run nowhere.yaml --distribute
[ "$(grep -c 'nowhere.yaml' err)" -eq 1 ] || fail "an error is not said once"
ranks 3 3 run small.yaml --distribute -s q:nobody
[ "$(grep -c 'nobody' err)" -eq 1 ] || fail "an error is not said once"
ranks 3 2 run small.yaml -q --distribute=forced -s q -o /dev/full
[ "$(grep -c '/dev/full' err)" -eq 1 ] || fail "a full disk is not said once"
each() { # RANK0 OTHERS: arguments of rank 0, and of the others
	cat >each.sh <<SH
#!/bin/sh
if [ "\$OMPI_COMM_WORLD_RANK" = 0 ]; then exec "$CALDER" run $1; else exec "$CALDER" run $2; fi
SH
	chmod +x each.sh
	CALDER=$PWD/each.sh
}
program=$CALDER
refused() { # RANK0 OTHERS MESSAGE
	each "$1" "$2"
	ranks 3 2
	CALDER=$program
	stderr_has "$3"
	[ "$(grep -c 'error:' err)" -eq 1 ] || fail "not said once"
}
sed 's/0.5, start/0.6, start/' small.yaml >changed.yaml
sed 's/mass: 1.1/mass: 1.2/' small.yaml >heavier.yaml
refused 'small.yaml --distribute' 'changed.yaml --distribute' 'rank 1 has another input file, or other options than rank 0; start all ranks alike'
refused 'small.yaml --distribute' 'heavier.yaml --distribute' 'rank 1 has another model than rank 0'
refused 'small.yaml --distribute' 'small.yaml --distribute --step 1e-3' 'rank 1 has another method, step or tolerance than rank 0'
refused 'small.yaml --distribute' 'small.yaml --distribute -d 3' 'rank 1 has another input file, or other options'
refused 'small.yaml --distribute' 'nowhere.yaml --distribute' 'nowhere.yaml'

# ---- a rank is killed: the others end at once, with a message and a checkpoint from which the run resumes
model chain 40 | sed 's/duration: 0.02 s/duration: 400 s/; s/interval: 2 ms/interval: 10 ms/' >model.yaml
child() { # RANK: its process, once the run has written something
	until [ -s many-fast.csv ] && [ "$(wc -l <many-fast.csv)" -gt 3 ]; do
		[ -n "$(jobs -r)" ] || break
		sleep 0.1
	done
	for process in /proc/[0-9]*; do
		grep -qz "^OMPI_COMM_WORLD_RANK=$1$" "$process/environ" 2>/dev/null && grep -qz "^CALDER_TEST=$$$" "$process/environ" &&
			[ "$(tr '\0' ' ' <"$process/cmdline" | grep -c -- --distribute)" = 1 ] && echo "${process#/proc/}"
	done | head -n 1
}
killed() { # RANK SIGNAL OPTIONS...
	local rank=$1 signal=$2 got=0
	shift 2
	rm -f many* run.ckpt calder-lost.ckpt
	last=("killed $rank $signal $*")
	CALDER_TEST=$$ OMPI_MCA_odls_base_sigkill_timeout=$patience "$mpirun" --oversubscribe -np 3 "$CALDER" run model.yaml -q --flush 0.01 --distribute=forced -o many.csv "$@" >out 2>err </dev/null &
	local job=$!
	kill -"$signal" "$(child "$rank")" || fail "nobody to kill"
	wait $job || got=$?
	[ "$got" -ne 0 ] || fail "exit code 0"
}
goes_on() { # CHECKPOINT: 0.05 s from it are those of an undisturbed run
	local t
	t=$(sed -nE 's/.*resume from t = ([0-9.e+-]+) s.*/\1/p' err | head -n 1)
	[ -n "$t" ] || { fail "no word of a checkpoint"; return; }
	end=$(awk "BEGIN { print $t + 0.05 }")
	calder 0 run model.yaml -q -d "$end" -o whole.csv
	ranks 0 2 run model.yaml -q --distribute=forced -d "$end" --restart "$1" -o rest.csv
	awk -F, -v t="$(sed -n 2p rest-fast.csv | cut -d, -f1)" 'NR == 1 || seen || $1 == t { seen = NR > 1; print }' whole-fast.csv >tail.csv
	close tail.csv rest-fast.csv
}
at_once="--lost-after 7200" # longer than this test may take
lost='(nothing came from (rank [0-2]|some rank): it is|another rank of a distributed run is) gone' # in a step, or between two
patience=5 # [s] that mpirun gives those that are left before it kills them; by default 1, too little on a busy machine
killed 1 KILL $at_once --checkpoint run.ckpt
stderr_has "model.yaml: error: $lost"
stderr_has 'calder run: rank 0: resume from t = '
goes_on run.ckpt
killed 0 KILL $at_once
stderr_has "model.yaml: error: $lost"
stderr_has 'calder run: rank 1: resume from t = '
goes_on calder-lost.ckpt
[ -z "$(ls ./*.rank* ./*.part 2>/dev/null)" ] || fail "pieces of checkpoints are left: $(ls ./*.rank*)"

# one that is asked to end takes the others along, in order
killed 1 TERM $at_once --checkpoint run.ckpt
stderr_has '^calder run: interrupted at t = [0-9.e+-]+ s; resume with --restart run.ckpt'
[ -s run.ckpt ] || fail "no checkpoint"

# one that is stopped is silent
patience=1 # it cannot end by itself
killed 2 STOP --lost-after 5 --checkpoint run.ckpt
stderr_has "$lost"
[ -s run.ckpt ] || fail "no checkpoint"
for process in $(child 2); do kill -KILL "$process"; done

exit $((failures > 0))
