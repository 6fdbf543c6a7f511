#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Element types of CalculiX, one deck each (bench/fe/make_deck.py): the frequencies of the reduced body with its root held against
# those that CalculiX computes of the same mesh. Solids, solids with internal nodes (C3D8I), and shells and beams, which
# CalculiX expands to solids. 20 modes with both interfaces held leave up to 6e-4 of truncation in the fifth frequency.
set -u
if ! command -v ccx >/dev/null || ! command -v python3 >/dev/null; then
	echo "no ccx or no python3: skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
problem() {
	echo "FAILED: $*"
	failed=1
}
make_deck() { python3 "$SOURCE_DIR/bench/fe/make_deck.py" "$@" >/dev/null || problem "make_deck.py $*"; }

for type in C3D4 C3D6 C3D8 C3D8I C3D8R C3D10 C3D15 C3D20 C3D20R S3 S4 S4R S6 S8 S8R B31 B31R B32 B32R; do
	make_deck $type 8 2 2 --modes 5 --name $type
	ccx $type >$type.log 2>&1 || problem "ccx $type"
	ccx ${type}_held >${type}_held.log 2>&1 || problem "ccx ${type}_held"
	modes=20
	[ $type = S4R ] && modes=12 # one integration point for its mass too: more shapes would move it rigidly
	"$CALDER" modes $type.inp --modes $modes --display 0 --json >$type.json 2>err || { problem "$type"; cat err; }
done
python3 - <<'PY' || problem "frequencies"
import glob, json, sys
bad = 0
names = sorted(path[:-5] for path in glob.glob("*.json"))
for name in names:
    body = json.load(open(name + ".json"))
    got = [mode["frequency_hz"] for mode in body["modes"]][:5]
    rows = [line.split() for line in open(name + "_held.dat")]
    want = [float(row[3]) for row in rows if len(row) == 5 and row[0].isdigit()][:5]
    off = [g / w - 1 for g, w in zip(got, want)]
    print(name, " ".join("%+.1e" % x for x in off))
    # 400 mm x 60 mm x 20 mm of steel; a beam has two crossbars of 120 mm too, and its axes cross there.
    mass = 3.768 if name[0] != "B" else 6.0288
    # CalculiX prints seven digits; the reduced body is stiffer, never softer.
    if len(want) < 5 or min(off) < -1e-6 or max(off) > 1e-3 or off[0] > 1e-4 or abs(body["mass"] / mass - 1) > 1e-9:
        print("FAILED:", name, got, want, body["mass"])
        bad += 1
sys.exit(bad > 0 or len(names) != 19)
PY

# Internal nodes without an interface to follow: scalars. The free body is the same one.
"$CALDER" modes C3D8I.inp --free --modes 8 --json >free.json 2>err || { problem "C3D8I, free"; cat err; }
python3 - <<'PY' || problem "C3D8I, free"
import json
free = [m["frequency_hz"] for m in json.load(open("free.json"))["modes"]][:4]
held = [m["free_frequency_hz"] for m in json.load(open("C3D8I.json"))["modes"]][:4]
print("C3D8I, free:", free, held)
assert all(0 <= h / f - 1 < 1e-3 for f, h in zip(free, held))
PY

# An expanded element needs an interface that turns: nodes on a line do not hold the rotation about it.
make_deck S8R 4 1 1 --name line
sed -i '/^\*NSET, NSET=root/,/^\*NSET, NSET=tip/{/^[0-9]/d}' line.inp
sed -i 's/^\*NSET, NSET=root$/*NSET, NSET=root\n1, 2/' line.inp
ccx line >line.log 2>&1 || problem "ccx line"
"$CALDER" modes line.inp >out 2>err && problem "an interface of nodes on a line is accepted"
grep -q "nodes that are not on one line" err || { problem "message"; cat err; }
"$CALDER" modes C3D8I.inp --geometric >out 2>err && problem "geometric stiffness of C3D8I is accepted"
grep -q "C3D8I (incompatible modes)" err || { problem "message of C3D8I"; cat err; }
exit $failed
