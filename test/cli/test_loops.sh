#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Closed loops on the command line: mobility in `check` and `info`, loops that cannot be closed, drives that are too many,
# and the signals of loops in `run`.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

# fourbar NAME LENGTH STATE: a four-bar whose coupler has the length; STATE is that of the crank.
fourbar() {
	cat >"$1" <<-YAML
		calder: 1
		gravity: [0, -9.81, 0]
		bodies:
		  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.3, 0, 0]}, nodes: {end: [0.3, 0, 0]}}
		  coupler: {mass: 1, rod: {from: [0, 0, 0], to: [$2, 0, 0]}, nodes: {end: [$2, 0, 0]}}
		  rocker: {mass: 1, rod: {from: [0, 0, 0], to: [0.6, 0, 0]}, nodes: {end: [0.6, 0, 0]}}
		joints:
		  motor: {type: revolute, to: crank, axis: z}
		  knee: {type: revolute, from: crank/end, to: coupler, axis: z}
		  pivot: {type: revolute, to: rocker, axis: z, inboard: [1, 0, 0]}
		loops: {pin: {type: revolute, from: coupler/end, to: rocker/end}}
		state: {motor: {$3}, knee: {q: -1, guess: true}, pivot: {q: 1.5, guess: true}}
		run: {method: rk4, step: 1 ms, duration: 0.2}
	YAML
}
fourbar good.yaml 0.9 'q: 2, frozen: true'
fourbar short.yaml 0.05 'q: 2'
fourbar held.yaml 0.2 'q: 180 deg, frozen: yes'
cp good.yaml driven.yaml
# closed as it is: a parallelogram whose two cranks are held at different speeds
sed -e 's/\[0.3, 0, 0\]/[0.6, 0, 0]/g' -e 's/0\.9, 0/1, 0/g' -e 's/^state:.*/state: {motor: {q: 1, u: 2, frozen: true}, knee: {q: -1}, pivot: {q: 1, u: 3, frozen: true}}/' \
	good.yaml >speeds.yaml
printf 'loads: [{joint: motor, lock: true}, {joint: pivot, acceleration: 1}]\n' >>driven.yaml

calder 0 check good.yaml
stdout_has 'pin: revolute, coupler/end to rocker/end, 5 constraint equations, 2 independent'
stdout_has 'state    initial state violates loop "pin" by 0\.[0-9]+ m; assembled: knee -57\.3 → '
stdout_has 'mobility 1: 3 degrees of freedom less 2 independent constraint equations of 5; redundant: pin.dz, pin.rx, pin.ry'
stdout_has '^  independent (motor|knee|pivot); the others follow'
stderr_has 'good.yaml: warning: group "main": redundant constraint equations \(pin.dz, pin.rx, pin.ry\)'
calder 1 check --strict good.yaml


# a start that closing the loop would move: refused, allowed by the option or the file, and reported by every command
fourbar guessed.yaml 0.9 'q: -50 deg, u: 10'
sed 's/, guess: true//g' guessed.yaml >moved.yaml
calder 3 run moved.yaml
stderr_has 'moved.yaml: error: group "main": initial state violates loop "pin" by [0-9.]+ m; assembled state differs: motor -50\.0 → '
stderr_has 'Use "frozen: true" to hold a coordinate.*--assemble'
calder 3 run --assemble=0.2 moved.yaml
calder 2 run --assemble=far moved.yaml
calder 0 run --assemble moved.yaml -o moved.csv
stderr_has 'warning: group "main": initial state violates loop "pin" by'
stdout_has '  DOUBT       group "main": initial state violates'
grep -q '^# doubt (assembly): group "main": initial state violates' moved.csv || fail 'CSV without what moved'
calder 1 run --assemble --strict moved.yaml
calder 0 run --assemble --json moved.yaml
python 'import json, math
d = json.load(open("out"))["groups"][0]["assembly"]
m = next(x for x in d if x["dof"] == "motor" and x["of"] == "q")
assert m["stated"] and abs(m["given"] + 50 * math.pi / 180) < 1e-12 and abs(m["assembled"] - m["given"]) > 0.1, m
assert {(x["dof"], x["of"]) for x in d} >= {("pivot", "q"), ("knee", "u")}, d'
calder 1 check moved.yaml
stderr_has 'error: .*differs: motor -50\.0 → .*The run does not start'
sed -e 's/duration: 0.2/duration: 0.2, assemble: any/' moved.yaml >allowed.yaml
calder 0 run allowed.yaml
calder 0 check allowed.yaml
stderr_has 'warning: group "main": initial state violates loop "pin"'
# what is stated stays if the rest can move: nothing to doubt, one line of what moved
sed -e 's/knee: {q: -1}, pivot: {q: 1.5}/pivot: {q: 1.5, guess: true}/' moved.yaml >stated.yaml
calder 0 run --strict stated.yaml -o stated.csv
stdout_has '  start       initial state violates loop "pin" by .*; assembled: '
stderr_empty
python 'import math
row = [float(x) for x in open("stated.csv").readlines()[1].split(",")]
assert row[1] == math.radians(-50) and row[4] == 10, row'
calder 0 info stated.yaml
stdout_has 'assembled: knee 0\.0 → '

