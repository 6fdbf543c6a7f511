#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs/examples.md as it stands: every command on the page runs (by tools/figures), makes the pictures that the page
# shows, and no example is left out. Then what they have computed: the spin-up against the linear theory, the bracket's
# resonances and its modal file against CalculiX. Models in files are checked by test/examples/test_models.c. Without ccx its
# part is left out.
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
	failures=$((failures + 1))
	echo "FAIL: $*"
}

"$CALDER" modes "$SOURCE_DIR/examples/fe/bracket.json" >out 2>err
if grep -q CALDER_WITH_YAML err || ! command -v python3 >/dev/null; then
	echo "built without libyaml, or no python3: skipped"
	exit 77
fi

# ---- the page
"$SOURCE_DIR/tools/figures" "$BUILD_DIR" made >out 2>err || {
	fail "tools/figures"
	cat out err
}
python3 - "$SOURCE_DIR" made "$(command -v ccx)" "$(grep 'no Python package' out)" <<'PY' || fail "docs/examples.md"
import re, sys
import xml.etree.ElementTree as tree
from pathlib import Path
source, made, ccx = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
page = (source / "docs/examples.md").read_text()
elsewhere = {"scaling.svg"}  # docs/parallel.md, from another machine
scripts = {"lqr_pendulum.svg", "computed_torque.svg"} if sys.argv[4] else set()  # of Python, which is not built
problems = []
for target in re.findall(r"\]\(([^)#\s]+)", page):
    if not (source / "docs" / target).exists():
        problems.append(f"links to {target}, which does not exist")
shown = set(re.findall(r"\]\(figures/([^)]+)\)", page))
there = {path.name for path in (source / "docs/figures").glob("*")} - elsewhere
drawn = {path.name for path in made.glob("*.svg")}
if shown != there:
    problems.append(f"shown but not in docs/figures, or the other way round: {sorted(shown ^ there)}")
if drawn - shown or (ccx and shown - drawn - scripts):
    problems.append(f"shown but not made by the commands, or the other way round: {sorted(shown ^ drawn)}")
for path in [*made.glob("*.svg"), *(source / "docs/figures").glob("*.svg")]:
    tree.parse(path)
    if path.stat().st_size > 200_000:
        problems.append(f"{path.name}: {path.stat().st_size} bytes")
for path in (source / "examples").rglob("*.*"):
    if path.suffix not in (".yaml", ".inp", ".c"):
        continue
    if f"](../{path.relative_to(source)})" not in page:
        problems.append(f"does not name {path.relative_to(source)}")
    if not re.match(r"#|//|\*\*", path.read_text()):
        problems.append(f"{path.relative_to(source)} does not open with a comment")
print("\n".join(problems))
sys.exit(1 if problems else 0)
PY

# ---- spin-up: linear theory with foreshortening (tip at 5, 7.5, 10, 15 s) within (0.6 m/10 m)^2 of the deflection
python3 - <<'PY' || fail "spin_up: not what it says"
import csv
rows = list(csv.reader(open("made/spin_up.csv")))[1:]
second = {float(r[0]): float(r[1]) for r in rows}
first = {float(r[0]): float(r[2]) for r in rows if r[2]}
speed = {float(r[0]): float(r[3]) for r in rows}
for t, tip in {5: -0.46878, 7.5: -0.55953, 10: -0.36284, 15: 0.0013}.items():
    assert abs(second[t] - tip) < 2e-3, (t, second[t])
lag = min(second, key=second.get)
assert abs(second[lag] + 0.576) < 5e-4 and abs(lag - 6.76) < 0.06, (lag, second[lag])
assert all(abs(tip) < 0.01 for t, tip in second.items() if t > 15.4)
assert abs(first[7.5] + 1.46) < 0.01 and max(first) < 8.5, first[7.5]   # and then it was given up
assert abs(speed[7.5] - 3) < 1e-8 and abs(speed[20] - 6) < 1e-8
PY

