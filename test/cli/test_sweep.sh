#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Campaigns as a user meets them: a thousand cases of which three are poisoned, killed in the middle and gone on with, give the
# bytes of a run that nobody disturbed; so do other numbers of workers, shards, ranks and tasks. Then failures of every kind,
# and folders that belong to something else.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

unset "${!SLURM_@}" "${!OMPI_@}" "${!PMI_@}" 2>/dev/null

cat >model.yaml <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 1 kg, rod: {from: [0, 0, 0], to: [0, 0, -1 m]}, nodes: {tip: [0, 0, -1 m]}}
joints:
  hinge: {type: revolute, to: rod, axis: y}
state:
  hinge: {q: 30 deg}
run: {duration: 200 ms, method: rk4, step: 10 ms}
YAML

# plan NAME CASES: a plan whose first parameter, one number in each stratum, poisons exactly three cases by a negative mass
plan() {
	cat >"$1" <<YAML
sweep: 1
title: Swings of <b>a</b> & rod
model: model.yaml
design: latin-hypercube
cases: $2
seed: 7
parameters:
  fate: {uniform: {min: 0, max: $2}}
  mass: {target: bodies.rod.mass, formula: "if(fate < 3, -1, 1 + fate/$2)"}
  angle: {target: state.hinge.q, normal: {mean: 30 deg, std: 5 deg, min: 0 deg, max: 60 deg}}
  length: {target: bodies.rod.rod.to.2, apply: scale, triangular: {min: 0.9, mode: 1, max: 1.1}}
  method: {target: run.method, choice: [rk4, implicit-midpoint]}
outputs:
  swing: {signal: "q:hinge", statistic: [min, max, rms, time_of_min]}
  height: {signal: "pose:rod/tip.z", at: 0.1 s}
  energy: {signal: "energy:kinetic", statistic: peak}
YAML
}

calder 0 info --json model.yaml
skip_without_yaml
cases=1000
if grep -q __asan_init "$CALDER"; then cases=150; fi # a fork of a process under AddressSanitizer takes ten times as long
plan plan.yaml "$cases"
sed -i 's/energy:kinetic/energy/' plan.yaml
calder 3 sweep plan.yaml -o nowhere
stderr_has '^plan.yaml: error: output "energy": "energy" is [0-9]+ numbers and one is wanted: energy:'
[ ! -e nowhere ] || fail "a folder was made"
column=$(sed -n 's/.*wanted: \(energy:[^ ,]*\).*/\1/p' err)
sed -i "s/signal: \"energy\"/signal: \"$column\"/" plan.yaml

same() { # ONE TWO: the same tables and report, byte by byte
	cmp "$1/cases.csv" "$2/cases.csv" || fail "cases.csv of $1 and $2 differ"
	cmp "$1/report.html" "$2/report.html" || fail "report.html of $1 and $2 differ"
	[ ! -e "$1/cases.h5" ] || cmp "$1/cases.h5" "$2/cases.h5" || fail "cases.h5 of $1 and $2 differ"
}

# ---- undisturbed, and with one worker
calder 0 sweep plan.yaml -o whole
stdout_has "^whole: $cases cases, $((cases - 3)) ok, 3 failed$"
stdout_has '^  case [0-9]+: model.yaml:4:[0-9]+: .*"rod".*mass'
[ "$(grep -c ',failed,' whole/cases.csv)" -eq 3 ] || fail "not three cases failed"
[ "$(wc -l <whole/cases.csv)" -eq $((cases + 1)) ] || fail "cases.csv has not a line for each case"
calder 0 sweep plan.yaml -o single --jobs 1
same whole single

# ---- killed in the middle, a record torn, and gone on with
shard_bytes() { cat killed/shard-* 2>/dev/null | wc -c; }
whole_bytes=$(cat whole/shard-* | wc -c)
kill_after() { # BYTES in the shards; fails where the sweep is over before it is seen to be so far
	setsid "$CALDER" sweep plan.yaml -o killed --jobs 2 >out 2>err </dev/null &
	local group=$!
	until [ "$(shard_bytes)" -gt "$1" ] || ! kill -0 "$group" 2>/dev/null; do sleep 0.005; done
	kill -9 -- "-$group" 2>/dev/null
	wait "$group" 2>/dev/null
	[ ! -e killed/cases.csv ] && [ "$(shard_bytes)" -lt $((whole_bytes * 9 / 10)) ]
}
for part in 3 2; do # after a third, then after half
	rm -rf before && mkdir -p killed && cp -r killed before
	for _ in $(seq 10); do # a busy machine may look away for too long
		kill_after $((whole_bytes / part)) && break
		rm -rf killed && cp -r before killed
	done
	[ "$(shard_bytes)" -gt $((whole_bytes / part)) ] || fail "it was not killed in the middle"
	for shard in killed/shard-*; do truncate -s -5 "$shard"; done
