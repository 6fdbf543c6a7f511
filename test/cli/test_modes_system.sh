#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder modes --system` against eigenvalues that numpy finds for matrices assembled in absolute coordinates, and
# `formulation: system` from files and options: errors against order N go down with the time between updates, and what does
# not fit is refused by name. The comparison with numpy is left out where there is none; ./dev test installs it.
set -u
# shellcheck source=test/cli/expect.sh
source "$SOURCE_DIR/test/cli/expect.sh"

# Five masses in a row on springs and dampers without proportion, the last end free; seed 5.
cat >make.py <<'PY'
import json, random, sys
import numpy as np
random.seed(5)
n = 5
m = [random.uniform(1, 3) for _ in range(n)]
k = [random.uniform(50, 500) for _ in range(n)]
c = [random.uniform(0, 8) for _ in range(n)]
if sys.argv[1] == "model":
    print("calder: 1\ngravity: [0, 0, 0]\nbodies:")
    for i in range(n):
        print(f"  b{i}: {{mass: {m[i]!r}}}")
    print("joints:")
    for i in range(n):
        start = f"from: b{i - 1}, " if i else ""
        print(f"  j{i}: {{type: prismatic, axis: x, {start}to: b{i}, dof: {{stiffness: {k[i]!r}, damping: {c[i]!r}}}}}")
    print("run: {duration: 1 s}")
    sys.exit()
K, C = np.zeros((n, n)), np.zeros((n, n))
for i in range(n):
    d = np.zeros(n)
    d[i] = 1
    if i:
        d[i - 1] = -1
    K += k[i] * np.outer(d, d)
    C += c[i] * np.outer(d, d)
Mi = np.diag([1 / x for x in m])
A = np.block([[np.zeros((n, n)), np.eye(n)], [-Mi @ K, -Mi @ C]])
want = sorted((z for z in np.linalg.eigvals(A) if z.imag >= 0), key=lambda z: (z.real, z.imag))
got = []
for mode in json.load(open("out"))[0]["modes"]:
    got.append(complex(mode["real"], mode["imag"]))
got.sort(key=lambda z: (z.real, z.imag))
worst = max(abs(a - b) for a, b in zip(got, want))
print("largest difference of", len(got), "eigenvalues:", worst)
sys.exit(len(got) != len(want) or not worst < 1e-10)
PY
numpython=$(python_with numpy)
if [ -n "$numpython" ]; then
	"$numpython" make.py model >chain.yaml
	calder 0 modes chain.yaml --system --json
	"$numpython" make.py compare >compared || fail "numpy: $(cat compared)"
	cat compared
else
	echo "no numpy: not compared with it"
fi

# Options.
calder 0 modes "$SOURCE_DIR/examples/jsc_plate.yaml" --system --structural --modes 30
stdout_has "87 independent degrees of freedom of 105, 23 rigid-body modes"
# A turn that nothing holds is one mode, though the symmetric part of K does not show it in motion.
calder 0 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system
stdout_has "6 independent degrees of freedom of 6, 1 rigid-body mode"
[ "$(grep -c 'rigid-body  ' out)" -eq 1 ] || fail "a rigid-body mode is listed twice"
calder 0 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system --at 3s --max-frequency "20 Hz"
stdout_has "at t = 3 s"
stdout_has "[0-9] Hz"
calder 3 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system --group none
stderr_has "there is no group \"none\"; there are \"main\""
calder 2 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --at 1
stderr_has "need --system"
calder 2 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system --plot x.svg
stderr_has "--system takes"

# A pendulum with a spring: the delay of its matrices is none (M is constant), that of a double pendulum is not.
double() {
	cat <<YAML
calder: 1
gravity: [0, -9.81, 0]
define: {rod: &rod {mass: 1, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}}
bodies: {a: *rod, b: *rod}
joints: {ja: {type: revolute, to: a}, jb: {type: revolute, from: a/end, to: b, dof: {stiffness: 100}}}
run: {duration: 1 s, method: rk4, step: 1 ms, $1 output: {interval: 0.5 s, signals: [q]}}
YAML
}
double "" >exact.yaml
calder 0 run exact.yaml -o exact.csv
for update in 50 10 2; do
	double "formulation: system, update: $update ms," >run.yaml
	calder 0 run run.yaml --json -o "$update.csv"
	grep -oE '"error": [^,]*' out | head -n 1 | cut -d' ' -f2 >"$update.error"