# ---- the same as a panel: the tabulated deflection of the linear theory, and divergence without second order
"$CALDER" run "$SOURCE_DIR/examples/panel_spin_up.yaml" -q -o panel.csv || fail "panel_spin_up"
python3 - <<'PY' || fail "panel_spin_up: not what it says"
import csv
table = list(csv.reader(open("panel.csv")))
wing, loose, error = (table[0].index(n) for n in ("deflection:wing/tip.dz [m]", "deflection:loose/tip.dz [m]", "balance:error [J]"))
rows = {float(r[0]): r for r in table[1:]}
for t, tip in {5: -0.46878, 7.5: -0.55953}.items():
    assert abs(float(rows[t][wing]) - tip) < 2e-4, (t, rows[t][wing])
assert abs(float(rows[7.5][loose]) + 1.46) < 0.01 and max(abs(float(r[error])) for r in rows.values()) < 1e-9
PY

# ---- the bracket under its rotor: resonances a little above CalculiX's frequencies with 1 kg on the hand
if command -v ccx >/dev/null; then
	cp "$SOURCE_DIR"/examples/fe/bracket*.inp .
	cat >loaded.inp <<'INP'
*INCLUDE, INPUT=bracket_mesh.inp
*ELEMENT, TYPE=MASS, ELSET=LOAD
9001, 917
*MASS, ELSET=LOAD
1.0
*BOUNDARY
915, 1, 3
916, 1, 3
*STEP
*FREQUENCY
3
*END STEP
INP
	ccx loaded >log 2>&1 || { fail "ccx"; tail -n 5 log; }
	awk '/E I G E N V A L U E/ {on = 1} /P A R T/ {on = 0} on && $1 ~ /^[0-9]+$/ && NF == 5 {print $4}' \
		loaded.dat >loaded.txt
	python3 - <<'PY' || fail "bracket: not what it says"
import csv
frequency = [float(line) for line in open("loaded.txt")]
table = list(csv.reader(open("made/bracket.csv")))
column = {name.split(" ")[0]: i for i, name in enumerate(table[0])}
rows = [[float(x) for x in row] for row in table[1:]]
speed = column["u:shaft"]
for axis, expected in (("x", frequency[0]), ("y", frequency[1])):
    at = column["deflection:bracket/hand.d" + axis]
    peak = max(rows, key=lambda row: abs(row[at]))
    turns = peak[speed] / 6.283185307179586
    print(f"largest {axis} {abs(peak[at]):.3g} m at {turns:.2f} rev/s; CalculiX {expected:.2f} Hz")
    assert expected < turns < 1.06 * expected and abs(peak[at]) > 5e-4
    before = max(abs(row[at]) for row in rows if row[0] < 0.05 * expected)
    assert abs(peak[at]) > 20 * before, before
PY
	# and the modal file in examples/fe is the one that the documented steps make
	ccx bracket >log 2>&1 || { fail "ccx bracket"; tail -n 5 log; }
	"$CALDER" modes bracket.inp --mass 0.5832 --modes 3 --damping 0.01 --display 0 --name bracket --write again.json \
		>out 2>err || { fail "calder modes bracket.inp"; cat err; }
	"$CALDER" modes --json again.json >again.txt
	"$CALDER" modes --json "$SOURCE_DIR/examples/fe/bracket.json" >kept.txt
	python3 - <<'PY' || fail "examples/fe/bracket.json is not what the documented steps make"
import json
a, b = json.load(open("again.txt")), json.load(open("kept.txt"))
assert a["name"] == b["name"] == "bracket" and len(a["modes"]) == len(b["modes"]) == 9
for x, y in zip(a["modes"], b["modes"]):
    for key in ("frequency_hz", "free_frequency_hz", "damping_ratio"):
        assert abs(x[key] / y[key] - 1) < 1e-6, (key, x, y)
    assert all(abs(p - q) < 1e-6 * a["mass"] for p, q in zip(x["effective_mass"], y["effective_mass"])), (x, y)
PY
fi

echo "$failures failures"
[ "$failures" -eq 0 ]
