#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tables of the papers (./dev papers) can be made: the generated systems accelerate at their start as the references do, all
# tables run in short within their limits (order N and dense agree, an update in every step is exact, projected
# hinges do not drift), and the pages take tables and figures of this program.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$BUILD_DIR/bench/papers/papers
fail() {
	echo "FAIL: $*"
	exit 1
}

"$program" --start "$SOURCE_DIR/test/data/papers/start.csv" >"$work/start" || { cat "$work/start"; fail "accelerations at the start"; }
grep -qx "43 accelerations compared" "$work/start" || fail "a system is missing"
# The comparison is one: a changed number, a file without lines and a file that is not there do not pass.
sed 's/^16,48,122,24,8675.0,top,0.0515206/16,48,122,24,8675.0,top,0.0515207/' "$SOURCE_DIR/test/data/papers/start.csv" >"$work/wrong.csv"
! "$program" --start "$work/wrong.csv" >"$work/start" || fail "a wrong reference was taken"
grep -q "^16 .*WRONG" "$work/start" || fail "the wrong reference is not named"
! "$program" --start /dev/null >/dev/null || fail "success without references"
! "$program" --start /nowhere 2>/dev/null || fail "success without a file"

cp -r "$SOURCE_DIR/docs/papers" "$work/pages"
"$SOURCE_DIR/tools/papers" "$BUILD_DIR" "$work/pages" --quick >"$work/log" || { cat "$work/log"; fail "tools/papers"; }
[ "$(grep -c '^wrote table' "$work/log")" -eq 8 ] || { cat "$work/log"; fail "a table has no place in the pages"; }
[ "$(grep -c '^wrote .*svg' "$work/log")" -eq 4 ] || { cat "$work/log"; fail "a figure is missing"; }
# Pages that were made by another program differ in more than numbers: the same lines, each with the same columns. (Tables of
# up to 8 fields have numbers in their second column.)
shape() { grep '^|' "$1" | grep -v -e '---' | awk -F'|' '{print NF, $2, NF <= 8 ? "" : $3}'; }
for page in cases updates branches pendulum; do
	diff <(shape "$SOURCE_DIR/docs/papers/$page.md") <(shape "$work/pages/$page.md") ||
		fail "docs/papers/$page.md is not of this program: run ./dev papers"
done
grep -q "Scale of the run: quick" "$work/pages/README.md" || fail "the scale is not stated"

"$program" --quick "$work" nonsense 2>/dev/null && fail "an unknown table was taken"
"$program" --quick /nowhere pendulum 2>/dev/null && fail "success without a place to write to"
exit 0
