#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Functional mock-up units, imported by a program that knows nothing of Calder (importer.c), do what `calder run` does: alone, with a
# controller in the importer, through the events of a scenario; and what cannot be a unit is refused by name.
set -euo pipefail

fail() { echo "$1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
importer=$BUILD_DIR/test/fmu_importer
if [ ! -x "$importer" ]; then # built without units: the command has to say so
	! "$CALDER" fmu "$SOURCE_DIR/examples/pendulum.yaml" -o p.fmu 2>said || fail "a unit without its shared object"
	grep -q "built without units" said || fail "$(cat said)"
	exit 0
fi

# unpack NAME: the folder NAME of NAME.fmu, and where its shared object is.
unpack() {
	python3 -m zipfile -e "$1.fmu" "$1"
	PLATFORM=$(basename "$(dirname "$1"/binaries/*/*.so)")
	export PLATFORM
}

import() { "$importer" "$work/$1" "${@:2}" >"$1.csv" || fail "$1: the importer failed"; }

# agree A.csv B.csv TOLERANCE: all columns of A, relative to their size in B.
agree() {
	python3 - "$@" <<'PY'
import csv, sys
a, b = (list(csv.reader(open(name))) for name in sys.argv[1:3])
names = [column.split(" [")[0] for column in b[0]]
assert len(a) == len(b) > 10, f"{len(a)} and {len(b)} rows"
for i, name in enumerate(a[0]):
    k = names.index(name)
    size = max(1e-6, max(abs(float(row[k])) for row in b[1:]))
    off = max(abs(float(x[i]) - float(y[k])) for x, y in zip(a[1:], b[1:])) / size
    assert off <= float(sys.argv[3]), f"{sys.argv[1]}: {name} is off by {off:g}"
PY
}

# The description: every variable once, structure and variables agree, all that FMI wants of a unit.
describe() {
	python3 - "$1/modelDescription.xml" "$2" <<'PY'
import sys, xml.etree.ElementTree as tree
root, version = tree.parse(sys.argv[1]).getroot(), int(sys.argv[2])
assert root.tag == "fmiModelDescription" and root.get("fmiVersion") == f"{version}.0"
assert len(root.get("instantiationToken" if version == 3 else "guid")) == 38
assert root.find("CoSimulation").get("modelIdentifier").isidentifier()
variables = list(root.find("ModelVariables"))
assert [v.get("valueReference") for v in variables] == [str(i) for i in range(len(variables))]
assert len({v.get("name") for v in variables}) == len(variables)
units = {u.get("name") for u in root.find("UnitDefinitions")}
for v in variables:
    value = v if version == 3 else v.find("Real")
    assert value.get("unit") in units and (value.get("start") is not None) == (v.get("causality") in ("input", "parameter"))
outputs = [i for i, v in enumerate(variables) if v.get("causality") == "output"]
if version == 3:
    listed = [int(x.get("valueReference")) for x in root.find("ModelStructure").findall("Output")]
else:
    listed = [int(x.get("index")) - 1 for x in root.find("ModelStructure/Outputs")]
assert outputs and listed == outputs
PY
}

# ---- alone -----------------------------------------------------------------------------------------------

"$CALDER" run "$SOURCE_DIR/examples/double_pendulum.yaml" --duration 2 -q -o run.csv
for version in 2 3; do
	"$CALDER" fmu "$SOURCE_DIR/examples/double_pendulum.yaml" --fmi $version -o unit$version.fmu >/dev/null
	unpack unit$version
	describe unit$version $version
	import unit$version --end 2 --step 0.01 --check
	agree unit$version.csv run.csv 0
done
"$CALDER" fmu "$SOURCE_DIR/examples/double_pendulum.yaml" -o again.fmu >/dev/null
"$CALDER" fmu - -o stdin.fmu <"$SOURCE_DIR/examples/double_pendulum.yaml" >/dev/null
cmp unit3.fmu again.fmu || fail "the same model gives two units"

# ---- a controller ----------------------------------------------------------------------------------------

# The same controller in the model, and at 100 Hz in the importer.
cat >arm.yaml <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}
  lower: {mass: 1 kg, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {tip: [0.4, 0, 0]}}
joints:
  shoulder: {type: revolute, to: upper, axis: y}
  elbow: {type: revolute, from: upper/end, to: lower, axis: y}
run: {duration: 2 s, rtol: 1e-12, output: {interval: 10 ms, signals: [q, u]}}
YAML
cat arm.yaml - >controlled.yaml <<'YAML'
devices:
  pd: {type: pid, joint: shoulder, measured: q(shoulder), set_point: 0.7, proportional: 60, derivative: 8, measured_rate: u(shoulder), sample_period: 10 ms}
YAML
"$CALDER" run controlled.yaml -q -o controlled.csv
for version in 2 3; do
	"$CALDER" fmu arm.yaml --fmi $version --input force:shoulder -o arm.fmu >/dev/null
	rm -rf arm
	unpack arm
	import arm --end 2 --step 0.01 --pd shoulder 60 8 0.7 --check
	agree arm.csv controlled.csv 1e-9
