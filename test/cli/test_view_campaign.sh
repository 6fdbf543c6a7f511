#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder view` of a campaign: the document has every case with its numbers, failed ones without outputs; cases with extreme
# outputs, or those asked for, can be replayed; texts cannot end the element of the page; what is wrong is said.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

unset "${!SLURM_@}" "${!OMPI_@}" "${!PMI_@}" 2>/dev/null

cat >model.yaml <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 1 kg, rod: {from: [0, 0, 0], to: [0, 0, -1 m]}, nodes: {tip: [0, 0, -1 m]}}
joints:
  hinge: {type: revolute, to: rod, axis: y}
state:
  hinge: {q: 30 deg}
run: {duration: 200 ms, method: rk4, step: 10 ms}
YAML
cat >plan.yaml <<'YAML'
sweep: 1
title: Swings </script><b>
model: model.yaml
design: grid
parameters:
  mass: {target: bodies.rod.mass, values: [-1, 1, 2]}
  method: {target: run.method, values: [rk4, implicit-midpoint]}
  angle: {target: state.hinge.q, constant: 0.5}
outputs:
  energy: {signal: "energy:total"}
  late: {signal: "q:hinge", below: 0.1}
YAML
calder 0 sweep plan.yaml -o swings -q
skip_without_yaml
calder 0 view swings --json swings.json
if grep -q CALDER_WITH_HDF5 err; then
	echo "built without HDF5: skipped"
	exit 77
fi
calder 0 view swings --html swings.html
calder 0 view swings --json one.json --case 3 --case 2 --case 3
calder 3 view swings --json bad.json --case 6
stderr_has '^swings: error: there is no case 6: there are 6$'
[ ! -e bad.json ] || fail "bad.json was written"
calder 3 view swings --json bad.json --case 0
stderr_has 'mass'
calder 2 view swings --json bad.json --case -1
stderr_has "--case takes the number of a case, up to 16 times, not '-1'"
mkdir empty
calder 3 view empty --json bad.json
calder 2 view
stderr_has 'result file .HDF5., model or folder of a campaign'
ls -d "${TMPDIR:-/tmp}"/calder-?????? 2>/dev/null | while read -r folder; do
	[ ! -e "$folder/case.yaml" ] || [ "$folder" -ot plan.yaml ] || fail "$folder was left"
done

python '
import csv, json
document = json.load(open("swings.json"))
assert (document["format"], document["version"], document["model"]) == ("calder-campaign", 1, "model.yaml")
axes = document["axes"]
assert [a["name"] for a in axes] == ["mass", "method", "angle", "energy", "late"], axes
assert axes[1]["texts"] == ["rk4", "implicit-midpoint"] and axes[4]["below"] == 0.1 and axes[4]["above"] is None
rows = list(csv.DictReader(open("swings/cases.csv")))
assert len(document["cases"]) == len(rows) == 6
for case, row in zip(document["cases"], rows):
    assert str(case["case"]) == row["case"] and case["status"] == row["status"], (case, row)
    text = [v for k, v in row.items() if k and k.startswith(("mass", "angle", "energy", "late"))]
    numbers = [case["values"][i] for i in (0, 2, 3, 4)]
    assert [None if t == "nan" else float(t) for t in text] == numbers, (text, numbers)
    assert case["values"][1] == case["case"] % 2
assert [c["status"] for c in document["cases"]] == ["failed"] * 2 + ["out of limits"] * 4
assert document["cases"][0]["values"][3] is None and document["cases"][0]["message"]
replays = document["replays"]
energies = [c["values"][3] for c in document["cases"][2:]]
extremes = {2 + energies.index(min(energies)), 2 + energies.index(max(energies))}
assert extremes <= {r["case"] for r in replays} <= {2, 3, 4, 5}, replays
assert [r["case"] for r in json.load(open("one.json"))["replays"]] == [3, 2]
for r in replays:
    mass = r["replay"]["bodies"][0]["mass"]
    assert mass == document["cases"][r["case"]]["values"][0], (mass, r["case"])
page = open("swings.html").read()
start = page.rindex("id=\"calder-replay\">") + len("id=\"calder-replay\">")
inside = page[start:page.index("</script>", start)]
assert "<" not in inside
assert json.loads(inside)["title"] == "Swings </script><b>"'

echo "$failures failures"
[ "$failures" -eq 0 ]
