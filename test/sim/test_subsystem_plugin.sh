# SPDX-License-Identifier: Apache-2.0
#
# The compiled subsystem of docs/subsystems.md as a shared object: it compiles as printed there, and a plate with it moves as one
# with a welded ball; and what is said when a box cannot be loaded or is wrong.
set -eu
compiler=${CC:-cc}
command -v "$compiler" >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

awk '/^```c$/ {n++; on = n == 1; next} /^```$/ {on = 0} on' "$SOURCE_DIR/docs/subsystems.md" >"$folder/ball.c"
build() {
	"$compiler" -std=c17 -Wall -Wextra -Werror -shared -fPIC -I "$SOURCE_DIR/include" "$folder/$1.c" -o "$folder/$1.so" -lm
}
build ball
cat >"$folder/boxed.yaml" <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies: {plate: {mass: 2, box: [1, 0.5, 0.1], nodes: {in: [-0.5, 0, 0], top: [0.5, 0, 0.05]}}}
joints: {j: {type: universal, to: plate/in, axis: y, axis2: x}}
state: {j: {q: [0.3, 0.1], u: [1, 2]}}
subsystems:
  payload: {library: ball.so, arguments: "3 0.2", attach: {to: plate/top, interface: center, joint: weld}}
run: {duration: 1 s, output: {interval: 1 s, signals: [q, 'balance:error', 'total_momentum:Ly']}}
YAML
cat >"$folder/flat.yaml" <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies:
  plate: {mass: 2, box: [1, 0.5, 0.1], nodes: {in: [-0.5, 0, 0], top: [0.5, 0, 0.05]}}
  ball: {mass: 3, sphere: 0.2}
joints: {j: {type: universal, to: plate/in, axis: y, axis2: x}, k: {type: weld, from: plate/top, to: ball}}
state: {j: {q: [0.3, 0.1], u: [1, 2]}}
run: {duration: 1 s, output: {interval: 1 s, signals: [q, 'balance:error', 'total_momentum:Ly']}}
YAML
if ! output=$("$CALDER" run -q "$folder/boxed.yaml" -o - 2>&1); then
	case $output in *"without the system's loader"*) exit 77 ;; esac # a static program, or one under a sanitizer
	echo "$output" && exit 1
fi
same() { # boxed and flat, up to the accuracy of the integration
	awk -F, -v a="$(echo "$1" | tail -n 1)" -v b="$(echo "$2" | tail -n 1)" 'BEGIN {
		n = split(a, x, ","); split(b, y, ",")
		for (i = 1; i <= n; i++) if (x[i] == "" || x[i] - y[i] > 1e-7 || y[i] - x[i] > 1e-7) exit 1
		exit n != 5
	}' || { echo "differs: $1 and $2"; exit 1; }
}
flat=$("$CALDER" run -q "$folder/flat.yaml" -o -)
same "$output" "$flat"

# A box within a subsystem, tied to nodes of it; and written out again.
sed '/^run/d; s/^state/interface: [plate]\nstate/' "$folder/boxed.yaml" >"$folder/part.yaml"
cat >"$folder/nested.yaml" <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies: {}
subsystems: {one: {file: part.yaml}}
run: {duration: 1 s, output: {interval: 1 s, signals: [q, 'balance:error', 'total_momentum:Ly']}}
YAML
same "$("$CALDER" run -q "$folder/nested.yaml" -o -)" "$flat"
"$CALDER" convert "$folder/nested.yaml" -o "$folder/written.yaml" >/dev/null 2>&1
same "$("$CALDER" run -q "$folder/written.yaml" -o -)" "$flat"
"$CALDER" info "$folder/nested.yaml" | grep -q 'subsystem "one/payload": ball.so, compiled' ||
	{ "$CALDER" info "$folder/nested.yaml" && exit 1; }