# a driven crank: check and info say what is driven, the run records the torque; groups are distinguished from joints
sed -e 's/motor: {q: -50 deg, u: 10}, //' guessed.yaml >motor.yaml
printf 'devices: {servo: {type: joint_drive, joint: motor, q: 1 + 0.5*sin(3*t)}}\n' >>motor.yaml
calder 0 check motor.yaml
stdout_has '^  driven   motor$'
stdout_has 'mobility 0: 3 degrees of freedom, 1 of them driven'
calder 0 check --json motor.yaml
python 'import json; m = json.load(open("out"))["groups"][0]["mobility"]
assert m["driven_dof"] == ["motor"] and m["group_motion"] is False, m'
calder 0 run motor.yaml --strict -o motor.csv -s q:motor -s u:motor -s device:servo -s balance:error -s force:motor
python 'import math
rows = [[float(x) for x in l.split(",")] for l in open("motor.csv").readlines()[1:]]
for t, q, u, force, power, error, same in rows:
    assert abs(q - 1 - 0.5 * math.sin(3 * t)) < 1e-15 and abs(u - 1.5 * math.cos(3 * t)) < 1e-14
    assert abs(power - force * u) < 1e-12 and abs(force - same) < 1e-12 and abs(error) < 1e-8'
# the same by a constraint equation: the same torque, and the equation is listed; convert carries the function over
sed -e '/^devices/d' -e 's/^loops: {/loops: {servo: {type: coupling, terms: [{joint: motor, factor: 1}], drive: {value: 1 + 0.5*sin(3*t)}}, /' motor.yaml >row.yaml
calder 0 check row.yaml
stdout_has 'loop   servo: coupling, 1 constraint equation, 1 independent; driven: servo.coupling$'
calder 0 info --json row.yaml
python 'import json; l = json.load(open("out"))["groups"][0]["loops"]
assert {x["name"]: x["driven"] for x in l} == {"servo": ["servo.coupling"], "pin": []}, l'
calder 0 convert row.yaml -o row2.yaml
for model in row row2; do
	calder 0 run $model.yaml --strict -o $model.csv -s q:motor -s multiplier:servo.coupling -s balance:error
done
python 'def table(n): return [[float(x) for x in l.split(",")] for l in open(n).readlines()[1:]]
assert open("row.csv").read() == open("row2.csv").read()
for a, b in zip(table("motor.csv"), table("row.csv"), strict=True):
    assert abs(a[1] - b[1]) < 1e-12 and abs(a[3] - b[2]) < 1e-7 * (1 + abs(a[3])) and abs(b[3]) < 1e-8, (a, b)'
printf 'calder: 1\nbodies: {a: {mass: 1, sphere: 0.1}}\njoints: {j: {type: prismatic, to: a}}\ngroup_motions: {main: {j: {q: 0.1 m/s * t}}}\n' >given.yaml
calder 0 check given.yaml
stdout_has 'driven   the whole group: it moves as given \(group_motions\), without dynamics'

calder 1 check short.yaml
stderr_has 'error: group "main": its loops cannot be closed from this state: row pin.dx is off by 0.05 m: out of reach; check lengths'
stdout_has 'for the closest state'
calder 1 check held.yaml
stderr_has 'out of reach while 1 of 3 coordinates are frozen or driven'
calder 4 run held.yaml
stderr_has 'pin\.dx is off by'
calder 4 run speeds.yaml
stderr_has 'its loops cannot be kept at these speeds: row pin\.d[xy] changes by 0\.[0-9]+ a second'
calder 4 info short.yaml
stderr_has 'cannot be closed'

calder 1 check driven.yaml
stderr_has 'out of reach while 2 of 3 coordinates are frozen or driven'
stdout_has 'mobility 0: 3 degrees of freedom, 2 of them driven, less 1 independent constraint equation of 5'
stderr_has 'warning: group "main": the loops tie driven degrees of freedom to each other \(motor, pivot\): 1 too many are driven'

