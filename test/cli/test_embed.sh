#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Embedded loops on the command line: the same motion with and without, info, operators, branches, the file written again, and
# what is refused.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cp "$SOURCE_DIR/examples/linkage_arm.yaml" arm.yaml
sed -e 's/, embed: true//' -e 's/, independent: true//' arm.yaml >loops.yaml

# ---- what was embedded
calder 0 info arm.yaml
skip_without_yaml
stdout_has '5 bodies, 3 degrees of freedom, 3 coordinates'
stdout_has 'embedded wrist on boom: 1 loop, 5 equations; independent crank; dependent pin, rocker'
calder 0 info --json arm.yaml
stdout_has '"name": "wrist", "base": "boom", "loops": 1, "equations": 5, "independent": \["crank"\], "dependent": \["pin", "rocker"\]'
calder 0 operators arm.yaml
stdout_has '3 degrees of freedom, 3 independent'
cp out operators
calder 0 operators --independent boom --independent crank --independent bucket loops.yaml
diff <(sed -n '3,$p' operators) <(sed -n '3,$p' out) || fail 'projected mass, factors or forces differ'

# ---- the same motion: all coordinates, speeds and accelerations, energies, a node
same_motion() { # same_motion EMBEDDED LOOPS
	local model
	for model in "$1" "$2"; do
		calder 0 run "$model.yaml" -q -d 1 --rtol 1e-12 --atol 1e-13 -s q -s u -s udot -s energy -s node:bucket/rim \
			-s balance -o "$model.csv"
	done
	awk -F, '
		/^#/ || /^t / { next }
		FNR == NR { row[$1] = $0; next }
		{
			n = split(row[$1], other, ",")
			if (n != NF) { print "columns differ at t = " $1; bad = 1; exit }
			for (i = 2; i <= NF; i++) {
				size = $i < 0 ? -$i : $i
				off = $i - other[i]
				if ((off < 0 ? -off : off) > 1e-8 * (size + 1)) { print "t = " $1 ", column " i ": " $i ", " other[i]; bad = 1 }
			}
			rows++
		}
		END { exit bad || rows < 100 }' "$1.csv" "$2.csv" || fail "motion of $1 and $2"
}
# ---- linear equations about a moving state: those of the loop, whose null space moves, are those of the tree
same_modes() { # same_modes EMBEDDED LOOPS
	command -v python3 >/dev/null || return 0
	local model
	for model in "$1" "$2"; do
		calder 0 modes --system "$model.yaml" --at 0.7 --json
		mv out "$model.json"
	done
	python3 - "$1.json" "$2.json" <<'PY' || fail "modes of $1 and $2"
import json, sys
def roots(name):
    found = []
    def walk(part):
        if isinstance(part, dict) and "real" in part and "imag" in part:
            found.append((part["real"], part["imag"]))
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []:
            walk(inner)
    walk(json.load(open(name)))
    return found
a, b = (roots(name) for name in sys.argv[1:])
off = max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))
assert len(a) == len(b) >= 4 and off < 1e-6, (len(a), len(b), off)
PY
}
same_motion arm loops
same_modes arm loops

# ---- springs, dampers and rotors of its joints, dependent or not
for model in arm loops; do
	sed -e 's/to: crank\(, independent: true\)*}/to: crank\1, dof: {stiffness: 20 N m\/rad, rest: 1 rad, rotor_inertia: 2e-4, gear_ratio: 30}}/' \
		-e 's/to: coupler}/to: coupler, dof: {stiffness: 60 N m\/rad, rest: -40 deg, damping: 0.6 N m s\/rad}}/' \
		-e 's/to: rocker}/to: rocker, dof: {damping: 2 N m s\/rad, rotor_inertia: 0.05}}/' "$model.yaml" >"$model"_springs.yaml
	[ "$(grep -c 'dof:' "$model"_springs.yaml)" -eq 3 ] || fail "springs of $model"
done
same_motion arm_springs loops_springs
same_modes arm_springs loops_springs

# ---- one branch, the same bits; written and read again
calder 0 run arm.yaml -q -d 0.1 -s q -o one.csv
calder 0 run arm.yaml -q -d 0.1 -s q --threads 2 --branches 2 -o two.csv
cmp <(grep -v '^#' one.csv) <(grep -v '^#' two.csv) || fail 'branches change bits'
calder 0 convert arm.yaml -o again.yaml
grep -q 'embed: true' again.yaml || fail 'embed is not written'
calder 0 info again.yaml
stdout_has 'independent crank; dependent pin, rocker'
calder 0 run again.yaml -q -d 0.1 -s q -o again.csv
cmp <(grep -v '^#' one.csv) <(grep -v '^#' again.csv) || fail 'the file written again moves differently'

# ---- refused
refused() { # refused SED TEXT
	sed -e "$1" arm.yaml >bad.yaml
	calder 3 run bad.yaml -q -d 0.01
	stderr_has "$2"
}
refused 's/embed: true/embed: true, open: true/' 'an embedded loop cannot be open; remove "open" or "embed"'
refused 's/to: bucket}/to: bucket, independent: true}/' 'joint "bucket" of an embedded loop: it is not part of a loop that is embedded'
refused 's/, embed: true//' 'joint "crank" of an embedded loop: it is not part of a loop that is embedded'
refused 's/joint: crank/joint: pin/' 'device "crank_motor" \(servo\): .* or is a dependent joint of an embedded loop'
refused 's/pin: {q: -60 deg, guess: true}/pin: {q: -60 deg, u: 1 rad\/s}/' 'state of joint "pin": it is a dependent joint of an embedded loop, whose speed follows'
refused 's/45 cm/4 cm/g' 'embedded loop "wrist": it cannot be closed from the coordinates given'
sed 's/^run:/loads: [{joint: rocker, effort: 1}]\nrun:/' arm.yaml >bad.yaml
calder 3 run bad.yaml -q -d 0.01
stderr_has 'load 1 .*"rocker": it is a dependent joint of an embedded loop'
calder 3 run arm.yaml -q -d 0.01 -s reaction:crank
stderr_has 'signal "reaction:crank": the joint is part of an embedded loop, in which forces are not known'

# ---- a dead center: the rocker of a crank-rocker cannot turn round
sed -e 's/to: rocker\/end}/to: rocker\/end, embed: true}/' -e 's/from: ground\/b, to: rocker}/from: ground\/b, to: rocker, independent: true}/' \
	-e 's/crank: {q: 90 deg, u: 18 rad\/s}/crank: {q: 90 deg}/' -e 's/rocker: {q: 85 deg, guess: true}/rocker: {q: 95.9 deg, u: 8 rad\/s}/' \
	"$SOURCE_DIR/examples/four_bar.yaml" >dead.yaml
calder 4 run dead.yaml -q
stderr_has 'embedded loop "wrist": .* the independent joint "rocker"'
calder 4 run dead.yaml -q --method dopri5 # whose steps would shrink towards it without end
stderr_has 'embedded loop "wrist": its configuration is singular: the independent joint "rocker" .* \(a dead center\); choose another'

exit $((failures > 0))
