#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# NASTRAN OUTPUT4: the beam of beam.pch as text and binary, dense, sparse and BIGMAT, both byte orders (write_op4.py, which knows
# nothing of the reader) has the frequencies of the punched DMIG; sets of components; files that are cut off, damaged or wrong.
set -u
if ! command -v python3 >/dev/null; then
	echo "no python3: skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
data=$SOURCE_DIR/test/data/fe
failed=0
problem() {
	echo "FAILED: $*"
	failed=1
}
modes() { "$CALDER" modes "$@" --interface 10 --interface 50 --modes 6 --display 0 --json; }
# refused TEXT FILE OPTION...: exit code 3 and the text in the message
refused() {
	local text=$1
	shift
	"$CALDER" modes "$@" >out 2>err
	local code=$?
	if [ $code -ne 3 ] || ! grep -q -e "$text" err; then
		problem "$*: exit code $code, no \"$text\""
		cat err
	fi
}

python3 "$SOURCE_DIR/test/io/fe/write_op4.py" "$data/beam.pch" . || problem "write_op4.py"
modes "$data/beam.pch" >beam.json 2>err || problem "beam.pch"
for file in *.op4; do
	modes "$file" >"${file%.op4}.made.json" 2>err || { problem "$file"; cat err; }
done
modes text_dense.op4 --bulk big_dense.bdf --matrices KAA,MAA >named.made.json || problem "--bulk, --matrices"
python3 - <<'PY' || problem "frequencies"
import glob, json
want = json.load(open("beam.json"))["modes"]
names = sorted(glob.glob("*.made.json"))
worst = 0
for name in names:
    got = json.load(open(name))["modes"]
    assert len(got) == len(want), name
    for g, w in zip(got, want):
        for key in ("frequency_hz", "free_frequency_hz"):
            worst = max(worst, abs(g[key] / w[key] - 1))
print(len(names), "files, frequencies differ by at most", worst)
assert len(names) == 14 and worst < 1e-12
PY

# ---- sets: the bulk data have more grids than the matrices
{
	cat text_dense.bdf
	echo "GRID,5,,7.,7.,7."
	echo "GRID,60,,7.,7.,7."
} >more.bdf
refused "has 30 rows, but the bulk data have 42 equations" big_sparse.op4 --bulk more.bdf
{
	cat more.bdf
	echo "ASET1   123456  10      THRU    40"
	echo "BSET,50,123,50,456"
	echo "CSET1,123456,10"
} >set.bdf
modes big_sparse.op4 --bulk set.bdf >set.json 2>err || { problem "sets"; cat err; }
python3 -c 'import json; a, b = (json.load(open(n))["modes"] for n in ("set.json", "big_sparse.made.json")); assert a == b' ||
	problem "sets: another body"

# ---- files that are wrong
cp text_dense.op4 alone.op4
refused "GRID cards of its rows" alone.op4
python3 - <<'PY'
import struct
data = open("little_sparse.op4", "rb").read()
text = open("text_dense.op4").read()
bulk = open("text_dense.bdf").read()


def write(name, content):
    open(name + ".op4", "wb").write(content if isinstance(content, bytes) else content.encode())
    open(name + ".bdf", "w").write(bulk)


for k, length in enumerate((3, 17, 30, 45, 60, 100, 999, len(data) // 2, len(data) - 30)):
    write("cut%d" % k, data[:length])
write("cut9", text[:len(text) // 3])
write("complex", data[:16] + struct.pack("<i", 4) + data[20:])
write("sizes", data[:4] + struct.pack("<ii", 2**31 - 1, 2**31 - 1) + data[12:])
write("record", data[:32] + struct.pack("<i", 2**31 - 1) + data[36:])
write("rows", data[:36] + struct.pack("<iii", 1, 0, 2**30) + data[48:])
wide = open("wide_bigmat.op4", "rb").read()
write("huge", wide[:84] + struct.pack("<q", 2**63 - 1) + wide[92:])  # length of the first string
write("infinite", text.replace("1.1200000000000000E+08", "1.1200000000000000E+999"[:23], 1))
write("half", text.replace("      30      30       6       2KAA", "      30      30       6       3KAA", 1))
PY
for k in 0 1 2 3 4 5 6 7 8 9; do refused "error" cut$k.op4; done
refused "complex" complex.op4
refused "complex" half.op4
refused "error" sizes.op4
refused "a record does not end" record.op4
refused "error" rows.op4
refused "too large" huge.op4
refused "finite" infinite.op4
"$CALDER" modes "$data/beam.pch" --bulk text_dense.bdf >out 2>err
[ $? -eq 2 ] || problem "--bulk for a punch file"
exit $failed
