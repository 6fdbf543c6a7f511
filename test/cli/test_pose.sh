#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder pose`: coordinates of a planar arm against their closed form, a state that a run can start from, limits, loops, joints
# that are held, random starts, and what cannot be reached or understood.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >arm.yaml <<'YAML'
calder: 1
bodies:
  upper: {mass: 1, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}
  lower: {mass: 1, rod: {from: [0, 0, 0], to: [0.7, 0, 0]}, nodes: {tip: [0.7, 0, 0]}}
joints:
  shoulder: {type: revolute, to: upper, axis: z}
  elbow: {type: revolute, from: upper/end, to: lower, axis: z}
state: {shoulder: {q: 0.2}, elbow: {q: 0.4}}
YAML
cat >read.py <<'PYTHON'
import json, math
def found():
    return json.load(open("out"))
def tip(q):
    a, b = q["shoulder"][0], q["shoulder"][0] + q["elbow"][0]
    return math.cos(a) + 0.7 * math.cos(b), math.sin(a) + 0.7 * math.sin(b)
PYTHON

calder 0 pose --node lower/tip --at 0.9,80cm,0 --json arm.yaml
python 'from read import *; d = found(); x, y = tip(d["state"]); assert d["reached"] and math.hypot(x - 0.9, y - 0.8) < 1e-9
elbow = math.acos((0.81 + 0.64 - 1 - 0.49) / 1.4)
assert abs(d["state"]["elbow"][0] - elbow) < 1e-8'
stderr_empty

# The text is a state: a model with it has its tip there.
calder 0 pose --node lower/tip --at 0.9,0.8,- arm.yaml
stdout_has '^# arm.yaml: reached, .* m and 0 rad from the target; 0 joints at a limit$'
{ sed '/^state:/d' arm.yaml; cat out; printf 'run: {duration: 1 ms, output: {interval: 1 ms, signals: ["node:lower/tip"]}}\n'; } >there.yaml
calder 0 run there.yaml -q -o there.csv
python 'import csv; r = next(csv.DictReader(open("there.csv"))); assert abs(float(r["node:lower/tip.x [m]"]) - 0.9) < 1e-9 and abs(float(r["node:lower/tip.y [m]"]) - 0.8) < 1e-9'

# Orientation, and a direction about which the node may turn.
calder 0 pose --node lower --rpy '0,0,50 deg' --json arm.yaml
python 'from read import *; q = found()["state"]; assert abs(q["shoulder"][0] + q["elbow"][0] - math.radians(50)) < 1e-9'
cat >ball.yaml <<'YAML'
calder: 1
bodies: {b: {mass: 1, box: [1, 1, 1]}}
joints: {ball: {type: spherical, to: b}}
YAML
calder 0 pose --node b --pointing 1,1,0 --json ball.yaml
python 'from read import *; w, x, y, z = found()["state"]["ball"]
axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
assert max(abs(a - b) for a, b in zip(axis, (0.5 ** 0.5, 0.5 ** 0.5, 0))) < 1e-9'

# Limits of the model, and without them; joints that are held.
{ cat arm.yaml; printf 'devices: {stop: {type: limit, joint: elbow, lower: -30 deg, upper: 30 deg, stiffness: 100}}\n'; } >stop.yaml
calder 4 pose --node lower/tip --at 0.9,0.8,0 --json stop.yaml
stderr_has 'stop.yaml: warning: not reached from the state of the model; give --starts 100, or another state'
python 'from read import *; d = found(); assert not d["reached"] and d["at_limit"] == 1 and abs(d["state"]["elbow"][0] - math.pi / 6) < 1e-12
assert abs(d["distance"] - (math.sqrt(1.49 + 1.4 * math.cos(math.pi / 6)) - math.hypot(0.9, 0.8))) < 1e-9'
calder 0 pose --node lower/tip --at 0.9,0.8,0 --no-limits stop.yaml
calder 0 pose --node lower/tip --at -,0.8,- --hold elbow --json arm.yaml
python 'from read import *; q = found()["state"]; assert q["elbow"] == [0.4] and abs(tip(q)[1] - 0.8) < 1e-9'

