#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Steps on the command line: a wall that adaptive steps would jump over, fixed steps that do and say so, a formula that
# chatters.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

# expect_last FILE VALUE TOLERANCE: of the last column of the last line.
expect_last() {
	awk -F, -v want="$2" -v tolerance="$3" '!/^#/ {last = $NF} END {d = last - want; exit !(d < tolerance && -d < tolerance)}' \
		"$1" || fail "$1 does not end with $2: $(tail -n 1 "$1")"
}

# wall NAME RUN: a ball of 10 cm at 10 m/s, 5 m before a wall of 40 cm.
wall() {
	cat >"$1" <<-YAML
		calder: 1
		bodies: {a: {mass: 1, sphere: 0.1}}
		joints: {f: {type: free, to: a}}
		state: {f: {velocity: [10, 0, 0]}}
		devices:
		  c:
		    type: contact
		    material: {stiffness: 1e6}
		    shapes: {a: {type: sphere, node: a, radius: 0.1}, wall: {type: box, at: [5, 0, 0], half: [0.2, 5, 5]}}
		run: {duration: 1, $2}
	YAML
}

# It comes back as fast as it came.
wall adaptive.yaml 'output: {interval: 1, signals: ["u:f.vx"]}'
calder 0 run adaptive.yaml -o adaptive.csv
stderr_empty
expect_last adaptive.csv -10 1e-5

wall fixed.yaml 'method: rk4, step: 0.1'
calder 0 run fixed.yaml -o fixed.csv
stderr_has 'warning: shapes "a" and "wall" close at'
stdout_has 'DOUBT'
calder 1 run fixed.yaml -o fixed.csv --strict

cat >brake.yaml <<-YAML
	calder: 1
	bodies: {a: {mass: 1}}
	joints: {hinge: {type: prismatic, axis: x, to: a}}
	state: {hinge: {u: 5}}
	devices: {brake: {type: applied_load, joint: hinge, effort: -3*sign(u(hinge))}}
	run: {duration: 20, output: {interval: 20, signals: [q]}}
YAML
calder 4 run brake.yaml -o brake.csv
stderr_has 'device "brake" \(applied_load\), t = 1\.66666667 s: sign\(\) of effort = -3\*sign\(u\(hinge\)\)'
stderr_has 'smooth_sign'
sed -i 's/-3\*sign(u(hinge))/"-3*smooth_sign(u(hinge), 1 mm\/s)"/' brake.yaml
calder 0 run brake.yaml -o brake.csv
# 5^2 / (2 3) m
expect_last brake.csv 4.16667 1e-4

exit $((failures > 0))
