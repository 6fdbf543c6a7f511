#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder modes` on model files and on the fixtures, and the documented way from a CalculiX deck to a body (docs/fe.md) with ccx itself:
# the frequencies of the reduced cantilever and bracket against those that CalculiX computes. Only the latter part is
# left out where there is no ccx; ./dev test installs it.
set -u
data=$SOURCE_DIR/test/data/fe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

problem() {
	echo "FAILED: $*"
	failed=1
}

# expect CODE NAME COMMAND...: runs it; output in $work/out and $work/err
expect() {
	local code=$1 name=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	local got=$?
	if [ "$got" -ne "$code" ]; then
		problem "$name: exit code $got, expected $code"
		cat "$work/out" "$work/err"
	fi
}

says() { grep -q -e "$2" "$work/$1" || { problem "no \"$2\" in:"; cat "$work/$1"; }; }

expect 0 "help" "$CALDER" modes --help
says out "example: calder modes"
expect 2 "no file" "$CALDER" modes
expect 2 "bad value" "$CALDER" modes --bound fast "$data/rod.inp"
expect 3 "missing file" "$CALDER" modes "$work/none.inp"
says err "none.inp: error:"

# Model files: all flexible bodies, or the one of --body, which --plot and --write need where there are several.
cat >"$work/two.yaml" <<'YAML'
calder: 1
define:
  tube: &tube {shape: tube, diameter: 0.1 m, thickness: 5 mm, youngs_modulus: 70 GPa, density: 2700 kg/m^3}
bodies:
  hub: {mass: 10, inertia: [1, 1, 1]}
  boom: {beam: {length: 4 m, section: *tube, modes: 4, damping_ratio: 0.01, frequency_bound: 5000}}
  whip: {beam: {length: 4 m, section: *tube, modes: 2, second_order: true}}
joints:
  base: {type: weld, to: hub}
  a: {type: revolute, from: hub, to: boom/root, axis: z}
  b: {type: revolute, from: boom/tip, to: whip/root, axis: z}
run: {duration: 0.01, output: {interval: 1 ms, signals: [q, "node:boom/tip"]}}
YAML
"$CALDER" modes "$work/two.yaml" >"$work/out" 2>"$work/err"
if grep -q libyaml "$work/err"; then
	echo "built without libyaml: model files are skipped"
else
	expect 0 "model file" "$CALDER" modes "$work/two.yaml"
	says out 'body "boom": 4 modes'
	says out 'body "whip": 2 modes'
	says out "bound       795.775 Hz"
	grep -q '"hub"' "$work/out" && problem "a rigid body was reported"
	expect 0 "one body" "$CALDER" modes "$work/two.yaml" --body whip
	says out 'body "whip": 2 modes'
	grep -q '"boom"' "$work/out" && problem "--body did not choose"
	sed 's/frequency_bound: 5000/frequency_bound: 200/' "$work/two.yaml" >"$work/slow.yaml"
	expect 0 "bound among the modes" "$CALDER" modes "$work/slow.yaml" --body boom
	says out "bound       31.831 Hz: 4 of 4 free modes get mass"
	says out "with the bound:"
	"$CALDER" modes "$work/slow.yaml" --body boom --json | python3 -c '