# too many driven later: the run goes well until then
cp good.yaml later.yaml
printf 'loads: [{joint: motor, lock: true, start: 0.1}, {joint: pivot, acceleration: 9, start: 0.1}]\n' >>later.yaml
calder 0 check later.yaml
calder 4 run -q later.yaml
stderr_has 'error: group "main", t = 0\.1.* s, row pin\.d[xy] is off by .* m: an iteration did not converge; take a smaller step'

calder 0 check "$SOURCE_DIR/examples/pendulum.yaml"
stdout_has 'mobility 1: 1 degree of freedom, no loops'

calder 0 check --json good.yaml
python 'import json; r = json.load(open("out")); g = r["groups"][0]; m = g["mobility"]
assert (r["errors"], r["warnings"]) == (0, 1), r
assert (m["dof"], m["driven"], m["rows"], m["rank"], m["mobility"], m["overdriven"]) == (3, 0, 5, 2, 1, 0), m
assert m["redundant"] == ["pin.dz", "pin.rx", "pin.ry"] and len(m["independent"]) == 1 and m["closed"], m
assert 0.1 < m["initial_residual"] < 2, m'
calder 0 info --json good.yaml
python 'import json; g = json.load(open("out"))["groups"][0]; l = g["loops"]
assert len(l) == 1 and l[0]["name"] == "pin" and l[0]["type"] == "revolute", l
assert l[0]["from"] == "coupler/end" and l[0]["to"] == "rocker/end" and (l[0]["rows"], l[0]["rank"]) == (5, 2), l
assert l[0]["redundant"] == ["pin.dz", "pin.rx", "pin.ry"] and g["mobility"]["mobility"] == 1, g'
calder 1 check --json short.yaml
python 'import json; r = json.load(open("out")); assert r["errors"] == 1 and not r["groups"][0]["mobility"]["closed"], r'

calder 0 run good.yaml -q -o out.csv -s q -s loop:pin -s residual -s residual:pin -s residual:pin.dy -s reaction:pivot -i 0.1
python 'import csv; rows = list(csv.reader(open("out.csv"))); head, data = rows[0], [[float(x) for x in r] for r in rows[1:]]
at = {n.split(" [")[0]: i for i, n in enumerate(head)}
assert {"loop:pin.fx [N]", "loop:pin.mz [N m]", "residual:pin.dx [m]", "residual:pin.rx [1]", "residual:pin.dy [m]"} <= set(head), head
assert data[0][at["q:motor"]] == 2, "the frozen crank was moved"
for r in data:
    assert all(abs(r[i]) < 1e-11 for n, i in at.items() if n.startswith("residual")), r
    # the rocker is held by its pivot and the pin: with gravity they give it its acceleration
    assert abs(r[at["loop:pin.fx"]]) + abs(r[at["loop:pin.fy"]]) > 0.1, r'
calder 3 run good.yaml -s loop:pen
stderr_has 'the model has no loop of that name'
calder 0 run good.yaml
stdout_has 'loops       closed to [0-9.]+e-1[3-9]'
# without projection, loops drift by the error of the steps
sed -e 's/duration: 0.2/duration: 0.2, projection: none/' good.yaml >drift.yaml
calder 0 run drift.yaml
stdout_has 'loops       closed to [0-9.]+e-(0[5-9]|1[0-2])'

# ---- operators: mass matrix of a four-bar in the speed of its crank, from its geometry
cat >bars.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
ground: {nodes: {b: [50 cm, 0, 0]}}
bodies:
  crank: {mass: 1 kg, rod: {from: [0, 0, 0], to: [20 cm, 0, 0]}, nodes: {end: [20 cm, 0, 0]}}
  coupler: {mass: 2.5 kg, rod: {from: [0, 0, 0], to: [50 cm, 0, 0]}, nodes: {end: [50 cm, 0, 0]}}
  rocker: {mass: 2 kg, rod: {from: [0, 0, 0], to: [40 cm, 0, 0]}, nodes: {end: [40 cm, 0, 0]}}
joints:
  crank: {type: revolute, to: crank}
  elbow: {type: revolute, from: crank/end, to: coupler}
  rocker: {type: revolute, from: ground/b, to: rocker}
loops:
  pin: {type: revolute, from: coupler/end, to: rocker/end}
state:
  crank: {q: 90 deg}
  elbow: {q: -70 deg, guess: true}
  rocker: {q: 85 deg, guess: true}