# A limit on the wrong side of the start: random starts get to the other solution, the same ones for the same seed.
{ sed 's/q: 0.4/q: -0.4/' arm.yaml; printf 'devices: {stop: {type: limit, joint: shoulder, lower: -20 deg, upper: 60 deg, stiffness: 100}}\n'; } >side.yaml
calder 0 pose --node lower/tip --at 0.9,0.8,0 --starts 30 --json side.yaml
python 'from read import *; q = found()["state"]; assert -0.35 < q["shoulder"][0] < 1.05'
cp out first
calder 0 pose --node lower/tip --at 0.9,0.8,0 --starts 30 --json side.yaml
cmp -s out first || fail "another result for the same seed"

# Loops stay closed: the coupler of a four-bar, by the closed form of its two circles.
cat >fourbar.yaml <<'YAML'
calder: 1
bodies:
  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.3, 0, 0]}, nodes: {end: [0.3, 0, 0]}}
  coupler: {mass: 1, rod: {from: [0, 0, 0], to: [0.9, 0, 0]}, nodes: {end: [0.9, 0, 0]}}
  rocker: {mass: 1, rod: {from: [0, 0, 0], to: [0.6, 0, 0]}, nodes: {end: [0.6, 0, 0]}}
joints:
  motor: {type: revolute, to: crank, axis: z}
  knee: {type: revolute, from: crank/end, to: coupler, axis: z}
  pivot: {type: revolute, to: rocker, axis: z, inboard: [1, 0, 0]}
loops: {pin: {type: revolute, from: coupler/end, to: rocker/end}}
state: {motor: {q: 2}, knee: {q: -1, guess: true}, pivot: {q: 1.5, guess: true}}
YAML
calder 0 pose --node coupler/end --at -,0.45,- --json fourbar.yaml
python 'from read import *; q = found()["state"]
pivot, motor, knee = q["pivot"][0], q["motor"][0], q["knee"][0]
assert abs(0.6 * math.sin(pivot) - 0.45) < 1e-9
x, y = 0.3 * math.cos(motor), 0.3 * math.sin(motor)
assert abs(math.hypot(1 + 0.6 * math.cos(pivot) - x, 0.45 - y) - 0.9) < 1e-9
assert abs(x + 0.9 * math.cos(motor + knee) - 1 - 0.6 * math.cos(pivot)) < 1e-9'

# What is not understood.
calder 3 pose --node lower/top --at 1,0,0 arm.yaml
stderr_has 'arm.yaml: error: there is no node "lower/top"; calder info lists them'
calder 3 pose --node lower/tip --at 1,0,0 --hold wrist arm.yaml
stderr_has '.*--hold: there is no joint "wrist"; calder info lists them'
calder 2 pose --at 1,0,0 arm.yaml
stderr_has 'node comes first, then what is wanted of it'
calder 2 pose --node lower/tip arm.yaml
stderr_has "what is wanted of node 'lower/tip'\\? Give --at, --rpy or --pointing after it"
calder 2 pose --node lower/tip --at 1,2 arm.yaml
stderr_has "at takes three numbers, X,Y,Z, not '1,2'"
calder 2 pose --node lower/tip --at 1,2,3kg arm.yaml
calder 2 pose --node lower/tip --pointing 0,0,0 arm.yaml
stderr_has 'pointing takes a direction, not a vector of length 0'

# A path: a circle of the tip, in millimeters; the elbow stays on its side, and calder inverse follows what was written.
python 'import math
with open("circle.csv", "w") as f:
    f.write("t [s],x [mm],y [mm],remark\n" + "".join(f"{i / 50},{900 + 200 * math.cos(i / 8)!r},{800 + 200 * math.sin(i / 8)!r},1\n" for i in range(51)))'
calder 0 pose --node lower/tip --path circle.csv -o motion.csv arm.yaml
stdout_has '^circle.csv: 51 points, 0 not reached; at most .* from one point to the next \(q:(elbow|shoulder)\)$'
stderr_empty
python 'import csv, math; r = list(csv.reader(open("motion.csv"))); assert r[0] == ["t [s]", "q:shoulder [rad]", "q:elbow [rad]"] and len(r) == 52
for i, row in enumerate(r[1:]):
    t, a, b = map(float, row)
    x, y = 0.9 + 0.2 * math.cos(i / 8), 0.8 + 0.2 * math.sin(i / 8)
    elbow = math.acos((x * x + y * y - 1.49) / 1.4)
    assert t == i / 50 and abs(b - elbow) < 1e-8, (i, b, elbow)
    assert math.hypot(math.cos(a) + 0.7 * math.cos(a + b) - x, math.sin(a) + 0.7 * math.sin(a + b) - y) < 1e-9'
