#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder modes` on the fixtures, and the documented way from a CalculiX deck to a body (docs/fe.md) with ccx itself:
# the frequencies of the reduced cantilever and bracket against those that CalculiX computes. Only the latter part is
# left out where there is no ccx; ./dev test installs it.
set -u
data=$SOURCE_DIR/test/data/fe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

problem() {
	echo "FAILED: $*"
	failed=1
}

# expect CODE NAME COMMAND...: runs it; output in $work/out and $work/err
expect() {
	local code=$1 name=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	local got=$?
	if [ "$got" -ne "$code" ]; then
		problem "$name: exit code $got, expected $code"
		cat "$work/out" "$work/err"
	fi
}

says() { grep -q -e "$2" "$work/$1" || { problem "no \"$2\" in:"; cat "$work/$1"; }; }

expect 0 "help" "$CALDER" modes --help
says out "example: calder modes"
expect 2 "no file" "$CALDER" modes
expect 2 "bad value" "$CALDER" modes --bound fast "$data/rod.inp"
expect 3 "missing file" "$CALDER" modes "$work/none.inp"
says err "none.inp: error:"

"$CALDER" modes "$data/rod.inp" >"$work/out" 2>"$work/err"
if grep -q CALDER_WITH_LAPACK "$work/err"; then
	echo "built without LAPACK: the rest is skipped"
	exit "$failed"
fi

expect 0 "rod" "$CALDER" modes "$data/rod.inp" --mass 0.216 --plot "$work/rod.svg" --write "$work/rod.json" --name rod
says out "held at \"root\""
says out "mass check"
says out "rigid check"
says out "dropped"
says out "448.588"
grep -q "</svg>" "$work/rod.svg" || problem "no picture"
expect 0 "modal file" "$CALDER" modes "$work/rod.json"
says out "448.588"
expect 0 "bound" "$CALDER" modes "$work/rod.json" --bound 5000
says out "free mode bounded"
expect 0 "to SID" "$CALDER" modes "$data/rod.inp" --modes 4 --write "$work/rod.SID_FEM"
expect 0 "SID" "$CALDER" modes "$work/rod.SID_FEM"
says out "448.5"
expect 0 "DMIG" "$CALDER" modes "$data/beam.pch" --interface 10 --interface 50
says out "held at \"grid10\""
expect 0 "free" "$CALDER" modes "$data/rod.inp" --free --modes 4
says out "free body"
expect 3 "mass off by 1000" "$CALDER" modes "$data/rod.inp" --mass 216
says err "216 kg were expected (0.001 times as much)"
expect 0 "millimetres" "$CALDER" modes "$data/rod.inp" --units mm-t
says out "are they SI"
expect 3 "missing interface" "$CALDER" modes "$data/rod.inp" --interface flange
says err "the model offers root, tip"

expect 0 "JSON" "$CALDER" modes --json "$data/rod.inp"
if command -v python3 >/dev/null; then
	python3 - "$work/out" <<'PY' || problem "JSON does not hold what it should"
import json, sys
r = json.load(open(sys.argv[1]))
assert len(r["modes"]) == 18 and r["check"] == "ok" and r["fe"]["equations"] == 60, r
assert abs(r["modes"][0]["frequency_hz"] - 448.5876) < 1e-2
assert abs(sum(m["effective_mass"][1] for m in r["modes"]) / r["mass"] - 1) < 0.1
assert max(r["lost"].values()) < 1e-10, r["lost"]
PY
fi

[ "$failed" -eq 0 ] || exit 1
if ! command -v ccx >/dev/null; then
	echo "no ccx (Debian: calculix-ccx): the decks are skipped"
	exit 77
fi

cp "$SOURCE_DIR"/examples/fe/*.inp "$work"
cd "$work" || exit 1
# compare JOB MODES COUNT: the first COUNT frequencies within 0.1 % of CalculiX's own
compare() {
	local job=$1 modes=$2 count=$3
	for deck in "$job" "${job}_held"; do
		ccx "$deck" >"$deck.log" 2>&1 || { problem "ccx $deck"; tail -n 5 "$deck.log"; return; }
	done
	expect 0 "$job" "$CALDER" modes "$job.inp" --modes "$modes" --json
	awk '/E I G E N V A L U E/ {on = 1} /P A R T/ {on = 0} on && $1 ~ /^[0-9]+$/ && NF == 5 {print $4}' \
		"${job}_held.dat" | head -n "$count" >ccx.txt
	sed -n 's/.*"frequency_hz": \([^,]*\), "free_.*/\1/p' out | head -n "$count" >calder.txt
	paste ccx.txt calder.txt | awk -v job="$job" -v count="$count" '
		{ n++; e = $2 / $1 - 1; e = e < 0 ? -e : e; if (e > worst) worst = e
		  printf "%s mode %d: CalculiX %.6g Hz, Calder %.6g Hz, %.4f %%\n", job, n, $1, $2, 100 * ($2 / $1 - 1) }
		END { if (n != count || !(worst <= 1e-3)) exit 1 }' || problem "$job: more than 0.1 % off"
}
compare cantilever 20 10
compare bracket 24 10
exit "$failed"
