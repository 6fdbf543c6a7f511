#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What people expect of a command line and its messages: help where they look for it, units, suggestions, lists of what is
# allowed, and words for the usual slips (degrees without unit, tabs, decimal commas).
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >model.yaml <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0, 0, -1]}}
joints:
  hinge: {type: revolute, to: rod, axis: y}
state:
  hinge: {q: 60 deg}
run: {duration: 1 s, method: rk4, step: 10 ms, output: {interval: 100 ms, signals: [q]}}
YAML
change() { sed "$1" model.yaml >changed.yaml; }

# ---- help
for command in info check run sweep plot view modes linearize trim operators convert golden bench; do
	calder 0 help $command
	mv out by_word
	calder 0 $command --help
	cmp -s out by_word || fail "calder help $command is not calder $command --help"
done
calder 0 help
stdout_has '^usage: calder COMMAND'
calder 2 help fly
stderr_has "there is no command 'fly'"
calder 2 hlep
stderr_has "there is no command 'hlep'"
calder 2 chekc model.yaml
stderr_has "did you mean 'check'"
for version in -V --version version; do
	calder 0 $version
	stdout_has '^calder [0-9]+\.[0-9]+\.[0-9]+$'
done

# ---- options: our own words, and what is near
for command in info check run sweep plot view modes linearize trim operators convert golden; do
	calder 2 $command --nonsense model.yaml
	stderr_has "^calder $command: there is no option '--nonsense'"
	stderr_has "^Try 'calder $command --help'"
	[ "$(wc -l <err)" -eq 2 ] || fail "more than two lines"
	calder 2 $command -Y model.yaml
	stderr_has "^calder $command: there is no option '-Y'"
done
calder 2 run model.yaml --durration 3
stderr_has "there is no option '--durration'; did you mean '--duration'"
calder 2 run model.yaml --check 3
stderr_has "'--check' may be '--checkpoint' or '--checkpoint-every'"
calder 2 run model.yaml --step
stderr_has "'--step' needs a value"
calder 2 run model.yaml -d
stderr_has "'-d' \(--duration\) needs a value"
calder 2 check --json=yes model.yaml
stderr_has "'--json' takes no value"

# ---- units in options
calder 0 run model.yaml -q -d 0.5 --step 0.02 -i 0.1 -o seconds.csv
calder 0 run model.yaml -q -d 500ms --step 20ms -i '0.1 s' -o units.csv
cmp -s seconds.csv units.csv || fail "a run with units in its options differs"
calder 2 run model.yaml -d 5m
stderr_has "^calder run: --duration: '5m' has the wrong unit; it must be one that becomes s"
calder 2 trim model.yaml --tolerance 1s
stderr_has "^calder trim: --tolerance: '1s' has the wrong unit; it must be a number without a unit"
calder 0 trim model.yaml --spread '30 deg' --at 100ms
calder 2 trim model.yaml --spread 1m
stderr_has "must be one that becomes rad"
calder 0 linearize model.yaml --at 0.001min
calder 2 pose --node rod --at 1s,0,0 model.yaml
calder 2 view model.yaml --html page.html --start 1kg
stderr_has "^calder view: --start: '1kg' has the wrong unit; it must be one that becomes s"
calder 2 run model.yaml -d 1,5
stderr_has "'1,5': a number has a decimal point, not a comma"
calder 2 run model.yaml -d -1
stderr_has "'-1' is below zero"
calder 2 run model.yaml --rtol '1e-6 s'
stderr_has '[-]-rtol'
calder 2 modes "$SOURCE_DIR/test/data/fe/rod.inp" --max-frequency 9000
stderr_has "[-]-max-frequency: '9000' is no value for it; write a frequency with its unit"
calder 0 modes "$SOURCE_DIR/test/data/fe/rod.inp" --max-frequency 9000Hz
mv out hertz
calder 0 modes "$SOURCE_DIR/test/data/fe/rod.inp" --max-frequency '9000 rev/s'
cmp -s out hertz || fail "9000 Hz are not 9000 rev/s"

