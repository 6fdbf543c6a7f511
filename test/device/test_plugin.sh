# SPDX-License-Identifier: Apache-2.0
#
# The device of docs/devices.md as a shared object: it compiles as printed there, runs from a model file and slows a mass
# down as v0/(1 + c v0 t/m); and what is said when it cannot be loaded.
set -eu
compiler=${CC:-cc}
command -v "$compiler" >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

sed -n '/^```c$/,/^```$/p' "$SOURCE_DIR/docs/devices.md" | sed '/^```/d' >"$folder/drag.c"
"$compiler" -std=c17 -Wall -Wextra -Werror -shared -fPIC -I "$SOURCE_DIR/include" "$folder/drag.c" -o "$folder/drag.so" -lm
cat >"$folder/model.yaml" <<'YAML'
calder: 1
bodies:
  ball: {mass: 2 kg, sphere: 10 cm}
joints:
  rail: {type: prismatic, axis: x, to: ball}
state:
  rail: {u: 4 m/s}
devices:
  air: {type: shared, library: drag.so, arguments: "ball 0.5"}
run: {duration: 3 s, output: {interval: 3 s, signals: [u]}}
YAML
if ! output=$("$CALDER" run -q "$folder/model.yaml" -o - 2>&1); then
	case $output in *"without the system's loader"*) exit 77 ;; esac # a static program, or one under a sanitizer
	echo "$output" && exit 1
fi
speed=$(echo "$output" | tail -n 1 | cut -d, -f2)
awk -v got="$speed" 'BEGIN { want = 4 / (1 + 0.5 * 4 * 3 / 2); d = got - want; exit !(d < 1e-8 && d > -1e-8) }' ||
	{ echo "speed $speed, wanted 1"; exit 1; }

# name of the device, then what is wrong
expect() {
	if "$CALDER" run -q "$folder/$1" >"$folder/out" 2>&1 || ! grep -q "$2" "$folder/out"; then
		echo "wanted: $2" && cat "$folder/out" && exit 1
	fi
}
sed 's/drag.so/nothing.so/' "$folder/model.yaml" >"$folder/missing.yaml"
expect missing.yaml 'missing.yaml:9:3: error: device "air": cannot load .*nothing.so'
sed 's/"ball 0.5"/""/' "$folder/model.yaml" >"$folder/arguments.yaml"
expect arguments.yaml 'give the path of a node and a coefficient'
sed 's/"ball 0.5"/"box 0.5"/' "$folder/model.yaml" >"$folder/node.yaml"
expect node.yaml 'a node, joint or group that it acts on is not in the simulation'
