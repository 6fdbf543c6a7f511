#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The work of the command line grows with the size of the model, and not faster. It is counted in instructions (valgrind), which
# do not depend on the machine's load: with I(n) of a model of n bodies, (I(4n) - I(2n)) / (2 (I(2n) - I(n))) is 1 if the work is
# proportional to n, whatever the fixed part, and 2 if it grows with the square.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"
command -v valgrind >/dev/null && command -v python3 >/dev/null || exit 77
valgrind --tool=none "$CALDER" --version >/dev/null 2>&1 || exit 77 # of a program with sanitizers it makes nothing

cat >model.py <<'PY'
# model.py KIND N: a model of N bodies as JSON, which is YAML
import json, sys
kind, n = sys.argv[1], int(sys.argv[2])
body = {"mass": 1, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.01], "nodes": {"t": [0, 0, -1]}}
model = {"calder": 1, "run": {"duration": 1e-6, "step": 1e-6, "method": "euler-cromer"}}  # stable: no doubts to look into
model["bodies"] = {f"b{i}": body for i in range(n)}
model["joints"] = {f"j{i}": {"type": "revolute", "axis": "x", "to": f"b{i}", **({"from": f"b{i - 1}/t"} if i else {})}
                   for i in range(n)}
if kind == "full":  # devices, events, loads and states too
    model["devices"] = {f"d{i}": {"type": "friction", "joint": f"j{i}", "coulomb": 1, "smoothing_speed": 0.1} for i in range(n)}
    model["events"] = {f"e{i}": {"when": f"q(j{i}) > 5", "do": {"stop": "far"}} for i in range(n)}
    model["loads"] = [{"joint": f"j{i}", "effort": 1} for i in range(n)]
    model["state"] = {f"j{i}": {"u": 0.1} for i in range(n)}
if kind == "parts":
    part = {"calder": 1, "bodies": {"a": body}, "joints": {"j": {"type": "revolute", "axis": "z", "to": "a"}}, "border": ["a"]}
    json.dump(part, open("part.yaml", "w"))
    model["bodies"], model["joints"] = {"hub": body}, {"f": {"type": "free", "to": "hub"}}
    model["subsystems"] = {f"s{i}": {"file": "part.yaml", "attach": {"to": "hub", "joint": "weld"}} for i in range(n)}
json.dump(model, sys.stdout)
PY

# count ARGUMENT...: instructions of one command
count() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$CALDER" "$@" 2>err >/dev/null || return 1
	sed -n 's/.*I *refs: *//p' err | tr -d ,
}

# grows_linearly KIND N COMMAND OPTION...: the ratio above is below the limit
grows_linearly() {
	local kind=$1 n=$2 command=$3 i=() size file
	shift 3
	last=("$command" "$kind" "$@")
	for size in "$n" $((2 * n)) $((4 * n)); do
		file=$kind-$size.json
		[ -e "$file" ] || python3 model.py "$kind" "$size" >"$file"
		[ "$command" != view ] || file=$kind-$size.h5
		[ "$command" != view ] || "$CALDER" run -q "$kind-$size.json" -o "$file" || fail "cannot be recorded"
		i+=("$(count "$command" "$@" "$file")") || fail "cannot be counted"
	done
	python3 -c "
i = [$(IFS=,; echo "${i[*]}")]
ratio = (i[2] - i[1]) / (2 * (i[1] - i[0]))
print(f'$command $* of $kind: {i[0]} {i[1]} {i[2]} instructions, ratio {ratio:.3f}')
assert ratio < 1.1, ratio" || fail "the work grows faster than the model"
}

grows_linearly chain 200 info
grows_linearly chain 200 run -q -s q -s udot -s force -s pose -s reaction -o out.h5
grows_linearly chain 200 view --json out.json
grows_linearly full 200 run -q -s event -o out.h5
grows_linearly parts 200 check

exit $((failures > 0))