done
calder 0 sweep --merge killed --json
python '
import json
s = json.load(open("out"))
assert not s["complete"] and 10 < s["not run"] < s["cases"] - 10 and s["crashed"] == 0, s
'
calder 0 sweep plan.yaml -o killed
stdout_has "$((cases - 3)) ok, 3 failed$"
same whole killed
calder 0 sweep plan.yaml -o killed # nothing is left
same whole killed
calder 0 sweep --merge killed
same whole killed

# ---- by parts: shards, ranges, ranks, tasks, arrays
for i in 2 0 1; do calder 0 sweep plan.yaml -o shards --shard $i/3 -q; done
same whole shards

plan small.yaml 40
sed -i "s/energy:kinetic/$column/" small.yaml
calder 0 sweep small.yaml
stdout_has '^small.sweep: 40 cases, 37 ok, 3 failed$'
calder 0 sweep small.yaml -o ranges --cases 30:40
stdout_has '30 not run$'
calder 0 sweep small.yaml -o ranges
same small.sweep ranges
for r in 1 0 2; do OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=3 calder 0 sweep small.yaml -o openmpi; done
stderr_has 'MPI: share 2 of 3'
same small.sweep openmpi
for r in 0 1; do PMI_RANK=$r PMI_SIZE=2 calder 0 sweep small.yaml -o mpich -q; done
same small.sweep mpich
for r in 0 1; do SLURM_PROCID=$r SLURM_NTASKS=2 SLURM_STEP_ID=0 calder 0 sweep small.yaml -o srun -q; done
same small.sweep srun
SLURM_PROCID=0 SLURM_NTASKS=4 calder 0 sweep small.yaml -o batch -q # a batch script is not one of four
same small.sweep batch
for id in 5 7 9; do
	for r in 0 1; do # two processes in each of three tasks
		SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_PROCID=$r \
			SLURM_STEP_NUM_TASKS=2 calder 0 sweep small.yaml -o array -q
	done
done
same small.sweep array
seq 0 39 | xargs -P 3 -I {} "$CALDER" sweep small.yaml -o parallel -q --case {} || fail "cases by xargs"
same small.sweep parallel
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 calder 0 sweep small.yaml -o option --cases 0:40 -q # options win
same small.sweep option
mpi=(mpirun --allow-run-as-root --oversubscribe -np 3)
if "${mpi[@]}" true >/dev/null 2>&1; then
	"${mpi[@]}" "$CALDER" sweep small.yaml -o mpirun -q >out 2>err || fail "mpirun"
	same small.sweep mpirun
fi
mkdir elsewhere
(cd elsewhere && "$CALDER" sweep ../small.yaml -o ../elsewhere.sweep -q) || fail "from another folder"
same small.sweep elsewhere.sweep

# ---- a disk that is full, here a file that may not grow: reported, and resumed
(ulimit -f 3 && "$CALDER" sweep small.yaml -o full -j 1 >out 2>err)
[ $? -eq 3 ] || fail "a full disk is not reported"
stderr_has 'full: .*results cannot be written: .*; what was written until then is kept'
calder 0 sweep --merge full
stdout_has '[1-9][0-9]* ok,.* [1-9][0-9]* not run$'
calder 0 sweep small.yaml -o full -q
same small.sweep full

# ---- the list
calder 0 sweep small.yaml --list
[ "$(wc -l <out)" -eq 41 ] || fail "the list has not a line for each case"
calder 0 sweep small.yaml --dry-run --json --cases 3:5
python '
import csv, json
listed, ran = json.load(open("out")), list(csv.DictReader(open("small.sweep/cases.csv")))
assert [c["case"] for c in listed] == [3, 4]
assert all(float(ran[c["case"]]["angle [rad]"]) == c["angle"] and ran[c["case"]]["method"] == c["method"] for c in listed)
'

# ---- what is in the tables is what calder run says
calder 0 run model.yaml -d 0.2 -q -o run.csv -s 'q:hinge'
cat >as_it_is.yaml <<'YAML'
sweep: 1
model: model.yaml
cases: 1
parameters: {none: {constant: 0}}
outputs: {swing: {signal: "q:hinge", statistic: [final, max]}, end: {signal: t}}
series: {signals: ["q:hinge"], interval: 50 ms}
YAML
calder 0 sweep as_it_is.yaml -q
python '
import csv
run, got = list(csv.reader(open("run.csv")))[1:], list(csv.DictReader(open("as_it_is.sweep/cases.csv")))[0]
assert float(got["swing final [rad]"]) == float(run[-1][1]) and float(got["end [s]"]) == 0.2
assert float(got["swing max [rad]"]) == max(float(row[1]) for row in run)
series = list(csv.reader(open("as_it_is.sweep/series/case-000000.csv")))[1:]
assert len(series) == 5 and series[-1] == run[-1], series
'

# ---- the report is a page, and names in it are texts
python '
from html.parser import HTMLParser
class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.seen.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)
    def handle_data(self, data):
        self.text += data