import json, sys
modes = json.load(sys.stdin)[0]["modes"]
top = 200 / 6.283185307179586
for m in modes:
    before, after = m["frequency_hz"], m["bounded_frequency_hz"]
    assert before / (1 + (before / top) ** 2) ** 0.5 < after <= before * (1 + 1e-12), m
    assert abs(m["bounded_free_frequency_hz"] - min(top, m["free_frequency_hz"])) < 1e-9, m' || problem "modes with the bound"
	expect 3 "which body" "$CALDER" modes "$work/two.yaml" --plot "$work/two.svg"
	says err 'two.yaml: error: --plot and --write are for one body: choose it by --body NAME; the flexible bodies are "boom", "whip"'
	[ -e "$work/two.svg" ] && problem "a picture of no body"
	expect 3 "which body to write" "$CALDER" modes "$work/two.yaml" --write "$work/two.json"
	expect 3 "no such body" "$CALDER" modes "$work/two.yaml" --body bom
	says err 'no flexible body has the name "bom"; the flexible bodies are "boom", "whip"'
	expect 3 "rigid body" "$CALDER" modes "$work/two.yaml" --body hub --plot "$work/two.svg"
	says err 'no flexible body has the name "hub"'
	expect 2 "bound of a model file" "$CALDER" modes "$work/two.yaml" --bound 100Hz
	says err "frequency_bound"
	expect 0 "picture" "$CALDER" modes "$work/two.yaml" --body boom --plot "$work/boom.svg"
	grep -q "</svg>" "$work/boom.svg" || problem "no picture of the boom"
	grep -q "5.9896 Hz" "$work/boom.svg" || problem "no frequency in the picture of the boom"
	expect 0 "picture of second order" "$CALDER" modes "$work/two.yaml" --body whip --plot "$work/whip.svg"
	grep -q "</svg>" "$work/whip.svg" || problem "no picture of the whip"
	expect 0 "modal file" "$CALDER" modes "$work/two.yaml" --body boom --write "$work/boom.json" --name arm
	says err "warning: the frequency bound of 5000 rad/s is left out"
	"$CALDER" modes "$work/two.yaml" --body boom | sed -n '/mode /,$p' >"$work/before"
	expect 0 "modal file of a beam" "$CALDER" modes "$work/boom.json"
	says out 'body "arm": 4 modes'
	sed -n '/mode /,$p' "$work/out" >"$work/after"
	cmp -s "$work/before" "$work/after" || { problem "the written boom is another one"; diff "$work/before" "$work/after"; }
	expect 0 "SID of a beam" "$CALDER" modes "$work/two.yaml" --body boom --write "$work/boom.SID_FEM"
	expect 0 "SID of a beam read" "$CALDER" modes "$work/boom.SID_FEM"
	says out "4 modes"
	expect 0 "second order to a file" "$CALDER" modes "$work/two.yaml" --body whip --write "$work/whip.json"
	grep -q '"phi2"' "$work/whip.json" || problem "second-order shapes are not in the file"
	expect 0 "first order to a file" "$CALDER" modes "$work/two.yaml" --body whip --write "$work/whip.json" --ignore-geometric
	says err "warning: second-order shapes and geometric stiffness are left out"
	grep -q '"phi2"' "$work/whip.json" && problem "second-order shapes are in the file"
	expect 0 "JSON of a model file" "$CALDER" modes --json "$work/two.yaml"
	if command -v python3 >/dev/null; then
		python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert [b["name"] for b in r] == ["boom", "whip"] and len(r[0]["modes"]) == 4, r' "$work/out" || problem "JSON of a model file"
	fi
	sed '/whip/d' "$work/two.yaml" >"$work/one.yaml"
	expect 0 "the only one" "$CALDER" modes "$work/one.yaml" --plot "$work/one.svg"
	grep -q "</svg>" "$work/one.svg" || problem "no picture of the only flexible body"
	expect 0 "from stdin" "$CALDER" modes - --body boom <"$work/two.yaml"
	says out '<stdin>: body "boom": 4 modes'
	expect 0 "rigid model" "$CALDER" modes "$SOURCE_DIR/examples/pendulum.yaml"
	says out "no flexible bodies"
	expect 3 "picture of a rigid model" "$CALDER" modes "$SOURCE_DIR/examples/pendulum.yaml" --plot "$work/none.svg"
	says err "the model has no flexible body"
	# modal coordinates and nodes are signals like any other
	expect 0 "signals" "$CALDER" run "$work/two.yaml" -q -o - --plot "$work/run.svg"
	says out "boom.eta1"
	says out "boom.eta4"
	says out "node:boom/tip.x"
	grep -q "eta1" "$work/run.svg" || problem "no modal coordinate in the picture of the run"
	expect 2 "body of a modal file" "$CALDER" modes "$work/boom.json" --body boom
	says err "this file holds one body"
fi

