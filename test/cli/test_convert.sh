#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# calder convert: what it writes runs to the same bytes; what it says; refusals leave the output file alone.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

calder 0 convert --help
stdout_has '^example: calder convert'
calder 2 convert
calder 2 convert "$SOURCE_DIR/examples/pendulum.yaml"
stderr_has 'say where to write'
calder 2 convert --nonsense x.yaml
stderr_has "Try 'calder convert --help'"

for name in pendulum four_bar flexible_arm rolling_ball; do
	calder 0 convert "$SOURCE_DIR/examples/$name.yaml" -o $name.yaml
	stdout_has "^$name.yaml: [0-9]+ groups?, [0-9]+ bod(y|ies), [0-9]+ nodes?, [0-9]+ joints?, [0-9]+ loops?$"
	stderr_empty
	calder 0 run "$SOURCE_DIR/examples/$name.yaml" --duration 0.2 -o before.csv
	calder 0 run $name.yaml --duration 0.2 -o after.csv
	cmp before.csv after.csv || fail "$name runs differently when converted"
	calder 0 convert $name.yaml -o again.yaml
	cmp $name.yaml again.yaml || fail "$name: converting again gives another file"
done

calder 0 convert pendulum.yaml -o -
stdout_has '^calder: 1$'
stderr_has '^<stdout>: 1 group, 1 body, 1 node, 1 joint, 0 loops'
calder 3 convert pendulum.yaml -o missing/folder.yaml
stderr_has '^missing/folder.yaml: error: cannot be written'
echo 'calder: 1' >broken.yaml
calder 3 convert broken.yaml -o pendulum.yaml
stderr_has '^broken.yaml:'
grep -q '^bodies:' pendulum.yaml || fail "a refused conversion has touched its output"

# Robot files: the name of the output or --to says which, the report is on stderr, what is missing is refused.
model=$SOURCE_DIR/examples/double_pendulum.yaml
for name in p.urdf p.mjcf p.xml p.sdf p.world; do
	calder 0 convert "$model" -o $name
	stdout_has "^$name: 1 group, 2 bodies"
	stderr_has 'note: ignored: run: '
	calder 0 check $name
done
grep -q '^<robot' p.urdf && grep -q '^<mujoco' p.xml && grep -q '^<mujoco' p.mjcf && grep -q '^<sdf' p.world ||
	fail "a name of an output means another format"
calder 0 convert "$model" --to sdf -o p.txt
grep -q '^<sdf' p.txt || fail "--to does not count"
calder 0 convert p.sdf --to model -o p2.xml
grep -q '^calder: 1' p2.xml || fail "--to does not count before the name of the output"
calder 0 convert "$model" --to mjcf -o -
stdout_has '^<mujoco'
calder 2 convert "$model" --to vrml -o p.txt
stderr_has "model, urdf, mjcf or sdf, not 'vrml'"
calder 2 convert "$model" --report json --to urdf -o -
stderr_has 'the report is on stdout'

calder 0 convert "$model" -o report.urdf --report json
python '
import json
report = json.load(open("out"))
assert report["file"] == "report.urdf" and report["missing"] == 0, report
assert report["ignored"] == sum(note["kind"] == "ignored" for note in report["notes"]) > 0
assert all(note["element"] and note["text"] for note in report["notes"])
'

arm=$SOURCE_DIR/examples/flexible_arm.yaml
rm -f arm.xml
calder 3 convert "$arm" -o arm.xml
stderr_has 'flexible_arm.yaml:[0-9]+:[0-9]+: error: missing: body "upper": MJCF has no flexible bodies'
stderr_has 'nothing was written; --partial writes the rest'
[ ! -e arm.xml ] || fail "a refused conversion has written something"
calder 0 convert "$arm" -o arm.xml --partial
stderr_has 'flexible_arm.yaml:[0-9]+:[0-9]+: note: missing: body "upper"'
calder 0 info arm.xml

exit $((failures > 0))
