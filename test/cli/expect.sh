# SPDX-License-Identifier: Apache-2.0
#
# For scripts that test the command line, to be sourced: a folder of their own to work in, the program with its expected exit
# code, and what it said. What fails is printed with the command, and the script continues; it ends with `exit $((failures > 0))`
# or the like.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
export NO_COLOR=1

fail() {
	failures=$((failures + 1))
	echo "FAIL: $*"
	echo "  command: calder ${last[*]}"
	sed 's/^/  stdout: /' out | head -n 20
	sed 's/^/  stderr: /' err | head -n 20
}

# calder CODE ARGUMENT...: runs the program and expects the exit code.
calder() {
	local code=$1 got=0
	shift
	last=("$@")
	"$CALDER" "$@" >out 2>err </dev/null || got=$?
	[ "$got" -eq "$code" ] || fail "exit code $got instead of $code"
}
stdout_has() { grep -qE -- "$1" out || fail "stdout lacks: $1"; }
stdout_lacks() { ! grep -qE -- "$1" out || fail "stdout has: $1"; }
stderr_has() { grep -qE -- "$1" err || fail "stderr lacks: $1"; }
stdout_empty() { [ ! -s out ] || fail "stdout is not empty"; }
stderr_empty() { [ ! -s err ] || fail "stderr is not empty"; }
python() { python3 -c "$1" || fail "python: $1"; }
# Ends a script after a command that needed what this build has not: libyaml, a web server.
skip_without_yaml() { ! grep -q CALDER_WITH_YAML err || { echo "built without libyaml: skipped"; exit 77; }; }
skip_without_server() { ! grep -q "no web server" err || { echo "built without civetweb: skipped"; exit 77; }; }
# random_plan MODEL BODY JOINT: plan.yaml of two cases with a random mass.
random_plan() {
	cat >plan.yaml <<-YAML
	sweep: 1
	model: $1
	design: random
	cases: 2
	seed: 1
	parameters: {m: {target: bodies.$2.mass, uniform: {min: 1, max: 2}}}
	outputs: {q: {signal: q:$3}}
	YAML
}
# A Python that has these modules, or nothing: python_with MODULE...
python_with() {
	local candidate modules
	modules=$(IFS=,; echo "$*")
	for candidate in python3 /usr/bin/python3; do
		"$candidate" -c "import $modules" 2>/dev/null && echo "$candidate" && break
	done
}
