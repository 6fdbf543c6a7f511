#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a component costs the model around it does not depend on what is in it: the instructions (valgrind) that fill, eliminate and
# resolve the equations of its tie are the same for 1, 8 and 64 hinged bars with friction in it.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"
command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null && command -v python3 >/dev/null || exit 77
valgrind --tool=none "$CALDER" --version >/dev/null 2>&1 || exit 77 # of a program with sanitizers it makes nothing

cat >model.py <<'PY'
# model.py N: machine.json with a component part.json of N bars
import json, sys
n = int(sys.argv[1])
bar = {"mass": 1, "com": [0.25, 0, 0], "inertia": [0.01, 0.02, 0.02], "nodes": {"end": [0.5, 0, 0]}}
part = {"calder": 1, "interface": ["b0"], "bodies": {f"b{i}": bar for i in range(n)}, "joints": {"mount": {"type": "weld", "to": "b0"}}}
part["joints"] |= {f"j{i}": {"type": "revolute", "from": f"b{i - 1}/end", "to": f"b{i}", "axis": "y"} for i in range(1, n)}
part["devices"] = {f"d{i}": {"type": "friction", "joint": f"j{i}", "coulomb": 0.1, "smoothing_speed": 0.1} for i in range(1, n)}
machine = {"calder": 1, "gravity": [0, 0, -9.81], "bodies": {"hub": {**bar, "mass": 10, "inertia": [1, 1, 1]}},
           "joints": {"fly": {"type": "spherical", "to": "hub"}},
           "subsystems": {"part": {"file": "part.json", "component": True, "attach": {"to": "hub/end"}}},
           "run": {"duration": 0.02, "method": "rk4", "step": 1e-3}}
for name, model in ("part", part), ("machine", machine):
    with open(f"{name}.json", "w") as out:
        json.dump(model, out)
PY

# assembly N: instructions of one solution of the tie in a run with N bars: of the calls in "instructions (share) => function (CALLSx)"
assembly() {
	python3 model.py "$1" || return 1
	valgrind --tool=callgrind --callgrind-out-file=calls "$CALDER" run machine.json >out 2>err || return 1
	callgrind_annotate --threshold=100 --tree=calling calls | tr -d , | awk '
		/ => .*:tie_(fill|eliminate|resolve)_/ {match($0, /\([0-9]+x\)/); sum += $1 / substr($0, RSTART + 1); found++}
		END {if (found != 3) exit 1; printf "%.0f\n", sum}'
}

last=(run machine.json)
first=$(assembly 1) || fail "no count for one bar"
for bars in 8 64; do
	count=$(assembly "$bars") || fail "no count for $bars bars"
	echo "$bars bars: $count instructions for a solution of the tie, 1 bar: $first"
	[ $((1000 * (count > first ? count - first : first - count))) -le "$first" ] ||
		fail "$bars bars take $count instructions, one bar $first"
done
exit $((failures > 0))
