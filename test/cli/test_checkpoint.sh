#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checkpoints as a user meets them: a run that is interrupted and resumed writes the same lines as one that is not, for
# every method; signals, kill -9, disks that are full, and files that are no checkpoints.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >model.yaml <<'YAML'
calder: 1
title: A crank with a motor
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 1, box: [0.4, 0.1, 0.1], nodes: {pin: [0.3, 0, 0]}}
  rod: {mass: 0.5, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}
  ball: {mass: 2, box: [0.2, 0.3, 0.4]}
joints:
  axle: {type: revolute, to: crank, axis: y}
  pin: {type: revolute, from: crank/pin, to: rod, axis: y}
  flight: {type: free, to: ball}
loops:
  guide: {type: distance, from: ground, to: rod/end, length: 1.2 m}
state:
  axle: {q: 20 deg}
  pin: {q: 60 deg, guess: true}
  flight: {u: [0, 0, 0, 3, 0.01, 0]}
devices:
  motor: {type: servo, joint: axle, reference: {shape: smooth, points: [[0, 0.3], [1, 1.5]]}, proportional: 40,
          integral: 10, derivative: 4, sample_period: 30 ms}
  leash: {type: spring, from: ground, to: ball, stiffness: 5, damping: 0.2}
run:
  duration: 1 s
  whole_steps: false # outputs end steps, so that a shorter run ends where the longer one has the end of a step
  output:
    - {name: fast, interval: 10 ms, signals: [q, u, energy]}
    - {interval: 70 ms, signals: [pose, momentum]}
YAML

# tail_of FILE FROM: the header and the lines from the time of the first line of FROM on
tail_of() { awk -F, -v t="$(sed -n 2p "$2" | cut -d, -f1)" 'NR == 1 || seen || $1 == t { seen = NR > 1; print }' "$1"; }

same_tail() { # WHOLE PART LINES: PART has so many lines, which end WHOLE; with what there is to doubt (steps are cut short)
	[ "$(grep -vc '^#' "$2")" -eq "$3" ] || fail "$2 has $(grep -vc '^#' "$2") lines, not $3"
	tail_of "$1" "$2" | cmp - "$2" || fail "$2 is not the end of $1"
}

for method in 'euler-cromer --step 1e-3' 'rk4 --step 3e-3' 'implicit --step 1e-3' 'implicit-midpoint --step 1e-3' dopri5; do
	# shellcheck disable=SC2086 # the method brings its step along
	set -- -m $method
	calder 0 run model.yaml -q "$@" -o whole.csv
	calder 0 run model.yaml -q "$@" -o first.csv --checkpoint run.ckpt -d 0.5
	calder 0 run model.yaml -q "$@" -o rest.csv --restart run.ckpt
	same_tail whole-fast.csv rest-fast.csv 52
	same_tail whole-stream2.csv rest-stream2.csv 9
	calder 0 run model.yaml -q "$@" -o watched.csv --checkpoint run.ckpt --checkpoint-every 0.1234
	cmp whole-fast.csv watched-fast.csv || fail "$method: checkpoints change the run"
	calder 3 run model.yaml -q "$@" --restart run.ckpt
	stderr_has '^run.ckpt: error: the checkpoint is at t = 1 s and the run ends at t = 1 s; give it a longer --duration'
done

# ---- across changes of topology: the walking arm, stopped at 20 instants
walk=$SOURCE_DIR/examples/walking_arm.yaml
calder 0 run "$walk" -q -o whole.csv
RANDOM=20
for _ in $(seq 20); do
	at=$((RANDOM % 430 + 1))
	calder 0 run "$walk" -q -o first.csv --checkpoint run.ckpt -d "$(awk "BEGIN { printf \"%.17g\", $at * 0.01 }")"
	calder 0 run "$walk" -q -o rest.csv --restart run.ckpt
	same_tail whole.csv rest.csv "$(($(wc -l <whole.csv) - at))"
done

