#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/release: two clones in two places give the same bytes; the checksums hold; the bill of materials names what is linked and what
# the viewer contains; a changelog without the version is refused. Exit code 77 (skipped) where the sources are no git checkout.
set -euo pipefail

git -C "$SOURCE_DIR" rev-parse --git-dir >/dev/null 2>&1 && command -v python3 >/dev/null || exit 77
fail() { echo "$1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
from=$(git -C "$SOURCE_DIR" rev-parse --show-toplevel)
for place in one two/deeper; do
	git clone -q --depth 1 "file://$from" "$work/$place"
	from=$work/one # the same commit, whatever happens to the first meanwhile
	cp "$SOURCE_DIR/tools/release" "$work/$place/tools/release"
	"$work/$place/tools/release" "$work/$place/out" --unchecked --build "$BUILD_DIR" >/dev/null
done
diff -r "$work/one/out" "$work/two/deeper/out" || fail "two places give different bytes"
(cd "$work/one/out" && sha256sum --check --quiet SHA256SUMS)
version=$("$SOURCE_DIR/tools/release" --version)
[ "calder $version" = "$("$CALDER" --version | head -n 1)" ] || fail "tools/release says $version"
tar -tzf "$work/one/out/calder-$version.tar.gz" >"$work/files"
grep -qx "calder-$version/include/calder/base.h" "$work/files" || fail "the archive has no base.h"
python3 - "$work/one/out/calder-$version.spdx.json" <<'TEXT'
import json, sys
bill = json.load(open(sys.argv[1]))
ids = [p["SPDXID"] for p in bill["packages"]]
assert len(ids) == len(set(ids)), "an id stands twice"
assert {"three", "uplot"} <= {p["name"] for p in bill["packages"]}, "the viewer's parts are missing"
assert any(r["relationshipType"] == "DYNAMIC_LINK" for r in bill["relationships"]), "nothing is linked"
assert all(r["relatedSpdxElement"] in ids for r in bill["relationships"])
TEXT

cd "$work/one"
git checkout -q -- tools
printf '# Changelog\n\n## Unreleased\n\n## %s - 2026-01-02\n\n- all\n' "$version" >CHANGELOG.md
git -c user.name=t -c user.email=t@localhost commit -qam release
cp "$SOURCE_DIR/tools/release" tools/release
git -c user.name=t -c user.email=t@localhost commit -qam tools --allow-empty
tools/release --check || fail "a tree that is ready is refused"
printf '\n' >>README.md
if tools/release --check 2>/dev/null; then fail "uncommitted changes pass"; fi
git checkout -q README.md
sed -i "s/^## $version.*/## 9.9.9 - 2026-01-02/" CHANGELOG.md
git -c user.name=t -c user.email=t@localhost commit -qam wrong
if tools/release --check 2>log; then fail "a changelog without the version passes"; fi
grep -q "CHANGELOG.md" log || fail "the changelog is not named"
