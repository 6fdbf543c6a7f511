#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/transitions runs in short: every kind of change is timed, and the table is complete.
set -euo pipefail
program=$BUILD_DIR/bench/transitions
[ -x "$program" ] || exit 77
table=$("$program" 6 2)
[ "$(grep -c '^| ' <<<"$table")" -eq 12 ] || { echo "$table"; exit 1; }
grep -q '^| change, 6 bodies, 35 degrees of freedom |' <<<"$table" || { echo "$table"; exit 1; }
if "$program" 0 1 2>/dev/null; then
	echo "a chain without bodies was not refused"
	exit 1
fi
