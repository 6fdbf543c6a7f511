#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder trim`: equilibria of a pendulum and of a linkage with their stability; a run that starts from one stays there; poles of
# `calder linearize` agree; what does not fit is refused.
set -u
# shellcheck source=test/cli/expect.sh
source "$SOURCE_DIR/test/cli/expect.sh"

calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --starts 10 -o hanging.yaml
skip_without_yaml
stdout_has '2 equilibria from 10 starts, 0 without'
stdout_has '^     . +stable'
stdout_has '^     . +unstable .* 3\.836 1/s' # sqrt(3 g / 2 l)
calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --starts 10 -o upright.yaml --solution 2
calder 0 linearize upright.yaml
stdout_has '3\.83601 .*UNSTABLE'

# Springs, weights and a loop: the linkage stays where it was put.
cat >bars.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
ground: {nodes: {a: [0, 0, 0], b: [0.5, 0, 0]}}
bodies:
  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}
  coupler: {mass: 2.5, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}
  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}
joints:
  crank: {type: revolute, from: ground/a, to: crank, dof: {stiffness: 60, rest: 2.2, damping: 1}}
  pin: {type: revolute, from: crank/end, to: coupler}
  rocker: {type: revolute, from: ground/b, to: rocker}
loops: {wrist: {type: revolute, from: coupler/end, to: rocker/end}}
devices:
  line: {type: spring, from: ground, to: coupler/end, length: 0.3 m, stiffness: 150 N/m, damping: 1 N*s/m}
state: {crank: {q: 90 deg}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}
run: {duration: 2 s, output: {interval: 100 ms, signals: [q]}}
YAML
calder 0 trim bars.yaml -o rest.yaml
stdout_has '1 equilibrium from 1 start'
stdout_has 'stable '
calder 0 run rest.yaml -q -o rest.csv
python 'import csv; rows = [[float(x) for x in r[1:]] for r in list(csv.reader(open("rest.csv")))[1:] if r[0][0] != "#" and r[0][0].isdigit()]
assert len(rows) == 21, len(rows)
moved = max(abs(a - b) for row in rows for a, b in zip(row, rows[0])); print("moved by", moved); assert moved < 1e-9'
calder 0 trim bars.yaml --starts 30 --json
python 'import json; s = json.load(open("out")); assert len(s) >= 2 and {x["stability"] for x in s} >= {"stable"}, s
assert sum(x["found"] for x in s) <= 30 and all(x["residual"] < 1e-6 for x in s)'
cp out once
calder 0 trim bars.yaml --starts 30 --json
cmp -s out once || fail "another result with the same seed"

# A load that comes later moves the equilibrium: 60 (q - 2.2) = 20 without gravity and weights.
sed 's/^gravity.*/gravity: [0, 0, 0]/; /line:/d; /^devices/d; s/^run:/loads: [{joint: crank, effort: 20, start: 1 s}]\nrun:/' bars.yaml >later.yaml
calder 0 trim later.yaml
stdout_has 'q:crank = 2.2$'
calder 0 trim later.yaml --at 1.5
stdout_has 'q:crank = 2.53333333$'

# A load that nothing holds.
sed 's/^run:/loads: [{joint: crank, effort: 1e4}]\nrun:/; s/stiffness: 60, rest: 2.2, //' bars.yaml >pushed.yaml
calder 4 trim pushed.yaml
stderr_has 'no equilibrium found'
stderr_has 'still changes by'

calder 2 trim bars.yaml --starts none
calder 2 trim bars.yaml --solution 2
calder 2 trim bars.yaml -o bars.yaml
calder 2 trim bars.yaml --solution 9 -o far.yaml
calder 2 trim
# A platform on six legs: the derivative of its energy by the height is zero, with tubes and rods of the legs.
calder 0 trim "$SOURCE_DIR/examples/stewart.yaml" --json
python 'import json, math
q = json.load(open("out"))[0]; assert q["stability"] == "stable"
z, g, k = q["q"]["platform.z"], 9.81, 20e3
way = (0.984807753012208 - 0.385672565811924) ** 2 + (0.173648177666930 - 0.459626665871387) ** 2
L = math.hypot(z, math.sqrt(way)); assert abs(L - q["q"]["leg1"]) < 1e-9, L
dL = z / L
tube = 0.4 * (L - z * dL) / L ** 2                 # height 0.4 z / L
rod = ((L - 0.4) * z / L, 1 - 0.4 * (L - z * dL) / L ** 2)[1] # height (L - 0.4) z / L
left = 6 * k * (L - 1.25) * dL + g * (200 + 6 * (6 * tube + 3 * rod))
print("force that is left", left); assert abs(left) < 1e-4 * 200 * g, left'

# Along a torque: the path turns back at the largest that the weight can hold.
calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge --from 0 --to 20 -o path.csv
stdout_has 'limit point before'
python 'import csv, math; rows = list(csv.DictReader(open("path.csv"))); assert len(rows) > 20
assert all(abs(9.81 * math.sin(float(r["q:hinge"])) - float(r["force:hinge"])) < 1e-7 for r in rows)
assert {r["stability"] for r in rows} == {"stable", "unstable"} and max(float(r["force:hinge"]) for r in rows) > 9.7'
calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge --from 0 --to 5 --json
python 'import json; p = json.load(open("out")); assert p[-1]["value"] == 5 and not any(x["turns"] for x in p), p[-1]'
calder 3 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hing --from 0 --to 5
# a path that does not get there says so: it comes back, or has too many points
calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge --from 0 --to 20
stderr_has 'force:hinge does not get to 20: the path comes back to -0.68.*, after a limit point near 9.*; --back'
calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge --from 0 --to 3 --step 1e-12
stderr_has 'does not get to 3: the path ends after 1000 points at 2.8.*e-09; give a longer --step'
calder 0 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge --from 0 --to 5
if grep -q 'does not get to' err; then fail "a path that gets to its end says that it does not"; fi
calder 2 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge --from 0 --to 5 -o model.yaml
stderr_has 'along writes points'
calder 2 trim "$SOURCE_DIR/examples/pendulum.yaml" --along force:hinge
calder 2 trim "$SOURCE_DIR/examples/pendulum.yaml" --from 1

exit $((failures > 0))
