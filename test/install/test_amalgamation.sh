#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The core in one source file (tools/amalgamate) compiles with one command, without a warning of the compiler's default set, needs
# nothing but the C library and threads, and gives the pendulum of README.md the digits of the library. Here with -O0, which takes a
# quarter of the time; `./dev amalgamate` does the same with -O2.
# Exit code 77 (skipped) in builds with sanitizers: nothing of them is in the file.
set -euo pipefail

grep -q '^CALDER_SANITIZE:STRING=.' "$BUILD_DIR/CMakeCache.txt" && exit 77
command -v python3 >/dev/null || exit 77
fail() { echo "$1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$SOURCE_DIR/tools/amalgamate" "$work"
sed 's,<calder/calder.h>,"calder.h",' "$SOURCE_DIR/examples/c/pendulum.c" >"$work/pendulum.c"
cd "$work"
cc "${AMALGAMATION_FLAGS:--O0}" -c calder.c >log 2>&1 || { head -n 20 log; exit 1; }
[ ! -s log ] || { head -n 20 log; fail "the compiler warns"; }
cc pendulum.c calder.o -o pendulum -lm -pthread
./pendulum >digits
"$BUILD_DIR/examples/pendulum" | diff - digits || fail "one file gives other digits than the library"

# Every function of the interface is there, and nothing else is wanted.
nm calder.o | awk '$2 == "T" && $3 ~ /^cal_/ {print $3}' | sort >defined
grep -oE '^CAL_API [^;(]*\bcal_[a-z0-9_]+ *\(' calder.h | grep -oE 'cal_[a-z0-9_]+ *\($' | tr -d ' (' | sort -u | comm -23 - defined >missing
[ ! -s missing ] || { cat missing; fail "calder.h declares what calder.c does not define"; }
wanted=$(nm -u calder.o | awk '{print $2}' | grep -iE '^(yaml_|XML_|H5|CVode|N_V|SUN|dlopen)' || true)
[ -z "$wanted" ] || fail "calder.c wants $wanted"
