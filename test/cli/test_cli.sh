#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The command line as a user meets it: exit codes, where messages go and what they look like, files written.
# Each expectation is one line; what fails is printed with the command, and the script continues.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >model.yaml <<'YAML'
calder: 1
title: A test
gravity: [0, 0, -9.81]
bodies:
  rod:
    mass: 2 kg
    rod: {from: [0, 0, 0], to: [0, 0, -1]}
    nodes: {tip: [0, 0, -1]}
  cart:
    mass: 1
    box: [1, 1, 1]
joints:
  hinge: {type: revolute, to: rod, axis: y}
  rail: {type: prismatic, from: rod, to: cart, axis: x}
state:
  hinge: {q: 60 deg}
run:
  duration: 1 s
  output: {interval: 100 ms}
YAML

# ---- help and usage
calder 0 --help
stdout_has 'info .*'
stderr_empty
calder 0 --version
stdout_has '^calder [0-9]+\.[0-9]+\.[0-9]+$'
calder 2
stdout_empty
calder 2 fly
stderr_has "no command 'fly'"
for command in info check run golden bench; do
	calder 0 $command --help
	stdout_has '^example: calder '$command
	stderr_empty
done
for command in info check run golden; do
	calder 2 $command
	stdout_empty
	calder 2 $command --nonsense model.yaml
	stderr_has "Try 'calder $command --help'"
done
calder 2 run model.yaml q
stderr_has 'add --plot'
calder 2 run model.yaml --duration soon
stderr_has '[-]-duration: not a number with a unit: "soon"'
calder 2 run model.yaml --method guess
stderr_has "no method 'guess'"
for method in $("$CALDER" methods --json | sed -n 's/^  {"name": "\([^"]*\)".*/\1/p'); do
	calder 0 run --help
	stdout_has "^  -m, --method NAME .*\b$method\b"
done
calder 0 methods
stdout_has '^dopri5 +order 5 +adaptive'
"$CALDER" methods --markdown >methods.md
sed -n '/^<!-- methods -->$/,/^<!-- end of methods -->$/p' "$(dirname "$0")/../../docs/methods.md" | sed '1d;$d' >table.md
cmp -s methods.md table.md || fail "docs/methods.md has another table than calder methods --markdown prints"
calder 2 methods all
stderr_has "takes no argument"
calder 2 run model.yaml --json -o -
stderr_has 'only one of'

# ---- input that is wrong
calder 3 info missing.yaml
stderr_has '^missing.yaml: error: '
stdout_empty
sed 's/mass: 2 kg/mas: 2 kg/' model.yaml >typo.yaml
for command in info check run; do
	calder 3 $command typo.yaml
	stderr_has '^typo\.yaml:6:[0-9]+: error: .*mas.*mass'
	[ "$(wc -l <err)" -eq 1 ] || fail "more than one line of message"
done
sed 's/rod: {from: .*/inertia: [1, 1, 5]/' model.yaml >triangle.yaml
calder 1 check triangle.yaml
stderr_has '^triangle\.yaml:[0-9]+:[0-9]+: error: .*rod.*triangle'
stdout_has '1 error,'
calder 3 run triangle.yaml
calder 1 check --json triangle.yaml
python 'import json; d = json.load(open("out")); assert d["errors"] == 1 and "triangle" in d["findings"][0]["text"]'
sed '/^run:/,$d' model.yaml >no_run.yaml
calder 3 run no_run.yaml
stderr_has 'no_run.yaml: error: .*duration'
calder 3 run model.yaml -s node:rod/nose
stderr_has 'signal "node:rod/nose": the model has no node'
calder 3 run model.yaml -s speed
stderr_has 'signal "speed" is not known'
calder 3 run model.yaml -o /nonexistent/folder/x.csv
stderr_has 'cannot be written'

# ---- check and info
calder 0 check model.yaml
stdout_has '0 errors, 0 warnings'
stderr_empty
calder 0 check --json model.yaml
python 'import json; d = json.load(open("out")); assert d["errors"] == 0 and d["findings"] == []'
calder 0 info model.yaml
stdout_has 'A test'
stdout_has '2 bodies, 2 degrees of freedom'
stdout_has 'rail +prismatic +1 +1$'
stdout_has 'mass +3 kg'
calder 0 info --json model.yaml
python '
import json
d = json.load(open("out"))
g = d["groups"][0]
assert d["title"] == "A test" and g["bodies"] == 2 and g["dof"] == 2 and g["mass"] == 3
assert [b["joint"] for b in g["body_list"]] == ["hinge", "rail"] and g["gravity"] == [0, 0, -9.81]'
cat >boom.yaml <<'YAML'
calder: 1
bodies:
  boom: {beam: {length: 4 m, section: {EIy: 90, EIz: 100, rhoA: 1}, modes: 4, damping_ratio: 0.01, frequency_bound: 300}}
  whip:
    mass: 3
    inertia: [1, 1, 1]
    nodes: {p: [1, 0, 0], q: [2, 0, 0]}
    flexible: {stiffness: [[0, 0], [0, 9]], unsprung: true,
      nodes: {p: {mass: 1, phi: [[0, 0], [1, 0], [0, 0]]}, q: {mass: 1, phi: [[0, 0], [0, 0], [0, 1]]}}}
