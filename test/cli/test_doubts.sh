#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What there is to doubt in a run, as a user meets it: warnings, the summary, --json, --strict, CSV and HDF5 files, and
# `calder info` of a result file; tolerances in result files are those that were used.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >stiff.yaml <<'YAML'
calder: 1
bodies: {a: {mass: 2, inertia: [1, 1, 1]}}
joints: {z: {type: prismatic, axis: z, to: a}}
state: {z: {q: 1 mm}}
devices: {mount: {type: bushing, from: ground, to: a, stiffness: [1, 1, 50000], damping: [0, 0, 1]}}
run: {duration: 1 s, method: rk4, step: 20 ms, output: {interval: 0.1 s, signals: [q, balance]}}
YAML
calder 0 check stiff.yaml
skip_without_yaml

# ---- said, and without effect unless --strict asks for it
calder 0 run stiff.yaml -o stiff.csv
stderr_has '^stiff.yaml: warning: a step of 0.02 s is too large for rk4: device "mount" moves at 158.1 rad/s'
stderr_has '^stiff.yaml: warning: energy balance error [0-9.e+]+ J at t = 1 s'
stdout_has 'DOUBT +a step of 0.02 s'
[ "$(grep -c '^# doubt (' stiff.csv)" -eq 2 ] || fail "CSV holds the doubts: $(tail -n 3 stiff.csv)"
calder 1 run stiff.yaml --strict
calder 1 run stiff.yaml --strict --quiet
stderr_has 'warning: a step'
calder 1 run stiff.yaml --strict --json
python '
import json
doubts = json.load(open("out"))["doubts"]
assert [d["kind"] for d in doubts] == ["stability", "balance"], doubts
d = doubts[0]
assert d["object"] == "device \"mount\"" and d["value"] == 0.02 and abs(d["limit"] - 8 ** 0.5 / 25000 ** 0.5) < 1e-4 * d["limit"], d'
calder 0 plot stiff.csv q:z -o stiff.svg # remarks are passed over

# ---- commands that compute something at a state of a run doubt it as the run does
cat >moved.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
bodies:
  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}
  coupler: {mass: 2, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}
  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.8, 0, 0]}, nodes: {end: [0.8, 0, 0]}}
joints:
  crank: {type: revolute, to: crank}
  pin: {type: revolute, from: crank/end, to: coupler}
  rocker: {type: revolute, to: rocker, inboard: [1.1, 0, 0]}
  tool: {type: revolute, from: rocker/end, to: tool}
loops: {close: {type: revolute, from: coupler/end, to: rocker/end}}
state: {crank: {q: 0.5}, pin: {q: 0.1}, rocker: {q: 1.48}, tool: {q: 90}}
run: {duration: 0.1 s}
YAML
sed -i 's/^joints:/  tool: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}}\n&/' moved.yaml
for command in 'run --quiet' linearize trim operators 'modes --system' 'pose --node coupler --pointing 0,0,1' 'inverse --drive crank=0.5+t'; do
	# shellcheck disable=SC2086
	calder 0 $command moved.yaml
	stderr_has '^moved.yaml:[0-9:]+ warning: state of joint "tool": the angle 90 is in rad'
	stderr_has '^moved.yaml: warning: group "main": initial state violates loop "close" by'
done
for command in info signals modes 'convert -o copy.yaml'; do
	# shellcheck disable=SC2086
	calder 0 $command moved.yaml
	stderr_has '^moved.yaml:[0-9:]+ warning: state of joint "tool": the angle 90 is in rad'
done
for command in linearize 'modes --system'; do
	# shellcheck disable=SC2086
	calder 0 $command --at 1 stiff.yaml
	stderr_has '^stiff.yaml: warning: a step of 0.02 s is too large for rk4: device "mount" moves at 158.1 rad/s'
done

# ---- what is good is not doubted
calder 0 run stiff.yaml --step 0.001 --strict -o good.csv
[ ! -s err ] || fail "no warning: $(cat err)"
! grep -q '^#' good.csv || fail "no remark"
calder 0 run stiff.yaml --method dopri5 --strict

# ---- steps that samples cut short
calder 1 run stiff.yaml --step 0.003 --interval 0.01 --strict
stderr_has 'warning: 100 of 400 steps are shorter than the 0.003 s that were asked for, down to 0.001 s'

# ---- a loop with a link that is too light for a model with flexible bodies
cat >light.yaml <<'YAML'
calder: 1
ground: {nodes: {b: [0.5, 0, 0]}}
bodies:
  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}
  coupler: {mass: 1e-9, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}
  rocker: {beam: {length: 0.4, section: {EIy: 90, EIz: 100, rhoA: 5}, modes: 2, damping_ratio: 0.02}}