page = Page()
page.feed(open("whole/report.html").read())
assert not page.open and page.seen.count("svg") >= 6 * 3 and "circle" in page.seen and "script" not in page.seen
assert "Swings of <b>a</b> & rod" in page.text and page.text.count("failed") >= 4
'
if [ -e small.sweep/cases.h5 ] && command -v h5dump >/dev/null; then
	h5dump small.sweep/cases.h5 >dump || fail "h5dump"
	for word in 'DATASET "parameters"' 'DATASET "outputs"' 'DATASET "status"' 'DATASET "message"' 'implicit-midpoint' 'calder-sweep' \
		'DATASET "plan"' 'DATASET "model"' 'out of limits'; do
		grep -q "$word" dump || fail "cases.h5 lacks $word"
	done
fi

# ---- failures of other kinds: too late, crashed, not finite, out of limits
sed 's/200 ms/1000000 s/' model.yaml >long.yaml
sed 's/model.yaml/long.yaml/; s/series:.*//' as_it_is.yaml >long_plan.yaml
calder 0 sweep long_plan.yaml -o late --timeout 0.2
stdout_has '1 timed out$'
stdout_has 'it took more than 0.2 s'
case_of() { # PARENT: the process of its first case, once there is one
	until pgrep -P "$1" | head -n 1 | grep . || ! kill -0 "$1"; do sleep 0.01; done
}
"$CALDER" sweep long_plan.yaml -o crash >out 2>err &
parent=$!
kill -USR1 "$(case_of "$parent")"
wait "$parent" || fail "a crash of a case ended the campaign"
stdout_has '1 crashed$'
stdout_has 'the process was ended by signal [0-9]+ \(User defined signal 1\)'
"$CALDER" sweep long_plan.yaml -o interrupted >out 2>err &
parent=$!
case_of "$parent" >/dev/null
kill -TERM "$parent"
wait "$parent"
[ $? -eq 143 ] || fail "SIGTERM: exit code is not 143"
stderr_has 'the same command resumes from here'
calder 0 sweep --merge interrupted
stdout_has '1 not run$'
calder 1 sweep long_plan.yaml -o late --retry --timeout 0.1 --strict
stdout_has '1 timed out$'

sed 's/end: {signal: t}/end: {signal: t, below: 0.1 s}/; s/series:.*//' as_it_is.yaml >limit.yaml
calder 1 sweep limit.yaml --strict
stdout_has '1 out of limits$'
grep -q 'output ""end"" is 0.2 and must be below 0.1' limit.sweep/cases.csv || fail "the limit is not reported"
sed 's/end: {signal: t}/end: {signal: t, at: 9 s}/; s/series:.*//' as_it_is.yaml >never.yaml
calder 0 sweep never.yaml
stdout_has 'output "end" is not a finite number'

# ---- another plan, another model: refused
cp -r small.sweep other
sed 's/seed: 7/seed: 8/' small.yaml >other.yaml
calder 3 sweep other.yaml -o other
stderr_has '^other: error: other.yaml has changed since the campaign in this folder began; take another folder'
cp model.yaml kept.yaml
sed -i 's/9.81/9.8/' model.yaml
calder 3 sweep small.yaml -o other
stderr_has 'model.yaml has changed since'
mv kept.yaml model.yaml
calder 0 sweep small.yaml -o other -q

# ---- mistakes
calder 2 sweep
calder 2 sweep small.yaml --cases 30:50
stderr_has 'small.yaml has cases 0 to 39'
calder 2 sweep small.yaml --cases 5:5
calder 2 sweep small.yaml --shard 3/3
calder 2 sweep small.yaml --case 1 --shard 0/2
calder 3 sweep --merge .
stderr_has 'not the folder of a campaign'
calder 3 sweep nowhere.yaml
sed 's/bodies.rod.mass/bodies.rob.mass/' small.yaml >wrong.yaml
calder 3 sweep wrong.yaml
stderr_has '^wrong.yaml:9:18: error: parameter "mass": target "bodies.rob.mass": there is no "rob" in "bodies" in model.yaml; did you mean "rod"\?'
sed 's/"q:hinge"/"q:hinges"/' small.yaml >wrong.yaml
calder 3 sweep wrong.yaml
stderr_has '^wrong.yaml: error: output "swing min":'
sed 's/height: .*/height: {signal: "q:hinge", below: 3 mm}/' small.yaml >wrong.yaml
calder 3 sweep wrong.yaml
stderr_has '^wrong.yaml:15:3: error: output "height": a limit has not the unit of the signal'

# ---- the example
calder 0 sweep "$SOURCE_DIR/examples/sweep/separation.yaml" -o separation --cases 0:8
stdout_has '500 cases, 8 ok, 492 not run'
calder 0 sweep --help
stdout_has '^example: calder sweep examples/sweep/separation.yaml'

echo "$failures failures"
exit $((failures > 0))
