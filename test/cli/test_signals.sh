#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_signals.sh — the catalogue of quantities on the command line: its table in docs/format.md, the columns of a model, and
# names of earlier versions in options, files and result files.
source "$(dirname "$0")/expect.sh"

# The table of the documentation is that of the program.
"$CALDER" signals --markdown >table.md
sed -n '/^<!-- calder signals --markdown -->$/,/^<!-- end -->$/p' "$SOURCE_DIR/docs/format.md" | sed '1d;$d' >docs.md
cmp table.md docs.md || fail "docs/format.md: replace the table by that of 'calder signals --markdown'"
# Every function of docs/expressions.md that reads the simulation is a quantity, and every quantity of formulas is there.
"$CALDER" signals --markdown | grep -E '\| (yes|partly) \|$' | sed 's/^| `\([a-z_]*\).*/\1/' >words
while read -r word; do
	grep -q "\`$word(" "$SOURCE_DIR/docs/expressions.md" || fail "docs/expressions.md lacks $word()"
done <words

calder 0 signals
stdout_has '^deflection  *displacement and rotation vector'
calder 2 signals a.yaml b.yaml
calder 2 signals --markdown a.yaml

cat >model.yaml <<'END'
calder: 1
bodies: {arm: {mass: 1, box: [1, 1, 1], nodes: {tip: [1, 0, 0]}}, bird: {mass: 1, inertia: [1, 1, 1]}}
joints: {hinge: {type: revolute, to: arm}, flight: {type: free, to: bird}}
state: {hinge: {u: 1}, flight: {at: [1, 2, 3], angular_velocity: [0.1, 0.2, 0.3]}}
run: {duration: 0.1}
END
calder 0 signals model.yaml
stdout_has '^q:flight.qw \[1\]$'
stdout_has '^u:flight.wz \[rad/s\]$'
stdout_has '^pose:arm/tip.x \[m\]$'

# A name of a column is a signal; names with a comma are quoted in CSV files and drawn.
calder 0 run model.yaml -q -o out.csv -s q:flight.qw -s 'distance:arm/tip, bird' -s pose:arm/tip,bird.x
head -1 out.csv | grep -q '^t \[s\],q:flight.qw \[1\],"distance:arm/tip,bird \[m\]","pose:arm/tip,bird.x \[m\]"$' ||
	fail "header: $(head -1 out.csv)"
calder 0 plot out.csv distance:arm/tip,bird -o out.svg
grep -q 'arm/tip,bird' out.svg || fail "the distance is not in the picture"

# Names of earlier versions are answered with those of today.
old() { # name new
	calder 3 run model.yaml -q -s "$1"
	stderr_has "write \"$2\""
}
old q:flight.3 q:flight.qw
old u:flight.5 u:flight.wz
old pose:arm/tip:x pose:arm/tip.x
sed 's/duration: 0.1/duration: 0.1, output: {signals: ["pose:arm\/tip:x"]}/' model.yaml >old.yaml
calder 3 check old.yaml
stderr_has 'components follow a dot: write "arm/tip.x"'

# Tables of earlier versions are drawn as they are.
cat >old.csv <<'END'
t [s],q:flight.3 [1],q:boom.eta0 [1],pose:arm/tip:x [m],pose:arm/tip:y [m],energy@sky:total [J]
0,1,2,3,4,5
1,2,3,4,5,6
END
calder 0 plot old.csv -o old.svg
grep -q 'pose:arm/tip \[m\]' old.svg || fail "the components of a pose do not share a panel"
calder 0 plot old.csv pose:arm/tip q:flight.3 -o old.svg
echo "$failures failures"
[ "$failures" -eq 0 ]
