#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Robot files in all commands that read models: the import report, --base, --root and --partial, conversion, results that can be
# shown without the robot file, and comparison with references.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

models=$SOURCE_DIR/test/data/models
cp "$models"/*/*.urdf .
"$CALDER" info arm.urdf >out 2>err </dev/null
skip_without_yaml
! grep -q "need expat" err || { echo "built without expat: skipped"; exit 77; }

# ---- every command ----
calder 0 info arm.urdf
stdout_has 'gripper +flange +tool +weld'
stderr_has '^arm.urdf: note: import report: [0-9]+ ignored, [0-9]+ assumed, 2 changed'
calder 0 check arm.urdf
stderr_has '^arm.urdf:[0-9]+:[0-9]+: note: ignored: joint "pan"/limit: effort 80, velocity 2: limits of a controller'
stderr_has '^arm.urdf:[0-9]+:[0-9]+: note: assumed: link "flange": '
stdout_has '^arm.urdf: 0 errors, 0 warnings$'
calder 0 signals arm.urdf
stdout_has '^q:extend \[m\]$'
calder 0 operators arm.urdf --json
calder 0 run arm.urdf --duration 0.1 -q -o arm.h5
calder 0 run arm.urdf --duration 0.1 -q -o arm.csv
mkdir away && mv arm.urdf away
calder 0 view arm.h5 --html arm.html # the results hold the model
calder 0 info arm.h5
mv away/arm.urdf .
calder 0 view arm.urdf --html direct.html
[ -s direct.html ] || fail "a robot is not shown"
calder 0 run - --help
stdout_has '--base fixed.free'

# ---- the report ----
calder 0 check --report json arm.urdf
stderr_empty
python 'import json; r = json.load(open("out")); n = r["notes"]; assert r["file"] == "arm.urdf" and len(n) == r["ignored"] + r["assumed"] + r["changed"] + r["missing"] > 8; assert all(x["line"] > 0 and x["column"] > 0 and x["text"] and x["element"] for x in n)'
calder 0 check --json arm.urdf
python 'import json; r = json.load(open("out")); assert r["errors"] == 0 and len(r["import"]) > 8'
calder 0 check --json "$SOURCE_DIR/examples/pendulum.yaml"
python 'import json; assert "import" not in json.load(open("out"))'
calder 2 check --report yaml arm.urdf

# ---- base ----
calder 0 info walker.urdf
stdout_has 'torso +\(ground\) +torso +weld'
calder 0 info --base free walker.urdf
stdout_has 'torso +\(ground\) +torso +free'
calder 0 info walker.urdf --base=free
stdout_has 'torso +\(ground\) +torso +free'
calder 2 info walker.urdf --base floating
stderr_has 'fixed or free'
calder 0 info - --help

# ---- what is missing ----
sed 's,</robot>,<gazebo reference="arm"><turnGravityOff>true</turnGravityOff></gazebo></robot>,' arm.urdf >odd.urdf
calder 3 run odd.urdf -d 0.1
stderr_has '^odd.urdf:[0-9]+:[0-9]+: error: <turnGravityOff>: .*--partial'
calder 0 run odd.urdf -d 0.1 --partial -q
stderr_has '1 missing'
calder 1 check odd.urdf
stderr_has '^odd.urdf:[0-9]+:[0-9]+: error: missing: gazebo/turnGravityOff'
calder 0 check odd.urdf --partial
stderr_has 'warning: missing'
calder 3 convert odd.urdf -o odd.yaml

# ---- conversion: the same motion, the same references ----
for name in arm hand walker; do
	mkdir -p both/$name
	base=fixed
	[ $name = walker ] && base=free
	calder 0 convert $name.urdf --base $base -o both/$name/$name.yaml
	calder 0 run $name.urdf --base $base -d 0.2 -q -o before.csv
	calder 0 run both/$name/$name.yaml -d 0.2 -q -o after.csv
	cmp before.csv after.csv || fail "$name runs differently when converted"
	sed "s/$name.urdf/$name.yaml/" "$models/$name/$name.ref.json" >both/$name/$name.ref.json
done
calder 0 models both
stdout_has '^3 passed, 0 failed, 0 skipped$'

# ---- meshes ----
mkdir -p pack/meshes pack/urdf elsewhere
echo '<package><name>pack</name></package>' >pack/package.xml
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >pack/meshes/part.obj
cat >pack/urdf/part.urdf <<'XML'
<robot name="part"><link name="world"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="package://pack/meshes/part.obj"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="world"/><child link="a"/></joint></robot>
XML
calder 0 view pack/urdf/part.urdf --html part.html
calder 0 run pack/urdf/part.urdf -d 0.1 -q -o part.h5
calder 0 view part.h5 --json part.json
python 'import json; m = json.load(open("part.json"))["meshes"]; assert len(m) == 1, m'
calder 0 convert pack/urdf/part.urdf -o pack/part.yaml
grep -q 'mesh: meshes/part.obj' pack/part.yaml || fail "the path is not relative to the converted file"
calder 0 convert pack/urdf/part.urdf -o elsewhere/part.yaml
calder 0 view elsewhere/part.yaml --html part.html
sed 's,//pack/,//other/,' pack/urdf/part.urdf >part.urdf
calder 0 check part.urdf
stderr_has 'was not found; tried: '
mkdir -p roots/other/meshes && cp pack/meshes/part.obj roots/other/meshes
calder 0 check part.urdf --root roots
! grep -q 'was not found' err || fail "--root has no effect"
ROS_PACKAGE_PATH=/nowhere:$PWD/roots calder 0 check part.urdf
! grep -q 'was not found' err || fail "ROS_PACKAGE_PATH has no effect"

# ---- references ----
mkdir odd # whatever the file holds, it is read to its end and no further
for text in '' '{' '{"a"' '{"a":' '"' '[[[' '{"file": 3}' null; do
	printf '%s' "$text" >odd/odd.ref.json
	calder 1 models odd
	stdout_has '^odd +FAIL  [a-z]' # nothing was compared
done
calder 0 models "$models"
stdout_has '^arm +ok +M '
stdout_has '^hand +ok .* hard '
stdout_has '^leg +ok .* hard '
stdout_has '^[0-9]+ passed, 0 failed, 0 skipped$'
mkdir -p wrong/arm && cp "$models"/arm/* wrong/arm
sed -i 's/<mass value="0.6"/<mass value="0.60000001"/' wrong/arm/arm.urdf
calder 1 models wrong
stdout_has '^arm +FAIL .*more than'
stdout_has '^0 passed, 1 failed, 0 skipped$'
echo '{"file": ' >wrong/arm/arm.ref.json
calder 1 models wrong
stdout_has 'not JSON'
printf '{"file": "\\u00' >wrong/arm/arm.ref.json
calder 1 models wrong
stdout_has 'not JSON: an escape that is not known'
cp "$models/arm/arm.urdf" wrong/arm
sed 's/"arm.urdf"/"\\u0061rm.urdf"/' "$models/arm/arm.ref.json" >wrong/arm/arm.ref.json
calder 0 models wrong
stdout_has '^1 passed, 0 failed, 0 skipped$'
calder 3 models nowhere
calder 2 models

# ---- places of files that a file names ----
cat >scene.xml <<'XML'
<mujoco><include file="part.xml"/></mujoco>
XML
cat >part.xml <<'XML'
<mujoco><worldbody><body name="a"><joint name="j"/><geom size=".1"/></body></worldbody>
<actuator><muscle joint="j"/></actuator></mujoco>
XML
calder 1 check scene.xml
stderr_has '^(.*/)?part.xml:2:11: error: missing: actuator/muscle'

# ---- motors survive conversion ----
cat >motor.xml <<'XML'
<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
<actuator><motor name="m" joint="j" gear="50" ctrlrange="-1 1"/></actuator></mujoco>
XML
calder 0 convert motor.xml -o motor.yaml
grep -q 'm: {type: actuator, joint: j, gear: 50, control_lower: -1, control_upper: 1}' motor.yaml || fail "no motor in motor.yaml"
calder 0 convert motor.yaml -o motor2.xml
grep -q '<motor name="m" joint="j" gear="50" ctrllimited="true" ctrlrange="-1 1"/>' motor2.xml || fail "no motor in motor2.xml"
sed 's/gear: 50/gear: 50, control: 0.5/' motor.yaml >pushed.yaml
calder 0 convert pushed.yaml -o pushed.xml
grep -q 'ctrl="0.5"' pushed.xml || fail "no input in pushed.xml"
calder 0 convert motor.xml -o motor.sdf
stderr_has '^motor.xml:2:11: note: ignored: device "m": SDFormat has no actuators'
calder 3 convert pushed.yaml -o pushed.sdf
stderr_has '^pushed.yaml:[0-9]+:[0-9]+: error: missing: device "m"'

exit $((failures > 0))
