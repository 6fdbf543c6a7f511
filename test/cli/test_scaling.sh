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
if kind == "springs":  # of which each reads the pose of a body
    model["devices"] = {f"d{i}": {"type": "spring", "from": f"b{i}", "to": "ground", "stiffness": 1, "length": 1} for i in range(n)}
if kind == "groups":  # of one body each
    model["groups"] = {f"g{i}": {} for i in range(n)}
    model["bodies"] = {f"b{i}": {**body, "group": f"g{i}"} for i in range(n)}
    model["joints"] = {f"j{i}": {"type": "revolute", "axis": "x", "to": f"b{i}"} for i in range(n)}
if kind in ("bars", "ladder"):  # four-bar linkages side by side; the same on one moving body
    model["bodies"], model["joints"], model["loops"] = {}, {}, {}
    sides = {f"{side}{i}": [2 * (side == "r"), i, 0] for i in range(n) for side in "ar"}
    base = "ground" if kind == "bars" else "hub"
    if kind == "ladder":
        model["bodies"]["hub"] = {**body, "mass": 1000, "inertia": [1000, 1000, 1000], "nodes": sides}
        model["joints"]["hub"] = {"type": "free", "to": "hub"}
    else:
        model["ground"] = {"nodes": sides}
    for i in range(n):
        for bar, end in (("a", [0, 0, 1]), ("c", [2, 0, 0]), ("r", [0, 0, 1])):
            model["bodies"][f"{bar}{i}"] = {**body, "nodes": {"t": end}}
        model["joints"][f"a{i}"] = {"type": "revolute", "axis": "y", "from": f"{base}/a{i}", "to": f"a{i}"}
        model["joints"][f"c{i}"] = {"type": "revolute", "axis": "y", "from": f"a{i}/t", "to": f"c{i}"}
        model["joints"][f"r{i}"] = {"type": "revolute", "axis": "y", "from": f"{base}/r{i}", "to": f"r{i}"}
        model["loops"][f"l{i}"] = {"type": "spherical", "from": f"c{i}/t", "to": f"r{i}/t"}
if kind == "parts":
    part = {"calder": 1, "bodies": {"a": body}, "joints": {"j": {"type": "revolute", "axis": "z", "to": "a"}}, "interface": ["a"]}
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

# memory_of COMMAND FILE: the most that one command held [KiB]
memory_of() {
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$CALDER" "$@"
}

# takes_per_body BYTES COMMAND: memory of 10000 more bodies
takes_per_body() {
	local most=$1 command=$2 few many
	last=("$command" memory)
	for size in 10000 20000; do
		[ -e "chain-$size.json" ] || python3 model.py chain "$size" >"chain-$size.json"
	done
	few=$(memory_of "$command" chain-10000.json) && many=$(memory_of "$command" chain-20000.json) || fail "cannot be measured"
	echo "$command of chain: $(((many - few) * 1024 / 10000)) bytes per body"
	[ $(((many - few) * 1024 / 10000)) -lt "$most" ] || fail "takes more memory than $most bytes per body"
}

grows_linearly chain 200 info
grows_linearly chain 200 run -q -s q -s udot -s force -s pose -s reaction -o out.h5
grows_linearly chain 200 view --json out.json
grows_linearly full 200 run -q -s event -o out.h5
grows_linearly parts 200 check
grows_linearly springs 200 run -q -s device -o out.h5
grows_linearly groups 200 check
grows_linearly groups 200 run -q -o out.h5
grows_linearly bars 50 check
grows_linearly bars 50 run -q -o out.h5
grows_linearly ladder 50 check
takes_per_body 4500 info
takes_per_body 5000 check

exit $((failures > 0))