# A file in a box, by the library itself.
if [ -e "$BUILD_DIR/libcalder.so" ] && "$CALDER" --version >/dev/null; then
	awk '/^```c$/ {n++; on = n == 2; next} /^```$/ {on = 0} on' "$SOURCE_DIR/docs/subsystems.md" >"$folder/box.c"
	"$compiler" -std=c17 -Wall -Wextra -Werror -shared -fPIC -I "$SOURCE_DIR/include" "$folder/box.c" -o "$folder/box.so" \
		-L "$BUILD_DIR" -lcalder -Wl,-rpath,"$BUILD_DIR"
	printf 'calder: 1\ngravity: [0, 0, -9.81]\ninterface: [ball]\nbodies: {ball: {mass: 3, sphere: 0.2}}\n' >"$folder/ball.yaml"
	printf 'joints: {j: {type: weld, to: ball}}\n' >>"$folder/ball.yaml"
	sed "s|ball.so, arguments: \"3 0.2\"|box.so, arguments: $folder/ball.yaml|; s/center/ball/" "$folder/boxed.yaml" >"$folder/file.yaml"
	if output=$("$CALDER" run -q "$folder/file.yaml" -o - 2>&1); then
		same "$output" "$flat"
	else
		case $output in *"cannot load"*) ;; *) echo "$output" && exit 1 ;; esac # libraries under a sanitizer
	fi
	# A motor with rotor, flexible gear and backlash, and friction in it.
	cp "$SOURCE_DIR/examples/components/geared_joint.yaml" "$folder"
	cat >"$folder/motor.yaml" <<-'YAML'
		calder: 1
		gravity: [0, 0, -9.81]
		bodies: {hub: {mass: 40, box: [1, 1, 1], nodes: {port: [0.5, 0, 0]}}}
		joints: {flight: {type: spherical, to: hub}}
		subsystems: {drive: {file: geared_joint.yaml, attach: {interface: housing/mount, to: hub/port}}}
		run: {duration: 1 s, method: dopri5, rtol: 1e-9, atol: 1e-11, output: {interval: 0.5 s, signals: ['u:flight']}}
	YAML
	sed "s|file: |library: $folder/box.so, arguments: $folder/|" "$folder/motor.yaml" >"$folder/drive.yaml"
	"$CALDER" run -q "$folder/motor.yaml" -o "$folder/motor.csv"
	if output=$("$CALDER" run -q "$folder/drive.yaml" -o "$folder/drive.csv" 2>&1); then
		paste -d, "$folder/motor.csv" "$folder/drive.csv" | awk -F, 'NR > 1 {
			for (i = 2; i <= 4; i++) if (($i - $(i + 4)) ^ 2 > 1e-16 || NF != 8) bad = 1; moved += $3 ^ 2
		} END {exit bad || NR != 4 || moved < 1e-4}' || { cat "$folder/motor.csv" "$folder/drive.csv" && exit 1; }
	else
		case $output in *"cannot load"*) ;; *) echo "$output" && exit 1 ;; esac
	fi
fi

# name of the box and its file, then what is wrong
expect() {
	if "$CALDER" run -q "$folder/$1" >"$folder/out" 2>&1 || ! grep -q "$2" "$folder/out"; then
		echo "wanted: $2" && cat "$folder/out" && exit 1
	fi
}
change() { # new file, and sed's command on the model, then on the box
	sed "$2" "$folder/boxed.yaml" | sed "s/ball.so/$1.so/" >"$folder/$1.yaml"
	sed "${3:-}" "$folder/ball.c" >"$folder/$1.c"
	build "$1"
}
sed 's/ball.so/nothing.so/' "$folder/boxed.yaml" >"$folder/missing.yaml"
expect missing.yaml 'missing.yaml:7:3: error: subsystem "payload": cannot load .*nothing.so'
change arguments 's/"3 0.2"/""/'
expect arguments.yaml 'subsystem "payload": .*arguments.so: give mass'
change interface 's/center/rim/'
expect interface.yaml 'subsystem "payload": it has no interface node "rim" (.*interface.so)'
change symbol '' 's/int calder_subsystem/int calder_other/'
expect symbol.yaml 'symbol.so has no function calder_subsystem'
change version '' 's/{CAL_SUBSYSTEM_API_VERSION, &ops/{CAL_SUBSYSTEM_API_VERSION + 1, \&ops/'
expect version.yaml 'subsystem "payload": it was built for version 4 .*version.so'
change skew '' 's/^	for (int i = 0; i < 6; i++)$/	Lambda[1] = 1;\n&/'
expect skew.yaml '"payload" .*not symmetric.*skew.so'