# ---- interrupted
paced=(-m rk4 --step 2e-3 --when-full wait -s q -s u -i 10e-3)
interrupt() { # SIGNAL OPTIONS...: a slow run, signalled once it has written something
	local signal=$1
	shift
	rm -f cut.csv
	"$CALDER" run model.yaml --real-time=0.2 -d 60 "${paced[@]}" --flush 0.05 -o cut.csv "$@" >out 2>err &
	until [ -e cut.csv ] && [ "$(wc -l <cut.csv)" -gt 10 ]; do sleep 0.02; done
	kill "-$signal" $!
	wait $! 2>/dev/null
	code=$?
}
calder 0 run model.yaml -q --real-time=50 -d 3 "${paced[@]}" -o whole.csv
for signal in INT TERM; do
	rm -f run.ckpt
	set -m # otherwise a shell starts what is in the background deaf to SIGINT
	interrupt $signal --checkpoint run.ckpt
	set +m
	[ "$code" -eq $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit code $code"
	stderr_has '^calder run: interrupted at t = [0-9.]+ s; resume with --restart run.ckpt'
	calder 0 run model.yaml -q --real-time=50 -d 3 "${paced[@]}" -o rest.csv --restart run.ckpt
	same_tail whole.csv rest.csv "$(wc -l <rest.csv)"
	[ "$(wc -l <rest.csv)" -gt 100 ] || fail "too little is left to compare"
done
interrupt KILL --checkpoint run.ckpt --checkpoint-every 2e-3
[ "$code" -eq 137 ] || fail "kill -9: exit code $code"
calder 0 run model.yaml -q --real-time=50 -d 3 "${paced[@]}" -o rest.csv --restart run.ckpt
same_tail whole.csv rest.csv "$(wc -l <rest.csv)"
calder 0 run model.yaml -q --real-time=50 -d 3 "${paced[@]}" -i 0 -o whole.csv # every step is a sample
interrupt TERM --checkpoint run.ckpt -i 0
calder 0 run model.yaml -q --real-time=50 -d 3 "${paced[@]}" -i 0 -o rest.csv --restart run.ckpt
same_tail whole.csv rest.csv "$(wc -l <rest.csv)"
interrupt TERM
[ "$code" -eq 143 ] || fail "without a checkpoint: exit code $code"

# ---- what is wrong
calder 0 run model.yaml -q -m rk4 --step 2e-3 --checkpoint run.ckpt -d 0.5
calder 3 run model.yaml -m rk4 --step 1e-3 --restart run.ckpt
stderr_has '^run.ckpt: error: the checkpoint \(t = 0.5 s\) is of a run with other options'
sed 's/mass: 0.5/mass: 0.6/' model.yaml >other.yaml
calder 3 run other.yaml -m rk4 --step 2e-3 --restart run.ckpt -o never.csv
stderr_has '^run.ckpt: error: the checkpoint \(t = 0.5 s\) is of another model'
[ ! -e never-fast.csv ] || fail "a refused restart has touched the results"
head -c 500 run.ckpt >cut.ckpt
calder 3 run model.yaml -m rk4 --step 2e-3 --restart cut.ckpt
stderr_has '^cut.ckpt: error: the checkpoint is cut short'
calder 3 run model.yaml --restart model.yaml
stderr_has '^model.yaml: error: not a Calder checkpoint'
calder 3 run model.yaml --restart none.ckpt
stderr_has '^none.ckpt: error: the checkpoint cannot be read: the file could not be opened'
calder 3 run model.yaml -q --checkpoint nowhere/run.ckpt
stderr_has '^nowhere/run.ckpt: error: cannot be written: No such file' # at the start, not at the end of the run
calder 2 run model.yaml --checkpoint-every 0.5
stderr_has 'checkpoint-every needs --checkpoint FILE'
ln -s /dev/full run.ckpt.part # a disk without room
calder 3 run model.yaml -q -m rk4 --step 2e-3 --checkpoint run.ckpt
stderr_has '^run.ckpt: error: the checkpoint cannot be written: No space left'
[ ! -L run.ckpt.part ] || fail "half a checkpoint is left"
calder 0 run model.yaml -q -m rk4 --step 2e-3 --restart run.ckpt

exit $((failures > 0))