expect 0 "rod" "$CALDER" modes "$data/rod.inp" --mass 0.216 --plot "$work/rod.svg" --write "$work/rod.json" --name rod
says out "held at \"root\""
says out "mass check"
says out "rigid check"
says out "dropped"
says out "448.588"
grep -q "</svg>" "$work/rod.svg" || problem "no picture"
expect 0 "modal file" "$CALDER" modes "$work/rod.json"
says out "448.588"
says out 'body "rod": 18 modes'
expect 0 "bound" "$CALDER" modes "$work/rod.json" --bound "5000 Hz"
says out "free mode bounded"
expect 0 "to SID" "$CALDER" modes "$data/rod.inp" --modes 4 --write "$work/rod.SID_FEM"
expect 0 "SID" "$CALDER" modes "$work/rod.SID_FEM"
says out "448.5"
expect 0 "DMIG" "$CALDER" modes "$data/beam.pch" --interface 10 --interface 50
says out "held at \"grid10\""
expect 0 "geometric stiffness" "$CALDER" modes "$data/rod.inp" --geometric --modes 4 --write "$work/stiff.json"
grep -q '"geometric"' "$work/stiff.json" || problem "no geometric stiffness in the modal file"
expect 3 "geometric stiffness of matrices" "$CALDER" modes "$data/beam.pch" --interface 10 --interface 50 --geometric
says err "needs the elements of the model"
expect 0 "free" "$CALDER" modes "$data/rod.inp" --free --modes 4
says out "free body"
expect 3 "mass off by 1000" "$CALDER" modes "$data/rod.inp" --mass 216
says err "216 kg were expected (0.001 times as much)"
expect 0 "millimeters" "$CALDER" modes "$data/rod.inp" --units mm-t
says out "are they SI"
expect 3 "missing interface" "$CALDER" modes "$data/rod.inp" --interface flange
says err "the model offers root, tip"

expect 0 "JSON" "$CALDER" modes --json "$data/rod.inp"
if command -v python3 >/dev/null; then
	python3 - "$work/out" <<'PY' || problem "JSON does not hold what it should"
import json, sys
r = json.load(open(sys.argv[1]))
assert len(r["modes"]) == 18 and r["check"] == "ok" and r["fe"]["equations"] == 60, r
assert abs(r["modes"][0]["frequency_hz"] - 448.5876) < 1e-2
assert abs(sum(m["effective_mass"][1] for m in r["modes"]) / r["mass"] - 1) < 0.1
assert max(r["lost"].values()) < 1e-10, r["lost"]
PY
fi

[ "$failed" -eq 0 ] || exit 1
if ! command -v ccx >/dev/null; then
	echo "no ccx (Debian: calculix-ccx): the decks are skipped"
	exit 77
fi

cp "$SOURCE_DIR"/examples/fe/*.inp "$work"
cd "$work" || exit 1
# compare JOB MODES COUNT: the first COUNT frequencies within 0.1 % of CalculiX's own
compare() {
	local job=$1 modes=$2 count=$3
	for deck in "$job" "${job}_held"; do
		ccx "$deck" >"$deck.log" 2>&1 || { problem "ccx $deck"; tail -n 5 "$deck.log"; return; }
	done
	expect 0 "$job" "$CALDER" modes "$job.inp" --modes "$modes" --json
	awk '/E I G E N V A L U E/ {on = 1} /P A R T/ {on = 0} on && $1 ~ /^[0-9]+$/ && NF == 5 {print $4}' \
		"${job}_held.dat" | head -n "$count" >ccx.txt
	sed -n 's/.*"frequency_hz": \([^,]*\), "free_.*/\1/p' out | head -n "$count" >calder.txt
	paste ccx.txt calder.txt | awk -v job="$job" -v count="$count" '
		{ n++; e = $2 / $1 - 1; e = e < 0 ? -e : e; if (e > worst) worst = e
		  printf "%s mode %d: CalculiX %.6g Hz, Calder %.6g Hz, %.4f %%\n", job, n, $1, $2, 100 * ($2 / $1 - 1) }
		END { if (n != count || !(worst <= 1e-3)) exit 1 }' || problem "$job: more than 0.1 % off"
}
compare cantilever 20 10
compare bracket 24 10
exit "$failed"