done

# A wrench, set before the start, is the same as a load of the file.
cat arm.yaml - >pushed.yaml <<'YAML'
loads:
  - {node: lower/tip, force: [0, 0, 5]}
YAML
"$CALDER" run pushed.yaml -q -o pushed.csv
"$CALDER" fmu arm.yaml --input wrench:lower/tip -o tip.fmu | grep -q "6 inputs, 0 parameters, 4 outputs" || fail "a wrench has six inputs"
unpack tip
import tip --end 2 --step 0.01 --set wrench:lower/tip.fz 5
agree tip.csv pushed.csv 1e-9

# ---- parameters ------------------------------------------------------------------------------------------

# Set before the start, they are as in a model with these numbers; set in a run, as by the action `set` of an event.
sed 's/mass: 1 kg/mass: 3 kg/; s/elbow: {type: revolute,/& dof: {damping: 0.5},/' arm.yaml >heavy.yaml
"$CALDER" run heavy.yaml -q -o heavy.csv
cat arm.yaml - >changed.yaml <<'YAML'
events:
  - {name: heavier, at: 1 s, do: {set: body:lower.mass, value: 3}}
YAML
"$CALDER" run changed.yaml -q -o changed.csv
for version in 2 3; do
	"$CALDER" fmu arm.yaml --fmi $version --parameter body:lower.mass --parameter joint:elbow.damping -o tuned.fmu >/dev/null
	rm -rf tuned
	unpack tuned
	describe tuned $version
	import tuned --end 2 --step 0.01 --set body:lower.mass 3 --set joint:elbow.damping 0.5 --check
	agree tuned.csv heavy.csv 1e-9
	import tuned --end 2 --step 0.01 --at 1 body:lower.mass 3 --check
	agree tuned.csv changed.csv 1e-9
done

# ---- a scenario ------------------------------------------------------------------------------------------

"$CALDER" run "$SOURCE_DIR/examples/docking.yaml" -q -o docking.csv
duration=$(tail -n 1 docking.csv | cut -d, -f1) interval=$(sed -n 3p docking.csv | cut -d, -f1)
for version in 2 3; do
	"$CALDER" fmu "$SOURCE_DIR/examples/docking.yaml" --fmi $version --input none -o docking.fmu >/dev/null
	rm -rf docking
	unpack docking
	import docking --end "$duration" --step "$interval" --check
	"$CALDER" run "$SOURCE_DIR/examples/docking.yaml" -q -o reference.csv
	agree docking.csv reference.csv 1e-9
done

# An event that stops the run ends it for the importer too.
cat arm.yaml - >stopped.yaml <<'YAML'
events:
  - {name: low, when: "q(shoulder) > 0.5", do: {stop: "low enough"}}
YAML
"$CALDER" run stopped.yaml -q -o reference.csv || true
for version in 2 3; do
	"$CALDER" fmu stopped.yaml --fmi $version -o stopped.fmu >/dev/null
	rm -rf stopped
	unpack stopped
	import stopped --end 2 --step 0.01
	[ "$(tail -n 1 stopped.csv | cut -d, -f1)" != 2 ] || fail "the unit did not stop"
	agree stopped.csv reference.csv 1e-9
done

# ---- what is refused ---------------------------------------------------------------------------------------

refused() { # TEXT ARGUMENT...
	local text=$1 rc=0
	shift
	"$CALDER" fmu "$@" 2>said || rc=$?
	[ $rc -eq 2 ] || [ $rc -eq 3 ] || fail "calder fmu $*: exit code $rc"
	grep -q -- "$text" said || fail "calder fmu $*: $(cat said)"
}
refused "did you mean \"force:shoulder\"" arm.yaml --input force:shulder -o bad.fmu
refused "inputs are force:JOINT" arm.yaml --input torque -o bad.fmu
refused "calder parameters" arm.yaml --parameter body:lower.mas -o bad.fmu
refused "output\|quantity\|signal" arm.yaml --output nothing -o bad.fmu
refused "would overwrite" arm.yaml -o arm.yaml
refused "say where" arm.yaml
refused "2 or 3" arm.yaml --fmi 1 -o bad.fmu
cat arm.yaml - >coded.yaml <<'YAML'
devices:
  mine: {type: library, library: ./mine.so}
YAML
refused "mine" coded.yaml -o bad.fmu
[ ! -e bad.fmu ] || fail "a unit that was refused was written"

# Damaged units: another token, no model.
sed -i 's/{......../{00000000/' arm/modelDescription.xml
! "$importer" "$work/arm" 2>said || fail "a unit with another token"
grep -q "token" said || fail "$(cat said)"
rm docking/resources/model.yaml
! "$importer" "$work/docking" 2>said || fail "a unit without its model"
grep -q "model.yaml: cannot be read" said || fail "$(cat said)"