joints: {a: {type: revolute, to: boom/root}, b: {type: weld, from: boom/tip, to: whip}}
run: {duration: 1 s, method: implicit, step: 10 ms}
YAML
calder 0 info boom.yaml
stdout_has 'boom +\(ground\) +a +revolute +1\+4  4$'
stdout_has 'modes  boom: 4, held [0-9.]+ to [0-9.]+ Hz, free [0-9.]+ to [0-9.]+ Hz, damping ratio 0.01 to 0.01'
stdout_has 'frequency bound 47.7465 Hz'
stdout_has 'inertia by invariants of [0-9]+ masses; modes eliminated '
stdout_has 'node   boom/tip at \(4, 0, 0\) m'
grep -q 'boom/mass' out && fail "mass points are listed"
calder 0 info --json boom.yaml
python 'import json; b = json.load(open("out"))["groups"][0]["body_list"]
assert len(b[0]["frequencies_hz"]) == 4 and b[0]["invariant_masses"] > 4 and b[0]["damping_ratios"][3] > 0.0099, b
assert b[1]["frequencies_hz"][0] == 0 and "frequency_bound_hz" not in b[1], b'
calder 0 modes boom.yaml
stdout_has 'shapes      coupled by .* \(mass-orthogonal\)'
calder 0 run boom.yaml --interval 0
stdout_has 'steps       100 by implicit'
sed 's/unsprung: true/unsprung: false/' boom.yaml >slack.yaml
for command in info modes run; do
	calder 3 $command slack.yaml
	stderr_has '^slack.yaml:4:3: error: body "whip": the stiffness is singular: mode 1 has none \(0\)'
done
calder 1 check slack.yaml
stderr_has '^slack.yaml:4:3: error: .*singular.*unsprung'
"$CALDER" info - <model.yaml >out 2>err || fail "info - reads stdin"
stdout_has 'A test'
"$CALDER" check - <typo.yaml >out 2>err
stderr_has '^<stdin>:6:[0-9]+: error: '

# ---- run: summary
calder 0 run model.yaml
stdout_has '^model.yaml: A test'
stdout_has 'drift [0-9.e+-]+ J'
stdout_has 'external forces act'
stdout_has 'steps +[0-9]+ by dopri5'
stdout_has '1 s simulated, 11 samples'
stderr_empty
calder 0 run --quiet model.yaml
stdout_empty
calder 0 run --json model.yaml
python '
import json
d = json.load(open("out"))
g = d["groups"][0]
assert d["samples"] == 11 and d["time"] == 1 and d["steps"] > 0 and d["real_time_factor"] > 0
assert g["energy_conserved"] and not g["momentum_conserved"]
assert abs(g["energy_change"]) < 1e-6 * g["largest_kinetic_energy"]'

# ---- run: CSV
calder 0 run model.yaml -o run.csv -s q -s udot -s energy -s momentum -s node:rod/tip -s reaction:hinge -s u:rail
stdout_has 'wrote +run.csv'
cp run.csv out
stdout_has '^t \[s\],q:hinge \[rad\],q:rail \[m\],udot:hinge \[rad/s\^2\],udot:rail \[m/s\^2\],energy:kinetic \[J\]'
stdout_has 'reaction:hinge.fz \[N\],u:rail \[m/s\]$'
python '
import csv, math
rows = list(csv.reader(open("run.csv")))
head, data = rows[0], [[float(x) for x in row] for row in rows[1:]]
at = {name.split(" [")[0]: i for i, name in enumerate(head)}
assert len(data) == 11 and all(len(row) == len(head) for row in data)
assert [row[0] for row in data][-1] == 1 and data[0][at["q:hinge"]] == math.pi / 3
total = [row[at["energy:total"]] for row in data]
assert max(total) - min(total) < 1e-6
for row in data:
    q = row[at["q:hinge"]]
    assert abs(row[at["node:rod/tip.z"]] + math.cos(q)) < 1e-12 and abs(row[at["node:rod/tip.x"]] + math.sin(q)) < 1e-12
    quaternion = [row[at["node:rod/tip.q" + c]] for c in "wxyz"]
    assert abs(quaternion[0] - math.cos(q / 2)) < 1e-12 and abs(quaternion[2] - math.sin(q / 2)) < 1e-12
    # The weight and the change of momentum of both bodies pass through the hinge.
    assert math.isfinite(row[at["reaction:hinge.fz"]])'
calder 0 run model.yaml -o - -s q
stdout_has '^t \[s\],q:hinge'
[ "$(wc -l <out)" -eq 12 ] || fail "12 lines of CSV on stdout"
stderr_has 'A test'
calder 0 run model.yaml -o - -q --interval 0 --method rk4 --step 0.01 --duration 0.5 -s q
[ "$(wc -l <out)" -eq 52 ] || fail "a sample for each of 50 steps, the start and the header"
stderr_empty
"$CALDER" run model.yaml -q -o a.csv && "$CALDER" run - -q -o b.csv <model.yaml && cmp a.csv b.csv || fail "two runs, two results"