# ---- one is not many
calder 0 check model.yaml
stdout_has 'mobility 1: 1 degree of freedom, no loops'
stdout_has '^model.yaml: 0 errors, 0 warnings$'
change 's/type: revolute/type: prismatic/; s/q: 60 deg/q: 1 m/; s/rod: {from.*$/inertia: [1, 1, 5]}/'
calder 1 check changed.yaml
stdout_has '^changed.yaml: 1 error, 0 warnings$'
calder 0 info model.yaml
stdout_has '1 body, 1 degree of freedom, 1 coordinate, [0-9]+ nodes?'
calder 0 run model.yaml -o one.csv -i 5 -d 1
stdout_has '^  time .* 2 samples$'

# ---- what is allowed
change 's/revolute/hinge/'
calder 3 check changed.yaml
stderr_has '6:17: error: joint "hinge": unknown type of joint "hinge"; the types are weld, revolute, prismatic, '
change 's/revolute/revolut/'
calder 3 check changed.yaml
stderr_has 'unknown type of joint "revolut"; did you mean "revolute"\? The types are '

# ---- degrees without a unit
for value in 90 -180 360.0; do
	change "s/60 deg/$value/"
	calder 0 check changed.yaml
	stderr_has "^changed.yaml:8:14: warning: state of joint \"hinge\": the angle $value is in rad, [0-9.]+ turns; write \"$value deg\", or \"$value rad\""
	stdout_has '0 errors, 1 warning$'
	calder 0 run changed.yaml -q
	stderr_has "changed.yaml:8:14: warning: .* write \"$value deg\""
	calder 1 check --strict changed.yaml
	calder 1 run --strict changed.yaml --json
	stdout_has "\"kind\": \"input\", \"object\": \"changed.yaml:8:14\""
done
for value in 6.2 '90 deg' '90 rad' -3.14159; do
	change "s/60 deg/$value/"
	calder 0 check changed.yaml
	stderr_empty
done

# ---- tabs and decimal commas
change 's/^  hinge: {q/\thinge: {q/'
calder 3 check changed.yaml
stderr_has '^changed.yaml:8:1: error: not valid YAML: a tab at the beginning of the line; indent with spaces'
change 's/2 kg/2,5 kg/'
calder 3 check changed.yaml
stderr_has '4:17: error: body "rod": unknown key "5 kg"; a comma ends a value in braces, and decimals follow a point'
change 's/gravity: .*/gravity: [0,0, 0,0, -9,81]/'
calder 3 check changed.yaml
stderr_has 'expected a list of three numbers .*; commas separate numbers, their decimals follow a point'
printf 'calder: 1\nbodies:\n  rod:\n    mass: 2,5 kg\n    box: [1, 1, 1]\n' >comma.yaml
calder 3 check comma.yaml
stderr_has 'comma.yaml:4:11: error: body "rod": a number has a decimal point, not a comma: "2,5 kg"'
printf 't [s];q [rad]\n0,1;2,5\n' >semicolons.csv
calder 3 plot semicolons.csv -o x.svg
stderr_has '^semicolons.csv:1: error: columns are separated by commas, not by semicolons; decimals follow a point'
printf 't [s]\tq [rad]\n0.1\t2.5\n' >tabs.csv
calder 3 plot tabs.csv -o x.svg
stderr_has '^tabs.csv:1: error: columns are separated by commas, not by tabs'
printf 't [s],q [rad]\n0,1,2,5\n' >commas.csv
calder 3 plot commas.csv -o x.svg
stderr_has '^commas.csv:2: error: 4 numbers under 2 column names; decimals follow a point, as commas separate columns'

# ---- gimbal lock names its joint
cat >wrist.yaml <<'YAML'
calder: 1
bodies: {hand: {mass: 1, inertia: [1, 1, 1]}}
joints:
  wrist:
    type: sequence
    elements: [{type: revolute, axis: z}, {type: revolute, axis: y}, {type: revolute, axis: x}]
    to: hand
state: {wrist: {q: [0, 90 deg, 0]}}
run: {duration: 1}
YAML
calder 4 run wrist.yaml
stderr_has 'joint "wrist\.rate[0-9]": .* singular in this configuration; .* \(gimbal lock\), take a spherical joint'
calder 1 check wrist.yaml
stderr_has 'joint "wrist\.rate[0-9]".*gimbal lock'

exit $((failures > 0))