calder 0 inverse arm.yaml motion.csv -o torque.csv
stdout_has '2 coordinates followed from 0 s to 1 s, 51 rows'

# Without -o the table is the output. Columns by the names of signals, of two nodes; a node without a column of its own is an error.
calder 0 pose --node lower/tip --path circle.csv arm.yaml
cmp -s out motion.csv || fail "stdout and -o differ"
sed 's/ \[mm\]//g; 1s/.*/t,pose:lower\/tip.x [mm],pose:lower\/tip.y [mm],pose:upper.z/; 2,$s/,1$/,0/' circle.csv >two.csv
calder 0 pose --node lower/tip --node upper --path two.csv -o again.csv arm.yaml
cmp -s again.csv motion.csv || fail "columns by the names of signals"
calder 3 pose --node lower/tip --node lower --path two.csv arm.yaml
stderr_has 'two.csv: error: node "lower": no column is of this node'

# Attitudes along a run, from its result file, and as roll, pitch and yaw.
cat >tumble.yaml <<'YAML'
calder: 1
gravity: [0, 0, 0]
bodies: {b: {mass: 1, box: [1, 2, 3]}}
joints: {ball: {type: spherical, to: b}}
state: {ball: {u: [0.3, 2, 0.1]}}
run: {duration: 1 s, output: {interval: 50 ms, signals: [q, "pose:b"]}}
YAML
calder 0 run tumble.yaml -q -o tumble.h5
calder 0 run tumble.yaml -q -o tumble.csv
calder 0 pose --node b --path tumble.h5 --stream main -o attitude.csv tumble.yaml
python 'import csv; a, b = (list(csv.DictReader(open(f))) for f in ("attitude.csv", "tumble.csv")); assert len(a) == len(b) == 21
keys = [k for k in b[0] if k.startswith("q:ball")]; assert len(keys) == 4
for x, y in zip(a, b):
    p, q = ([float(z[k]) for k in keys] for z in (x, y))
    assert abs(abs(sum(u * v for u, v in zip(p, q))) - 1) < 1e-12'
printf 't,roll [deg],pitch [deg],yaw [deg]\n0,0,0,10\n1,0,0,40\n' >yaw.csv
calder 0 pose --node lower --path yaw.csv -o yaw_q.csv arm.yaml
python 'import csv, math; r = list(csv.reader(open("yaw_q.csv")))[1:]
assert all(abs(float(x[1]) + float(x[2]) - math.radians(w)) < 1e-9 for x, w in zip(r, (10, 40), strict=True))'

# What cannot be reached is written as near as it gets, and said; tables that are no path are refused by row and column.
printf 't,x,y\n0,1,0.5\n1,3,0.5\n' >far.csv
calder 4 pose --node lower/tip --path far.csv -o far_q.csv arm.yaml
stderr_has 'far.csv: warning: 1 of 2 points are not reached, the first at t = 1 s, by up to 1.34'
[ "$(wc -l <far_q.csv)" = 3 ] || fail "far_q.csv"
printf 't,x,y\n0,1,0.5\n1,-1.2,-0.5\n' >leap.csv
calder 0 pose --node lower/tip --path leap.csv -o leap_q.csv arm.yaml
stderr_has 'q:(shoulder|elbow) moves by .* rad between two points, at t = 1 s'
rm -f none.csv
for wrong in 't,x,x\n0,1,1\n' 't,x [kg]\n0,1\n' 't,qw,qx\n0,1,0\n' 't,x,qw,qx,qy,qz,roll,pitch,yaw\n0,1,1,0,0,0,0,0,0\n' 't,x\n0,1\n-1,1\n' \
	't,x\n0,\n' 't,qw,qx,qy,qz\n0,2,0,0,0\n' 't,x\n' 't,height\n0,1\n'; do
	printf "$wrong" >wrong.csv
	calder 3 pose --node lower/tip --path wrong.csv -o none.csv arm.yaml
	stderr_has 'wrong.csv'
	[ ! -e none.csv ] || fail "none.csv is there: $wrong"
done
calder 2 pose --node lower/tip --path circle.csv -o circle.csv arm.yaml
calder 2 pose --node lower/tip --path circle.csv -o arm.yaml arm.yaml
calder 2 pose --node lower/tip --path circle.csv --json arm.yaml
calder 2 pose --node lower/tip --at 1,0,0 -o x.csv arm.yaml

exit $((failures > 0))