# ---- run: plot
calder 0 run model.yaml --plot run.svg q energy
stdout_has 'wrote +run.svg'
python '
import xml.etree.ElementTree as tree
root = tree.parse("run.svg").getroot()
space = "{http://www.w3.org/2000/svg}"
texts = [t.text for t in root.iter(space + "text")]
assert "A test" in texts and "q [rad]" in texts and "q [m]" in texts and "energy [J]" in texts and "t [s]" in texts
lines = [p for p in root.iter(space + "path") if p.get("class") == "line" and "L" in p.get("d")]
assert len(lines) == 6, len(lines)'
calder 0 run model.yaml -q --plot run.svg energy q:rail q:hinge
python '
import re
titles = re.findall(r"class=.panel.>([^<]*)<", open("run.svg").read())
assert titles == ["energy [J]", "q [m]", "q [rad]"], titles'
calder 0 run "$SOURCE_DIR/examples/double_pendulum.yaml" -q --plot run.svg q
python '
import re
titles = re.findall(r"class=.panel.>([^<]*)<", open("run.svg").read())
assert titles == ["q [rad]"], titles'
calder 0 run model.yaml --plot - -q
stdout_has '^<svg'

# ---- numerics
cat >blow_up.yaml <<'YAML'
calder: 1
bodies:
  ball: {mass: 1, sphere: {radius: 0.1}}
joints:
  slide: {type: prismatic, to: ball, axis: x, dof: {stiffness: 1e12}}
state:
  slide: {q: 1}
run: {duration: 100, method: rk4, step: 0.1}
YAML
calder 4 run blow_up.yaml
stderr_has '^blow_up.yaml: error: .*t = .* finite'

# ---- golden
mkdir empty
calder 3 golden empty
stderr_has 'no case files'
calder 0 golden "$SOURCE_DIR/test/data/golden/s01_revolute.json"
stdout_has '^s01_revolute +ok +[0-9.e+-]+ '
stdout_has '^1 passed, 0 failed, 0 skipped$'
sed 's/"mass": *[0-9.]*/"mass": 77.5/' "$SOURCE_DIR/test/data/golden/s01_revolute.json" >wrong.json
calder 1 golden wrong.json "$SOURCE_DIR/test/data/golden/s01_revolute.json"
stdout_has 'FAIL'
stdout_has '^1 passed, 1 failed, 0 skipped$'
calder 1 golden not_there.json
stdout_has 'FAIL'

# ---- the example of the README
"$BUILD_DIR/examples/pendulum" >out 2>err || fail "examples/c/pendulum.c"
stdout_has '^t = 1.0 s   angle = -0\.[0-9]+ rad$'

# ---- paced to the wall clock ------------------------------------------------------------------------

# 0.4 s of simulation at twice real time take 0.2 s and no less; every step is in the histogram.
begin=$(date +%s%N)
calder 0 run model.yaml -m rk4 --step 0.01 -d 0.4 --real-time=2 --json
took=$((($(date +%s%N) - begin) / 1000000))
[ "$took" -ge 199 ] || fail "0.4 s at twice real time took $took ms"
cp out paced.json
python 'import json; p = json.load(open("paced.json"))["paced"]; assert p["rate"] == 2 and p["steps"] == 40, p; assert sum(p["below_us"].values()) == 40 and 0 <= p["missed"] <= 40, p'
calder 0 run model.yaml -m rk4 --step 0.01 -d 0.05 --real-time
stdout_has 'paced +5 steps at 1 x real time'
# Ahead of the clock: it starts so much later, and ends with it.
begin=$(date +%s%N)
calder 0 run model.yaml -m rk4 --step 0.01 -d 0.2 --real-time --ahead 0.1 --json
took=$((($(date +%s%N) - begin) / 1000000))
[ "$took" -ge 299 ] || fail "0.2 s that start 0.1 s ahead took $took ms"
python 'import json; p = json.load(open("out"))["paced"]; assert p["ahead_s"] == 0.1 and p["steps"] == 20, p'
calder 0 run model.yaml -m rk4 --step 0.01 -d 0.05 --real-time --ahead 0.01
stdout_has 'priority .*, up to 10 ms ahead$'
# What is ready is not late, whatever happens to the run then: it stands still while its last steps are due.
last=(run model.yaml -m rk4 --step 0.01 -d 0.6 --real-time --ahead 3 --json)
"$CALDER" "${last[@]}" >out 2>err </dev/null &
run=$!
sleep 3.3
kill -STOP $run
sleep 0.25
kill -CONT $run
wait $run || fail "exit code $?"
python 'import json; p = json.load(open("out"))["paced"]; assert p["steps"] == 60 and p["missed"] == 0, p'
calder 2 run model.yaml --ahead 0.1
stderr_has 'needs --real-time'
calder 2 run model.yaml --real-time=0
stderr_has 'rate above zero'

echo "$failures failures"
[ "$failures" -eq 0 ]
