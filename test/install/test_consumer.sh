#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the build into an empty folder, whole and in parts, and builds the C and C++ pendulum outside of the sources: by the
# CMake package and by pkg-config, each against the static and the shared library. All print the same digits.
# Exit code 77 (skipped) in builds with sanitizers: their flags are not part of an installation.
set -euo pipefail

grep -q '^CALDER_SANITIZE:STRING=.' "$BUILD_DIR/CMakeCache.txt" && exit 77
fail() { echo "$1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
has_cpp=no
command -v c++ >/dev/null && has_cpp=yes
cmake --install "$BUILD_DIR" --prefix "$work/prefix" >/dev/null
libdir=$(dirname "$(find "$work/prefix" -name libcalder.a)")
cp -r "$SOURCE_DIR/test/install" "$work/consumer"
cp "$SOURCE_DIR"/examples/c/pendulum.c "$SOURCE_DIR"/examples/cpp/pendulum.cpp "$work/consumer"

"$BUILD_DIR/examples/pendulum" >"$work/expected"
same_digits() { "$@" | diff - "$work/expected" || fail "$* prints other digits than the example of the build"; }

# ---- the CMake package ----
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$BUILD_DIR/CMakeCache.txt")
configure() { # FOLDER PREFIX COMPONENTS
	cmake -G "$generator" -S "$work/consumer" -B "$1" -DCMAKE_PREFIX_PATH="$2" -DPARTS="$3" >"$work/log" 2>&1
}
if [ $has_cpp = yes ]; then
	configure "$work/build" "$work/prefix" "" || { cat "$work/log"; exit 1; }
	cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
	for library in calder $([ ! -e "$libdir/libcalder.so" ] || echo calder_shared); do
		"$work/build/${library}_main_c"
		same_digits "$work/build/${library}_pendulum_c"
		same_digits "$work/build/${library}_pendulum_cpp"
	done
	grep -q "^calder" "$work/build/version.txt" || fail "calder::calder_cli does not run"
	if configure "$work/none" "$work/prefix" nonsense; then fail "find_package() finds a component that does not exist"; fi
	configure "$work/static" "$work/prefix" static || { cat "$work/log"; exit 1; }
fi

# ---- pkg-config ----
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags=$(pkg-config --cflags calder)
compile() { # PROGRAM LIBRARY...
	local out=$1
	shift
	# shellcheck disable=SC2086
	cc $flags "$work/consumer/pendulum.c" -o "$out" "$@"
	# shellcheck disable=SC2086
	[ $has_cpp = no ] || c++ -std=c++17 $flags "$work/consumer/pendulum.cpp" -o "$out.cpp" "$@"
}
# shellcheck disable=SC2046
compile "$work/with_static" "$libdir/libcalder.a" $(pkg-config --libs --static calder | sed 's/-lcalder//')
same_digits "$work/with_static"
[ $has_cpp = no ] || same_digits "$work/with_static.cpp"
if [ -e "$libdir/libcalder.so" ]; then
	# shellcheck disable=SC2046
	compile "$work/with_shared" $(pkg-config --libs calder)
	same_digits env LD_LIBRARY_PATH="$libdir" "$work/with_shared"
	[ $has_cpp = no ] || same_digits env LD_LIBRARY_PATH="$libdir" "$work/with_shared.cpp"

	# The name that programs ask for holds the number of the binary interface, and the file that it links to the version.
	abi=$(sed -n 's/^set(abi_version \([0-9]*\))$/\1/p' "$SOURCE_DIR/CMakeLists.txt")
	soname=$(objdump -p "$libdir/libcalder.so" | sed -n 's/^ *SONAME *//p')
	[ "$soname" = "libcalder.so.$abi" ] || fail "SONAME is $soname, not libcalder.so.$abi"
	[ "$(readlink "$libdir/libcalder.so.$abi")" = "libcalder.so.$abi.$("$work/prefix/bin/calder" --version | sed -n '1s/^calder //p' | cut -d' ' -f1)" ] ||
		fail "libcalder.so.$abi links to $(readlink "$libdir/libcalder.so.$abi")"

	# What is visible is what the headers declare: no more, no less.
	nm -D --defined-only "$libdir/libcalder.so" | awk '{print $3}' | sort >"$work/visible"
	cat "$work"/prefix/include/calder/*.h | tr '\n' ' ' | grep -oE 'CAL_API [^;(]*\bcal_[a-z0-9_]+ *\(' | grep -oE 'cal_[a-z0-9_]+ *\($' |
		tr -d ' (' | sort -u >"$work/declared"
	diff "$work/declared" "$work/visible" || fail "declared (<) and visible (>) symbols differ"
fi
"$work/prefix/bin/calder" --version

# ---- what an installation has beside the library ----
for file in share/doc/calder/README.md share/doc/calder/LICENSE share/doc/calder/docs/index.md share/doc/calder/examples/pendulum.yaml \
	share/doc/calder/examples/cpp/pendulum.cpp share/calder/calder.schema.json share/man/man1/calder-run.1 \
	share/bash-completion/completions/calder share/zsh/site-functions/_calder share/fish/vendor_completions.d/calder.fish; do
	[ -s "$work/prefix/$file" ] || fail "the installation has no $file"
done
"$work/prefix/bin/calder" check "$work/prefix/share/doc/calder/examples/pendulum.yaml" >/dev/null

# ---- parts: together they are the whole; development works without the program ----
for part in runtime development tool documentation; do
	cmake --install "$BUILD_DIR" --prefix "$work/parts" --component $part >/dev/null
	if [ $part = development ] && [ $has_cpp = yes ]; then
		configure "$work/developer" "$work/parts" "" || { cat "$work/log"; exit 1; }
		if configure "$work/no_tool" "$work/parts" tool; then fail "find_package() finds a program that is not installed"; fi
	fi
done
diff <(cd "$work/prefix" && find . | sort) <(cd "$work/parts" && find . | sort) || fail "the parts are not the whole"
