#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The robots of examples/zoo: check has nothing to say about them, the commands of docs/zoo.md run without a doubt, masses and
# mobilities are those of its table, and each robot does what the page says. Converted robots and the same robot in two formats
# move alike, and independent programs agree about their dynamics.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

zoo=$SOURCE_DIR/examples/zoo
page=$SOURCE_DIR/docs/zoo.md
"$CALDER" info "$zoo/arm.urdf" >out 2>err </dev/null
skip_without_yaml
! grep -q "need expat" err || { echo "built without expat: skipped"; exit 77; }
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
stiff="--method cvode-bdf"
"$CALDER" run "$zoo/quadruped.xml" -q --duration 1ms --method cvode-bdf >out 2>err </dev/null || ! grep -q SUNDIALS err || stiff=""

# ---- every model: what the script writes, no finding, no part that Calder lacks, the mass and mobility of the table ----
mkdir made
python3 "$zoo/make_zoo.py" made || fail "make_zoo.py"
for made in made/*; do cmp "$made" "$zoo/${made#made/}" || fail "$made is not what make_zoo.py writes"; done
mkdir info
for model in "$zoo"/*.urdf "$zoo"/*.xml "$zoo"/*.sdf; do
	calder 0 check --json "$model"
	python '
import json
r = json.load(open("out"))
assert r["errors"] == r["warnings"] == 0 and all(note["kind"] != "missing" for note in r["import"]), r'
	calder 0 info "$model"
	cp out "info/$(basename "$model")"
done
python3 - "$page" <<'PY' || fail "the table of the page"
import re, sys
from pathlib import Path
rows = [line.split("|") for line in open(sys.argv[1]) if "](../examples/zoo/" in line and line.startswith("|")]
models = sorted(Path("info").iterdir())
assert len(rows) == 6 and len(models) == 7, (rows, models)
for model in models:
    text = model.read_text()
    mobility = re.search(r"mobility (\d+)", text) or re.search(r"(\d+) degrees of freedom", text)
    mass = float(re.search(r"mass +(\S+) kg", text)[1])
    row, = (row for row in rows if f"[{model.name}]" in "".join(row))
    assert [cell.strip() for cell in row[3:5]] == [mobility[1], f"{mass:g}"], (model, row[3:5], mobility[1], mass)
PY

# ---- the commands of the page, every 10 ms ----
sed -n 's,^calder run examples/zoo/\([a-z]*\)\(\.[a-z]*\) \(.*\) -o .*,\1 \1\2 \3,p' "$page" >runs
[ "$(wc -l <runs)" -eq 6 ] || fail "the page does not run six models"
while read -r name model options; do
	[ -n "$stiff" ] || options=${options/--method cvode-bdf/}
	case $name in
	arm | hand) signals="q balance" ;;
	quadruped) signals="q:trunk u:trunk device:contact" ;;
	humanoid) signals="q:pelvis u:pelvis pose:left_foot pose:right_foot" ;;
	leg) signals="q residual" ;;
	spacecraft) signals="q total_momentum energy" ;;
	esac
	# shellcheck disable=SC2046,SC2086
	calder 0 run "$zoo/$model" $options --strict -i 10ms -o $name.csv $(printf -- ' -s %s' $signals)
	stdout_has 'energy balance error [0-9.]*e-'
	stdout_lacks 'DOUBT'
done <runs

cat >rows.py <<'PY'
import csv

def table(name):
    """Rows as maps from a signal without its unit to its value."""
    rows = list(csv.reader(line for line in open(name) if line[0] != "#"))
    names = [column.split(" [")[0] for column in rows[0]]
    return [dict(zip(names, map(float, row))) for row in rows[1:]]
PY
export PYTHONPATH=$PWD

python3 - "$zoo" <<'PY' || fail "mimic joints"
import sys, xml.etree.ElementTree as tree
from rows import table
for name, count in ("arm", 1), ("hand", 10):
    rows, pairs = table(f"{name}.csv"), []
    for joint in tree.parse(f"{sys.argv[1]}/{name}.urdf").getroot().iter("joint"):
        mimic = joint.find("mimic")
        if mimic is not None:
            pairs.append((joint.get("name"), mimic.get("joint"), float(mimic.get("multiplier"))))
    assert len(pairs) == count, pairs
    error = max(abs(row[f"q:{a}"] - ratio * row[f"q:{b}"]) for row in rows for a, b, ratio in pairs)
    assert error < 1e-12, (name, error)
    lost = [row["balance:dissipated"] for row in rows]
    assert all(b >= a - 1e-12 for a, b in zip(lost, lost[1:])) and lost[-1] > 0.1, "friction gives energy"
last = table("arm.csv")[-1]
assert last["q:shoulder_lift"] > 1, last  # it has sunk
fingers = [table("hand.csv")[-1][f"q:{finger}_mcp"] for finger in ("index", "middle", "ring", "little")]
assert all(0.3 < q < 1.75 for q in fingers), fingers
PY

python3 - <<'PY' || fail "the quadruped does not stand, or the humanoid"
from math import cos
from rows import table
last = table("quadruped.csv")[-1]
weight = 14.38 * 9.81
carried = sum(last[f"device:contact.fz{i}"] for i in range(1, 5))
assert last["device:contact.points"] == 4 and abs(abs(carried) / weight - 1) < 1e-3, (carried, weight)
assert abs(last["u:trunk.vz"]) < 1e-3 and max(abs(last["q:trunk.qx"]), abs(last["q:trunk.qy"])) < 0.01, last
rows = table("humanoid.csv")
first, last = rows[0], rows[-1]
# sole, ankle, shin, thigh, hip at the angles that the servos hold
height = 0.06 + (0.36 + 0.38) * cos(0.15) + 0.06
assert first["q:pelvis.z"] < height - 0.15 and abs(last["q:pelvis.z"] - height) < 5e-3, (first, last, height)
assert abs(last["u:pelvis.vz"]) < 1e-3 and abs(last["q:pelvis.qw"]) > 0.999
assert all(abs(last[f"pose:{side}_foot.z"] - 0.06) < 1e-3 for side in ("left", "right")), last
PY

python3 - <<'PY' || fail "loops of the leg"
from rows import table
rows = table("leg.csv")
residuals = [abs(value) for row in rows for name, value in row.items() if name.startswith("residual:")]
assert len(residuals) == 6 * len(rows) and max(residuals) < 1e-12, max(residuals)
assert max(abs(row["q:heel_spring_joint"]) for row in rows) > 1e-3 and abs(rows[-1]["q:knee"]) > 0.2
PY

python3 - <<'PY' || fail "momentum of the spacecraft"
from rows import table
rows = table("spacecraft.csv")
momentum = max(abs(row[f"total_momentum:{c}"]) for row in rows for c in ("px", "py", "pz", "Lx", "Ly", "Lz"))
assert momentum < 1e-10, momentum
# k q^2 / 2 of the folded springs, as the file has them
springs = (14 * 1.5**2 + 5 * 2.9**2 + 2.5 * 2.9**2) + 4 * (2.1**2 + 0.8**2) / 2
assert abs(rows[0]["energy:total"] - springs) < 1e-9, (rows[0]["energy:total"], springs)
assert max(abs(rows[-1][f"q:{side}_{hinge}_hinge"]) for side in ("port", "starboard") for hinge in ("root", "inner", "outer")) < 0.1
assert max(abs(row[f"q:bus_free.q{c}"]) for row in rows for c in "xyz") > 0.01, "the bus does not react"
PY

# ---- two formats of one leg, and converted files ----
calder 0 run "$zoo/leg.xml" -q --duration 3 -i 10ms -s q -o mjcf.csv
python3 - <<'PY' || fail "leg.sdf and leg.xml move differently"
from rows import table
joints = ["hip_pitch", "knee", "shin_spring", "ankle", "heel_spring_joint", "foot_crank_joint", "toe_joint"]
pairs = list(zip(table("leg.csv"), table("mjcf.csv")))
error = max(abs(a[f"q:{joint}"] - b[f"q:{joint}"]) for a, b in pairs for joint in joints)
assert len(pairs) == 301 and error < 1e-9, error
PY
for model in hand.urdf quadruped.xml leg.sdf spacecraft.sdf; do
	calder 0 convert "$zoo/$model" -o converted.yaml
	calder 0 run "$zoo/$model" -q --duration 0.1 -s q -o before.csv
	calder 0 run converted.yaml -q --duration 0.1 -s q -o after.csv
	cmp before.csv after.csv || fail "$model runs differently when converted"
done

# ---- mass matrices, forces and accelerations against the programs that write test/data/models, which know nothing of Calder ----
numpy=$(python_with numpy)
if [ -n "$numpy" ]; then
	for model in arm.urdf hand.urdf quadruped.xml humanoid.xml leg.xml; do
		mkdir -p "references/${model%.*}" && cp "$zoo/$model" "references/${model%.*}"
	done
	for program in make_references.py make_mjcf_references.py; do
		"$numpy" "$SOURCE_DIR/test/data/models/$program" references || fail "$program"
	done
	calder 0 models references
	stdout_has '^5 passed, 0 failed, 0 skipped$'
else
	echo "no numpy: references left out"
fi

# ---- the arm as a part of another model, as the page has it ----
mkdir examples && cp -r "$zoo" examples/zoo
python3 - "$page" <<'PY' || fail "the page has no reach.yaml"
import re, sys
open("reach.yaml", "w").write(re.search(r"^```yaml\n(# reach.yaml\n.*?)^```", open(sys.argv[1]).read(), re.M | re.S)[1])
PY
calder 0 run reach.yaml --strict --duration 4 -i 0.5 -s q -o reach.csv
python '
from rows import table
row = next(r for r in table("reach.csv") if r["t"] == 2)
assert abs(row["q:arm/shoulder_pan"] - 1.0472) < 0.01 and abs(row["q:arm/right_finger_slide"] - 0.03) < 1e-4, row'

exit $((failures > 0))