done
awk -F'[ \n]' 'FNR == 1 {e[++n] = $1} END {exit !(n == 3 && e[2] < 0.5 * e[1] && e[3] < 0.5 * e[2] && e[3] > 0)}' 50.error \
	10.error 2.error || fail "errors do not go down: $(cat 50.error 10.error 2.error)"
distance() { paste -d, exact.csv "$1" | awk -F, 'END {d = $2 - $5; e = $3 - $6; print sqrt(d * d + e * e)}'; }
awk -v a="$(distance 50.csv)" -v b="$(distance 10.csv)" -v c="$(distance 2.csv)" 'BEGIN {exit !(b < 0.5 * a && c < 0.5 * b && c > 0)}' ||
	fail "positions do not approach order N: $(distance 50.csv) $(distance 10.csv) $(distance 2.csv)"

# Errors over time: after the first comparison the mean is that error, at the end it is that of the summary.
double "formulation: system, update: 10 ms," >run.yaml
calder 0 run run.yaml --json -i 10ms -s formulation -o errors.csv
mean=$(grep -oE '"error": [^,]*' out | head -n 1 | cut -d' ' -f2)
awk -F, -v mean="$mean" 'NR == 1 {bad = !($2 ~ /updates \[1\]/ && $3 ~ /:error \[1\]/ && $6 ~ /removed \[J\]/)}
	$2 == 2 {bad = bad || !($3 > 0 && $3 == $4)}
	{updates = $2; differ += $3 != $4; e = $4}
	END {exit !(!bad && updates == 100 && differ > 50 && (e / mean - 1) ^ 2 < 1e-8)}' errors.csv ||
	fail "$(head -n 5 errors.csv; tail -n 1 errors.csv) $mean"

# The same by options; the file's own can be taken back.
calder 0 run exact.yaml --formulation system --update 10ms -o options.csv
stdout_has "formulation system matrices, 100 updates; 2 of 2 modes retained"
cmp -s 10.csv options.csv || fail "options and file give different results"
calder 0 run run.yaml --formulation order-n -o back.csv
cmp -s exact.csv back.csv || fail "--formulation order-n is not order N"
calder 0 run exact.yaml --formulation system --update 10ms --retain "2 Hz" --unretained bounded
stdout_has "1 of 2 modes retained, up to .* Hz \(next"

# What does not fit.
calder 2 run exact.yaml --update 10ms
stderr_has "need --formulation system"
calder 2 run exact.yaml --formulation system --update 10ms --retain 40
stderr_has "write a frequency with its unit"
calder 3 run exact.yaml --formulation system
stderr_has "give the time between updates"
calder 3 run exact.yaml --formulation system --update 10ms -m implicit
stderr_has "the method implicit does not work"
calder 3 run exact.yaml --formulation system --update 10ms --threads 2
stderr_has "leave out threads"
calder 3 run "$SOURCE_DIR/examples/docking.yaml" -m rk4 --step 1ms --formulation system --update 10ms
stderr_has "changes of topology: not with formulation system"
for wrong in "update: 10 ms," "formulation: system," "formulation: dense," "formulation: system, update: 10 ms, retain: -4 Hz,"; do
	double "$wrong" >wrong.yaml
	calder 3 check wrong.yaml
	stderr_has "wrong.yaml:6:[0-9]+: error: run"
done
# Whirl of a rotor over its speed: roots of Jt w^2 - + Jp W w - k = 0.
calder 0 modes "$SOURCE_DIR/examples/rotor.yaml" --system --speed spin --from '0 rad/s' --to '600 rad/s' --points 7 --json
python 'import json, math; p = json.load(open("out"))["points"]; assert len(p) == 7
for x in p:
    g = 0.5 * x["rad_per_s"] / 0.6; root = math.sqrt(g * g + 1e4)
    want = sorted([(root - g) / (2 * math.pi), (root + g) / (2 * math.pi)])
    assert all(abs(a - b) < 1e-6 * b for a, b in zip(x["frequencies_hz"], want, strict=True)), (x, want)'
calder 0 modes "$SOURCE_DIR/examples/rotor.yaml" --system --speed spin --from '0 rad/s' --to '600 rad/s' --campbell rotor.svg
grep -q 'once per turn' rotor.svg || fail "rotor.svg"
calder 3 modes "$SOURCE_DIR/examples/rotor.yaml" --system --speed spn --from '0 rad/s' --to '600 rad/s'
calder 2 modes "$SOURCE_DIR/examples/rotor.yaml" --system --speed spin
calder 2 modes "$SOURCE_DIR/examples/rotor.yaml" --system --campbell x.svg