run: {duration: 1 s}
YAML
calder 0 operators --json --independent crank --node coupler/end bars.yaml
python 'import json, math; g = json.load(open("out"))["groups"][0]
px, py = 0.0, 0.2 # tip of the crank; the pin is where circles about it and about b meet
dx, dy = 0.5 - px, -py
d = math.hypot(dx, dy)
a = (0.25 - 0.16 + d * d) / (2 * d)
h = math.sqrt(0.25 - a * a)
cx, cy = px + (a * dx - h * dy) / d, py + (a * dy + h * dx) / d
vx, vy = -py, px # crank at 1 rad/s
ex, ey, rx, ry = cx - px, cy - py, cx - 0.5, cy
# v + w_c x e = w_r x r
det = -ey * rx + ex * ry
wc = (-vx * rx - vy * ry) / det
wr = (vy + wc * ex) / rx if abs(rx) > abs(ry) else -(vx - wc * ey) / ry
T = 0.04 / 3 + 2 * 0.16 / 3 * wr * wr
T += 2.5 * (math.hypot(vx - wc * ey / 2, vy + wc * ex / 2) ** 2 + 0.25 / 12 * wc * wc)
assert abs(g["mass_matrix"][0][0] / T - 1) < 1e-9, (g["mass_matrix"], T)
assert g["independent"] == ["crank"] and [row[0] for row in g["X"]][0] == 1, g["X"]
assert abs(g["X"][1][0] - (wc - 1)) < 1e-9 and abs(g["X"][2][0] - wr) < 1e-9, (g["X"], wc, wr)
node = g["nodes"][0]
assert node["rank"] == 1 and abs(node["compliance"][2][2] - wc * wc / T) < 1e-9, node
assert node["compliance_tree"][2][2] > 2 * node["compliance"][2][2]'
calder 3 operators --independent crank --independent rocker bars.yaml
stderr_has '2 degrees of freedom are named by --independent, which is not its mobility'
calder 2 operators --independent crnk bars.yaml
stderr_has "no degree of freedom 'crnk'"
calder 2 operators --node coupler/tip bars.yaml
stderr_has "no node 'coupler/tip'"
calder 3 operators "$SOURCE_DIR/examples/components/machine.yaml"
stderr_has 'subsystem "left/shoulder" is tied to other groups'


# ---- loops between chains: a ladder of two rails is solved by coupled links, and stays closed
# ladder N: rails of N rods side by side, rungs between them
ladder() {
	printf 'calder: 1\ngravity: [0, -9.81, 0]\nbodies:\n'
	for ((i = 0; i < $1; i++)); do
		for part in a b rung; do
			printf '  %s%d: {mass: 1, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}\n' $part $i
		done
	done
	printf 'joints:\n'
	for ((i = 0; i < $1; i++)); do
		for rail in a b; do
			from="from: $rail$((i - 1))/end, "
			[ $i -gt 0 ] || from="inboard: [$([ $rail = a ] && echo 0 || echo 1), 0, 0], "
			printf '  j%s%d: {type: revolute, %sto: %s%d, axis: z}\n' $rail $i "$from" $rail $i
		done
		printf '  jrung%d: {type: revolute, from: a%d/end, to: rung%d, axis: z}\n' $i $i $i
	done
	printf 'loops:\n'
	for ((i = 0; i < $1; i++)); do
		printf '  l%d: {type: revolute, from: rung%d/end, to: b%d/end}\n' $i $i $i
	done
	printf 'state:\n'
	for ((i = 0; i < $1; i++)); do
		angle=$([ $i -gt 0 ] && echo 0.05 || echo -1)
		printf '  ja%d: {q: %s}\n  jb%d: {q: %s}\n' $i "$angle" $i "$angle"
		awk -v i=$i 'BEGIN { printf "  jrung%d: {q: %.17g}\n", i, 1 - 0.05 * i }'
	done
	printf 'run: {method: rk4, step: 1 ms, duration: 0.1}\n'
}
ladder 30 >ladder.yaml
calder 0 info ladder.yaml
stdout_has 'loops    30 with 150 equations by coupled elimination: at most 8 coupled numbers on a joint, [0-9]+ couplings, about [0-9]+ products'
stdout_lacks 'a tree with loops between neighbors is cheaper'
calder 0 run ladder.yaml
stdout_has 'energy'
ladder 4 >short.yaml
calder 0 info short.yaml
stdout_has 'loops    4 with 20 equations by elimination where they close: at most 20 open equations on a joint'

exit $((failures > 0))
