#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The IFToMM problems A01 to A05 reach their error limits (bench/tables/iftomm.c in short), and docs/iftomm.md shows the
# table that the program prints: the same lines, each within its limits.
set -uo pipefail
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$BUILD_DIR/bench/iftomm" --short "$SOURCE_DIR/examples" >"$table"
rc=$?
cat "$table"
[ "$rc" -eq 0 ] || exit "$rc"
[ "$(grep -c '^| A0' "$table")" -eq 12 ] || { echo "FAIL: a problem is missing"; exit 1; }
# The program refuses what it cannot do instead of saying that all is well.
if "$BUILD_DIR/bench/iftomm" --short /nowhere >/dev/null 2>&1; then
	echo "FAIL: success without examples"
	exit 1
fi
# The heads agree, so that the page is not that of an older program.
grep -qxF "$(head -n 1 "$table")" "$SOURCE_DIR/docs/iftomm.md" || { echo "FAIL: docs/iftomm.md has another table"; exit 1; }
while IFS='|' read -r _ problem method _; do
	grep -qF "|$problem|$method|" "$SOURCE_DIR/docs/iftomm.md" || { echo "FAIL: docs/iftomm.md lacks $problem $method"; exit 1; }
done < <(grep '^| A0' "$table")
