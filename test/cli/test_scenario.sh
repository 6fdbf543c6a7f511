#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Events as a user meets them: the example of docs/scenarios.md, what the summary, the JSON, CSV and HDF5 files state of it,
# signals of objects that move to other groups or are gone, and runs that end by a stop or a refusal.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

awk '/^```yaml$/ {on = 1; next} /^```$/ {on = 0} on' "$SOURCE_DIR/docs/scenarios.md" >visit.yaml
calder 0 check visit.yaml
skip_without_yaml

# ---- the example of the page
calder 0 run visit.yaml -o visit.csv
stdout_has 'event +t = 0\.000000 s, begin: switch off jet$'
stdout_has 'event +t = 13\.97[0-9]+ s, dock: attach latch: station/port to probe/tip; lost 0\.0111[0-9]+ J'
stdout_has 'event +t = 33\.97[0-9]+ s, part: detach latch'
stdout_has 'event +t = 33\.97[0-9]+ s, part: switch on jet'
stdout_has 'stopped +the probe is on its way'
calder 0 run visit.yaml --duration 20 # until the jet fires nothing acts from outside
stdout_has 'all groups +momentum changed by up to [0-9.]+e-1[4-9] kg m/s and [0-9.]+e-1[4-9] kg m\^2/s'
python '
import csv
rows = list(csv.DictReader(open("visit.csv")))
last, docked = rows[-1], [r for r in rows if 20 < float(r["t [s]"]) < 30]
assert [last[f"event:{e} [1]"] for e in ("begin", "dock", "part", "away")] == ["1"] * 4, last
assert float(last["t [s]"]) < 100 and docked
for r in docked:
    assert abs(float(r["total_momentum:px [kg m/s]"]) + 0.5) < 1e-13, r'
calder 0 run visit.yaml --json
python '
import json
s = json.load(open("out"))
assert s["stopped"] == "the probe is on its way" and s["events_dropped"] == 0
assert [e["event"] for e in s["events"]] == ["begin", "dock", "part", "part", "away"], s["events"]
assert s["events"][1]["kinetic_lost"] > 0.01 and s["events"][1]["refused"] == ""
assert [g["name"] for g in s["groups"]] == ["main", "visitor"]'
calder 0 convert visit.yaml -o again.yaml
calder 0 run again.yaml
stdout_has 'stopped +the probe is on its way'

# ---- HDF5
calder 0 run visit.yaml -o visit.csv
"$CALDER" run visit.yaml -o visit.h5 >out 2>err
if grep -q 'writes no HDF5' err; then
	echo "built without HDF5: its part is left out"
else
	calder 0 plot visit.h5 --stream events/log kinetic_lost -o events.svg
	calder 3 plot visit.h5 --stream log
	stderr_has 'there is no stream "log"; the file has main, replay, events/log'
	if command -v h5dump >/dev/null; then
		h5dump -d /events/log visit.h5 >out
		stdout_has '\( 5, 6 \)'
		h5dump -d /events/actions visit.h5 >out
		stdout_has 'attach latch: station/port to probe/tip'
		h5dump -d /events/names visit.h5 >out
		stdout_has '"begin", "dock", "part", "part", "away"'
	fi
fi

# ---- columns stay what they are: a chain that is turned over and cut, with a joint that becomes a loop
cat >chain.yaml <<'YAML'
calder: 1
bodies:
  a: {mass: 1 kg, inertia: [1, 1, 1], nodes: {tip: [1 m, 0, 0]}}
  b: {mass: 1 kg, inertia: [1, 1, 1], nodes: {tip: [1 m, 0, 0]}}
  c: {mass: 1 kg, inertia: [1, 1, 1]}
joints:
  fly: {type: free, to: a}
  bend: {type: universal, from: a/tip, to: b}
  turn: {type: revolute, from: b/tip, to: c}
state: {bend: {q: [0.1 rad, 0.2 rad]}, turn: {u: 1 rad/s}}
devices: {push: {type: applied_load, joint: turn, effort: 0.1 N*m}}
loads: [{node: c, force: [1 N, 0, 0]}]
events:
  over: {at: 1 s, do: {reroot: c}}
  cut: {at: 2 s, do: [{detach: turn, group: rest}, {remove_body: c}]}
run:
  duration: 3 s
  output: {interval: 1 ms, signals: [q, u, udot, force, "reaction:bend", "reaction:turn", "pose:c", energy, device, balance]}
YAML
calder 0 run chain.yaml -o chain.csv
python '
import csv, math
rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(open("chain.csv"))]
at = lambda t: min(rows, key=lambda r: abs(r["t [s]"] - t))
before, after = at(0.999), at(1.001)
for name in ("q:bend.angle1 [rad]", "q:bend.angle2 [rad]", "q:turn [rad]", "u:bend.rate1 [rad/s]", "udot:bend.rate2 [rad/s^2]", "force:turn [N m]",
             "reaction:bend.mx [N m]", "reaction:bend.fy [N]", "reaction:turn.mz [N m]", "reaction:turn.fx [N]", "pose:c.x [m]",
             "energy:kinetic [J]", "device:push.effort [N m]"):
    a, b = before[name], after[name]
    assert abs(a - b) < 0.02 * max(1, abs(a)), (name, a, b)
