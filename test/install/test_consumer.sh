#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the build into an empty folder and builds a project outside of it in three ways: by the CMake
# package, by pkg-config against the static library, and by pkg-config against the shared one.
# Exit code 77 (skipped) in builds with sanitizers: their flags are not part of an installation.
set -euo pipefail

grep -q '^CALDER_SANITIZE:STRING=.' "$BUILD_DIR/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$BUILD_DIR" --prefix "$work/prefix" >/dev/null

generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$BUILD_DIR/CMakeCache.txt")
cmake -G "$generator" -S "$SOURCE_DIR/test/install" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 ||
	{ cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for program in "$work"/build/consumer "$work"/build/consumer_shared; do
	if [ -x "$program" ]; then "$program"; fi
done

libdir=$(dirname "$(find "$work/prefix" -name libcalder.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags=$(pkg-config --cflags calder)
# shellcheck disable=SC2086,SC2046
{
	cc $flags "$SOURCE_DIR/test/install/main.c" -o "$work/static" "$libdir/libcalder.a" \
		$(pkg-config --libs --static calder | sed 's/-lcalder//')
	"$work/static"
	if [ -e "$libdir/libcalder.so" ]; then
		cc $flags "$SOURCE_DIR/test/install/main.c" -o "$work/shared" $(pkg-config --libs calder)
		LD_LIBRARY_PATH=$libdir "$work/shared"
		# Nothing but the public interface may be visible.
		hidden=$(nm -D --defined-only "$libdir/libcalder.so" | awk '$2 ~ /[TDBR]/ && $3 !~ /^cal_/ {print $3}')
		[ -z "$hidden" ] || { echo "symbols without cal_ are visible: $hidden"; exit 1; }
	fi
}
"$work/prefix/bin/calder" --version

# What an installation has beside the library.
for file in share/doc/calder/README.md share/doc/calder/docs/index.md share/doc/calder/examples/pendulum.yaml \
	share/calder/calder.schema.json share/man/man1/calder-run.1 share/bash-completion/completions/calder \
	share/zsh/site-functions/_calder share/fish/vendor_completions.d/calder.fish; do
	[ -s "$work/prefix/$file" ] || { echo "the installation has no $file"; exit 1; }
done
"$work/prefix/bin/calder" check "$work/prefix/share/doc/calder/examples/pendulum.yaml" >/dev/null
