#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/abi on small libraries: what is added passes, a changed structure and a missing function do not, a larger number of the
# interface does. Exit code 77 (skipped) without abidiff (Debian: abigail-tools).
set -euo pipefail

command -v abidiff >/dev/null && command -v abidw >/dev/null || exit 77
fail() { echo "$1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
library() { # NAME SONAME TYPE SOURCE
	mkdir -p "$1"
	echo "struct Pair { int a; $3 b; };" >"$1/pair.h"
	printf '#include "pair.h"\n%s\n' "$4" | cc -g -shared -fPIC -I"$1" -x c - -o "$1.so" -Wl,-soname,"$2"
}
abi() { "$SOURCE_DIR/tools/abi" "$1.so" "${@:2}" --baseline "$work/recorded.xz" --headers "$work/$1"; }
sum='int sum(struct Pair *p) { return p->a + (int)p->b; }' product='int product(struct Pair *p) { return p->a; }'
library first libtry.so.0 int "$sum"
library more libtry.so.0 int "$sum $product"
library wider libtry.so.0 double "$sum"
library gone libtry.so.0 int "$product"
library next libtry.so.1 int "$product"
if abi first >log 2>&1; then fail "passes without a record"; fi
abi first --renew >log
for good in first more next; do abi $good >log 2>&1 || { cat log; fail "$good.so is refused"; }; done
for bad in wider gone; do
	if abi $bad >log 2>&1; then fail "$bad.so passes"; fi
	grep -q "raise abi_version" log || { cat log; fail "$bad.so: no remedy is named"; }
done