assert before["q:bend.angle1 [rad]"] != before["q:bend.angle2 [rad]"]
gone = at(2.5)
for name in ("q:turn [rad]", "udot:turn [rad/s^2]", "reaction:turn.fx [N]", "pose:c.x [m]"):
    assert math.isnan(gone[name]), name
assert gone["device:push.effort [N m]"] == 0
assert not math.isnan(gone["q:bend.angle1 [rad]"])'
calder 0 run chain.yaml -s device:push.effort -s event:cut -s balance:error -s total_momentum:px -o single.csv
head -n 1 single.csv >out
stdout_has '^t \[s\],device:push.effort \[N m\],event:cut \[1\],balance:error \[J\],total_momentum:px \[kg m/s\]$'
calder 3 run chain.yaml -s device:psh
stderr_has 'the model has no device of that name; did you mean "device:push"'
calder 3 run chain.yaml -s event:cat
stderr_has 'the model has no event of that name; did you mean "event:cut"'

# ---- refusals
sed 's/detach: turn, group: rest/detach: turn, group: main/' chain.yaml >refused.yaml
calder 3 run refused.yaml -o refused.csv
stderr_has 'refused.yaml:15:3: error: event "cut", t = 2 s: detach turn \(line 15\): group "main" has bodies already'
[ "$(wc -l <refused.csv)" -eq 2001 ] || fail "what was sampled until then is kept: $(wc -l <refused.csv)"
sed 's/{detach: turn, group: rest}/{detach: turn, group: main, if_refused: ignore}/; s/, {remove_body: c}//' chain.yaml >on.yaml
calder 0 run on.yaml
stdout_has 'cut: detach turn; REFUSED: group "main" has bodies already'
sed 's/reroot: c/reroot: d/' chain.yaml >wrong.yaml
calder 3 check wrong.yaml
stderr_has 'wrong.yaml:14:32: error: event "over": unknown body "d"'
sed 's/over: {at: 1 s/over: {when: q(trn) > 1 rad/' chain.yaml >wrong.yaml
calder 1 check wrong.yaml
stderr_has 'wrong.yaml:14:16: error: event "over": .*"trn"'

# ---- the summary distinguishes what acts between groups from what acts from outside
cat >pair.yaml <<'YAML'
calder: 1
groups: {other: {}}
bodies:
  a: {mass: 2 kg, inertia: [1, 1, 1]}
  b: {group: other, mass: 3 kg, inertia: [1, 1, 1], nodes: {side: [0, 10 cm, 0]}}
joints: {fa: {type: free, to: a}, fb: {type: free, to: b}}
state: {fa: {velocity: [1 m/s, 0, 0]}, fb: {at: [1 m, 0, 0]}}
devices:
  tie: {type: spring, from: a, to: b/side, stiffness: 5 N/m, length: 50 cm}
run: {duration: 2 s}
YAML
calder 0 run pair.yaml
stdout_has 'changed by up to [0-9.]+ kg m/s and [0-9.]+ kg m\^2/s \(devices act on it; see "all groups" below\)'
stdout_has 'all groups +momentum changed by up to [0-9.]+e-1[4-9] kg m/s and [0-9.]+e-1[1-9] kg m\^2/s about the origin, with devices'
stdout_lacks 'external forces act'
sed 's/^run:/loads: [{node: a, force: [1 N, 0, 0]}]\nrun:/' pair.yaml >pushed.yaml
calder 0 run pushed.yaml
stdout_has 'external forces act'
stdout_lacks 'all groups'
sed 's/^calder: 1/calder: 1\ngravity: [0, 0, -1]/' pair.yaml >fallen.yaml
calder 0 run fallen.yaml
stdout_has 'external forces act'
stdout_lacks 'all groups'
sed 's/^run:/  jet: {type: thruster, node: a, direction: x, thrust: 1 N}\nrun:/' pair.yaml >jet.yaml
calder 0 run jet.yaml
stdout_has 'all groups +momentum changed by up to 2\.00e\+00 kg m/s'

# ---- names of any length
long=$(printf 'n%.0s' $(seq 1 300))
sed "s/: a,/: A${long},/; s/ a: / A${long}: /; s/to: a}/to: A${long}}/; s/fa:/J${long}:/g; s/tie:/D${long}:/; s/other/G${long}/g" pair.yaml >long.yaml
calder 0 run long.yaml -o long.csv -s q -s "q:J${long}.z" -s "device:D${long}" -s "device:D${long}.pull" -s pose -s energy -s "pose:A${long}.x"
python "
import csv
n = 'n' * 300
names = next(csv.reader(open('long.csv')))
for name in (f'q:J{n}.x [m]', f'q:J{n}.qz [1]', f'device:D{n}.pull [N]', f'pose:A{n}.qz [1]', f'energy:G{n}.total [J]', 'pose:b/side.x [m]'):
    assert names.count(name) == 1, name
"
calder 0 run long.yaml -o one.csv -s "q:J${long}.z" -s "pose:A${long}.x"
head -n 1 one.csv >out
stdout_has "^t \\[s\\],q:J${long}\\.z \\[m\\],pose:A${long}\\.x \\[m\\]\$"
calder 3 run long.yaml -s "q:J${long}x"
stderr_has 'the model has no joint of that name; did you mean "q:Jnnn'

exit $((failures > 0))