joints:
  crank: {type: revolute, to: crank}
  pin: {type: revolute, from: crank/end, to: coupler}
  rocker: {type: revolute, from: ground/b, to: rocker}
loops: {wrist: {type: revolute, from: coupler/end, to: rocker/tip}}
state: {crank: {q: 90 deg, u: 3}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}
run: {duration: 10 ms, method: rk4, step: 0.1 ms, output: {interval: 1 ms, signals: [q]}}
YAML
calder 1 run light.yaml --strict --quiet
stderr_has 'warning: group "main": accelerations may have a relative error of up to 6.[0-9]e-08: inertias along a loop'
sed -i 's/mass: 1e-9/mass: 1e-5/' light.yaml
calder 0 run light.yaml --strict --quiet

# ---- campaigns
cat >plan.yaml <<'YAML'
sweep: 1
model: stiff.yaml
design: grid
parameters: {step: {target: run.step, values: [1 ms, 20 ms]}}
outputs: {last: {signal: "q:z", at: 1 s}}
YAML
calder 0 sweep plan.yaml -o cases
stdout_has '^cases: 2 cases, 2 ok$'
stdout_has '1 of the cases that are ok have something to DOUBT'
grep -q '^1,ok,.*doubt (stability): a step of 0.02 s' cases/cases.csv || fail "cases.csv: $(cat cases/cases.csv)"
calder 1 sweep plan.yaml -o strict --strict --quiet
sed -i 's/, 20 ms//' plan.yaml
calder 0 sweep plan.yaml -o good --strict --quiet

# ---- HDF5
"$CALDER" run stiff.yaml -o stiff.h5 >out 2>err
if grep -q 'writes no HDF5' err; then
	echo "built without HDF5: its part is left out"
	exit $((failures > 0))
fi
calder 0 info stiff.h5
stdout_has 'model +stiff.yaml'
stdout_has 'method +rk4, step 0.02 s'
stdout_has 'DOUBT +a step of 0.02 s'
calder 0 info --json stiff.h5
python 'import json; d = json.load(open("out")); assert len(d["doubts"]) == 2 and d["rtol"] == 0 and d["closed"], d'
calder 0 run stiff.yaml --method dopri5 -o default.h5
calder 0 info --json default.h5
python 'import json; d = json.load(open("out")); assert d["rtol"] == 1e-9 and d["atol"] == 1e-12 and not d["doubts"], d'
calder 0 run stiff.yaml --method dopri5 --rtol 1e-6 -o given.h5
calder 0 info --json given.h5
python 'import json; d = json.load(open("out")); assert d["rtol"] == 1e-6 and d["atol"] == 1e-12, d'
calder 0 plot stiff.h5 q:z -o stiff.svg
stderr_has 'stiff.h5: warning: a step of 0.02 s'
calder 0 view stiff.h5 --json view.json
stderr_has 'stiff.h5: warning: a step of 0.02 s'
for python in python3 /usr/bin/python3; do # files with false doubts are refused
	"$python" -c 'import h5py' 2>/dev/null || continue
	for crooked in 'data=[1, 2, 3]' 'data=["a", "b"]' 'shape=(10**12,), dtype=[("kind", "S16"), ("text", "S400")], chunks=(10,)'; do
		cp stiff.h5 crooked.h5
		"$python" -c "import h5py; f = h5py.File('crooked.h5', 'r+'); del f['doubts']; f.create_dataset('doubts', $crooked)"
		calder 3 info crooked.h5
		stderr_has 'crooked.h5: error: not a Calder result file'
	done
	"$python" -c "import h5py; f = h5py.File('crooked.h5', 'r+'); del f['doubts']" # of an earlier version
	calder 0 info crooked.h5
	stdout_lacks DOUBT
	break
done
calder 3 info stiff.csv
echo nonsense >wrong.h5
calder 3 info wrong.h5
stderr_has 'wrong.h5: error: cannot be read; is it an HDF5 file'

# ---- round-off at rest is none, although the energies cancel
cat >rest.yaml <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
ground: {nodes: {p: [0.1, 0.5, 0]}}
bodies: {a: {mass: 1, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01], nodes: {e: [0.1, 0.5, 0]}}}
joints: {j: {type: revolute, to: a, axis: y}}
loops: {latch: {type: spherical, from: ground/p, to: a/e}}
run: {duration: 1 s}
YAML
calder 0 run rest.yaml --strict
stdout_lacks DOUBT

# ---- a run resumed from a checkpoint keeps its doubts
calder 0 run stiff.yaml --duration 0.5 --checkpoint half.cp
calder 1 run stiff.yaml --restart half.cp --strict
stderr_has 'warning: a step of 0.02 s is too large for rk4: device "mount" moves at 158.1 rad/s at t = 0 s'

exit $((failures > 0))