# Oscillations as a result file: two masses and two springs move by the golden ratio, the one that moves most by a tenth of 1 m; the
# bars of a parallelogram turn alike, whose loop is closed at every moment; --scale makes all of it larger.
cat >two.yaml <<'YAML'
calder: 1
gravity: [0, 0, 0]
bodies: {a: {mass: 1}, b: {mass: 1}}
joints:
  ja: {type: prismatic, axis: x, to: a, dof: {stiffness: 100}}
  jb: {type: prismatic, axis: x, from: a, to: b, dof: {stiffness: 100}}
run: {duration: 1 s}
YAML
calder 0 modes two.yaml --system --animate two.h5
calder 0 info two.h5
stdout_has 'events/log'
calder 0 inverse two.yaml two.h5 -o two.csv
python 'import csv, math; r = [list(map(float, x)) for x in list(csv.reader(open("two.csv")))[1:]]
assert len(r) == 193 and r[-1][0] == 4, (len(r), r[-1][0])
golden = (math.sqrt(5) - 1) / 2
for t, a, *_, in r:
    b = _[2]
    first = t < 2
    x = 0.1 * (1 if first else golden) * math.sin(2 * math.pi * t) # of the outer mass in the first, the inner in the second
    want = (golden * x, golden * golden * x) if first else (0.1 * math.sin(2 * math.pi * t), -(1 + golden) * 0.1 * math.sin(2 * math.pi * t))
    assert min(max(abs(s * a - want[0]), abs(s * b - want[1])) for s in (-1, 1)) < 1e-12, (t, a, b, want)'
calder 0 view two.h5 --json two.json
grep -q '"mode 2"' two.json && grep -q '2.57518 Hz' two.json || fail "the replay does not name the second mode"
cat >parallel.yaml <<'YAML'
calder: 1
gravity: [0, 0, 0]
ground: {nodes: {left: [0, 0, 0], right: [1, 0, 0]}}
define: {bar: &bar {mass: 1, rod: {from: [0, 0, 0], to: [0, 1, 0]}, nodes: {end: [0, 1, 0]}}}
bodies: {one: *bar, other: *bar, top: {mass: 1, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {end: [1, 0, 0]}}}
joints:
  j1: {type: revolute, to: one, dof: {stiffness: 50}}
  j2: {type: revolute, from: ground/right, to: other}
  jt: {type: revolute, from: one/end, to: top}
loops: {pin: {type: revolute, from: top/end, to: other/end}}
run: {duration: 1 s}
YAML
calder 0 modes parallel.yaml --system --animate parallel.h5 --scale 3
calder 0 inverse parallel.yaml parallel.h5 --joints j1 -o parallel.csv
calder 0 inverse parallel.yaml parallel.h5 --joints j2 -o other.csv
python 'import csv; a, b = ([[float(x) for x in y[:2]] for y in list(csv.reader(open(f)))[1:]] for f in ("parallel.csv", "other.csv"))
assert max(abs(x[1] - y[1]) for x, y in zip(a, b, strict=True)) < 1e-10
most = max(abs(x[1]) for x in a); assert abs(most - 3 * 0.1 * 2 ** 0.5) < 1e-3, most'
sed 's/one: \*bar/one: {mass: 1, rod: {from: [0, 0, 0], to: [0, 0.4, 0]}, nodes: {end: [0, 0.4, 0]}}/; s/end: \[1, 0, 0\]/end: [1, 0.6, 0]/' parallel.yaml >short.yaml
calder 0 modes short.yaml --system --animate short.h5 --scale 40
stderr_has 'loops cannot be closed in 12 of 97 frames'
calder 0 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system --animate arm.h5 --modes 40
cp two.yaml model.h5
calder 2 modes two.yaml --system --animate two.csv
stderr_has 'ends in .h5'
calder 2 modes two.yaml --animate two.h5
calder 2 modes two.yaml --system --scale 2
calder 2 modes model.h5 --system --animate model.h5
calder 3 modes "$SOURCE_DIR/examples/four_bar.yaml" --system --animate none.h5
stderr_has 'no mode oscillates'
calder 3 modes two.yaml --system --animate missing/two.h5
stderr_has 'missing/two.h5'

# Effective masses of a structure on the ground are its mass.
calder 0 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system --structural --masses --json
python 'import json; m = json.load(open("out"))[0]["modes"]
for k in range(2):
    total = sum(x["effective_mass"][k] for x in m)
    assert 0 < total < 1e3, total'
calder 0 modes "$SOURCE_DIR/examples/flexible_arm.yaml" --system --structural --masses
stdout_has 'effective mass'

exit $((failures > 0))
