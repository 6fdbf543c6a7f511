#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Only a run loads shared objects that a model names: no other command runs their code, not even when they are loaded
# (constructors), and a run can refuse to.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

compiler=${CC:-cc}
command -v "$compiler" >/dev/null || exit 77
cat >code.c <<'C'
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) {
	FILE *out = fopen("ran", "w");
	if (out)
		fclose(out);
}
C
"$compiler" -shared -fPIC code.c -o code.so
cat >device.yaml <<'YAML'
calder: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints: {j: {type: revolute, axis: z, to: a}}
devices: {engine: {type: shared, library: ./code.so}}
events: {full: {when: "device(engine.thrust) > 1", do: {switch_off: engine}}}
run: {duration: 0.1}
YAML
cat >box.yaml <<'YAML'
calder: 1
bodies: {a: {mass: 1, box: [1, 1, 1]}}
joints: {j: {type: revolute, axis: z, to: a}}
subsystems: {engine: {library: code.so, attach: {to: a, joint: weld}}}
run: {duration: 0.1}
YAML

# A new command has to be tried here, too.
calder 0 help
known=$(echo info check run sweep plot signals parameters view render modes linearize trim operators inverse identify pose methods mesh convert \
	fmu schema golden models bench | tr ' ' '\n')
[ "$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)" = "$known" ] || fail "the commands are not those that this test knows"

not_run() { # CODE ARGUMENT...
	calder "$@"
	[ ! -e ran ] || fail "code of the model was run"
}
for model in device.yaml box.yaml; do
	not_run 0 check $model
	stderr_has "^$model: note: \"engine\" is code in a shared object"
	stdout_has '0 errors, 0 warnings'
	not_run 0 check --strict $model
	not_run 0 check --json $model
	python 'import json; f = json.load(open("out"))["findings"]; assert [x["severity"] for x in f] == ["note"], f'
	not_run 0 info $model
	stderr_has "^$model: note: \"engine\" is code in a shared object"
	not_run 0 info --json $model
	not_run 0 modes $model
	not_run 0 convert $model -o converted.yaml
	not_run 0 models .
	for command in signals parameters 'pose --node a --rpy 0,0,0'; do # of which the code is no part
		# shellcheck disable=SC2086
		not_run 0 $command $model
		stderr_has "^$model: note: \"engine\" is code in a shared object"
	done
	for command in linearize trim operators 'modes --system' 'inverse --drive j=t' 'view --html page.html' 'fmu -o unit.fmu'; do
		# shellcheck disable=SC2086
		not_run 3 $command $model # without the code the results would be those of another model
		case $command in
		fmu*) stderr_has 'engine": (\./)?code.so is code, and code is not to be loaded here|this program was built without units' ;;
		*) stderr_has 'engine": (\./)?code.so is code, and code is not to be loaded here' ;;
		esac
		stdout_empty
	done
	not_run 3 run $model --no-code
	stderr_has 'engine": (\./)?code.so is code, and code is not to be loaded here'
	random_plan $model a j
	not_run 0 sweep --list plan.yaml
	not_run 3 sweep --no-code -q plan.yaml -o refused
	stderr_has 'engine": (\./)?code.so is code, and code is not to be loaded here'
	[ ! -e refused ] || fail "a campaign that was refused has left a folder"
	sed 's/code.so/missing.so/' $model >missing.yaml
	not_run 1 check missing.yaml
	stderr_has 'cannot load (\./)?missing.so: No such file'
done

# A run does load it, which shows that the file above is one that would have been run.
calder 3 run device.yaml -q
if ! grep -q "without the system's loader" err; then # a static program, or one under a sanitizer
	[ -e ran ] || fail "a run does not load the shared object"
	stderr_has 'has no function calder_device'
fi

rm -f ran

# A parameter of a campaign can name the code: those cases fail, the others run.
cat >arm.yaml <<'YAML'
calder: 1
bodies: {upper: {mass: 1, box: [1, 1, 1]}}
joints: {shoulder: {type: revolute, to: upper}}
interface: [upper]
YAML
{ cat arm.yaml && echo 'devices: {engine: {type: shared, library: ./code.so}}'; } >coded.yaml
cat >host.yaml <<'YAML'
calder: 1
bodies: {base: {mass: 1, box: [1, 1, 1]}}
joints: {slide: {type: prismatic, axis: x, to: base}}
subsystems: {arm: {file: arm.yaml, attach: {to: base, interface: upper, joint: {type: revolute}}}}
run: {duration: 0.1}
YAML
# info --json: which subsystems are compiled ones, and the interface nodes of a file
not_run 0 info --json box.yaml
python 'import json; s = json.load(open("out"))["subsystems"]; assert [x["compiled"] for x in s] == [True], s'
not_run 0 info --json host.yaml
python 'import json; s = json.load(open("out"))["subsystems"]; assert [x["compiled"] for x in s] == [False], s'
not_run 0 info --json arm.yaml
python 'import json; f = json.load(open("out")); assert f["interface"] == ["upper"], f'

cat >plan.yaml <<'YAML'
sweep: 1
model: host.yaml
design: grid
parameters: {arm: {target: subsystems.arm.file, values: [arm.yaml, coded.yaml]}}
outputs: {q: {signal: "q:slide"}}
YAML
not_run 0 sweep --no-code plan.yaml -o mixed
stdout_has '2 cases, 1 ok, 1 failed'
stdout_has 'case 1: .*code.so is code, and code is not to be loaded here'

# A model without code runs with --no-code.
calder 0 run "$SOURCE_DIR/examples/pendulum.yaml" --no-code -q -d 0.1

exit $((failures > 0))
