#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder linearize`: matrices of a cart with a pole in all four formats, read by readers that know nothing of Calder; poles against
# roots of the characteristic polynomial; plots; what does not fit is refused by name.
set -u
# shellcheck source=test/cli/expect.sh
source "$SOURCE_DIR/test/cli/expect.sh"
has() { grep -qE -- "$2" "$1" || fail "$1 lacks: $2"; }

cat >cart.yaml <<'YAML'
calder: 1
title: Cart with a pole
gravity: [0, 0, -9.80665]
bodies:
  cart: {mass: 3}
  pole: {mass: 0.5, com: [0, 0, 0.6], inertia: [0.04, 0.05, 0.01], nodes: {tip: [0, 0, 1.2]}}
joints:
  slide: {type: prismatic, axis: x, to: cart, dof: {damping: 0.7}}
  hinge: {type: revolute, axis: y, from: cart, to: pole}
devices:
  push: {type: thruster, node: pole/tip, direction: x, thrust: 2 N, throttle: 0}
run: {duration: 1 s}
YAML

calder 0 linearize cart.yaml --input force:slide --input device:push.throttle --output q:hinge --output pose:pole/tip.x \
	-o cart.json -o cart.csv -o cart.mat --bode bode.svg --step-plot step.svg --duration 2
skip_without_yaml
has out 'linear at t = 0 s, 4 states, 2 inputs, 2 outputs'
has out 'states      q:slide \[m\], q:hinge \[rad\], u:slide \[m/s\], u:hinge \[rad/s\]'
has out 'UNSTABLE'
has out 'zero'
has bode.svg 'magnitude'
has bode.svg 'Cart with a pole: frequency response'
has step.svg 'pose:pole/tip.x'

# A reader of MATLAB files, level 5, by its specification; then all formats against the closed form.
cat >compare.py <<'PY'
import csv, json, struct, sys

def elements(data, at, end):
    while at < end:
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8:at + 8 + size]
        at += 8 + size + (-size % 8 if kind != 14 else 0)

def variable(data):
    parts = list(elements(data, 0, len(data)))
    assert [p[0] for p in parts[:3]] == [6, 5, 1], parts[:3]
    kind = struct.unpack("<I", parts[0][1][:4])[0] & 255
    rows, columns = struct.unpack("<2i", parts[1][1])
    name = parts[2][1].decode()
    if kind == 6:
        assert parts[3][0] == 9
        numbers = struct.unpack(f"<{rows * columns}d", parts[3][1])
        return name, [[numbers[j * rows + i] for j in range(columns)] for i in range(rows)]
    if kind == 4:
        return name, parts[3][1].decode("utf-16-le")
    assert kind == 1 and len(parts) - 3 == rows * columns
    return name, [variable(p[1])[1] for p in parts[3:]]

raw = open("cart.mat", "rb").read()
assert raw[:19] == b"MATLAB 5.0 MAT-file" and raw[124:128] == b"\x00\x01IM", raw[:128]
mat = dict(variable(body) for kind, body in elements(raw, 128, len(raw)))

m, M, l, g, b, thrust, tip = 0.5, 3, 0.6, 9.80665, 0.7, 2, 1.2
J = 0.05 + m * l * l
det = (M + m) * J - (m * l) ** 2
A = [[0, 0, 1, 0], [0, 0, 0, 1],
     [0, -(m * l) * m * g * l / det, -b * J / det, 0],
     [0, (M + m) * m * g * l / det, b * m * l / det, 0]]
# The thruster pushes cart and pole with F, the pole with F tip about the hinge.
B = [[0, 0], [0, 0],
     [J / det, thrust * (J - m * l * tip) / det],
     [-m * l / det, thrust * (-m * l + (M + m) * tip) / det]]
C = [[0, 1, 0, 0], [1, tip, 0, 0]]
want = {"A": A, "B": B, "C": C, "D": [[0, 0], [0, 0]]}

names = {"states": ["q:slide", "q:hinge", "u:slide", "u:hinge"], "state_units": ["m", "rad", "m/s", "rad/s"],
         "inputs": ["force:slide", "device:push.throttle"], "input_units": ["N", "1"],
         "outputs": ["q:hinge", "pose:pole/tip.x"], "output_units": ["rad", "m"]}

def worst(got):
    return max(abs(x - y) for k, rows in want.items() for r, w in zip(got[k], rows, strict=True)
               for x, y in zip(r, w, strict=True))

read = json.load(open("cart.json"))
table = {k: {} for k in want}
for row in csv.DictReader(open("cart.csv")):
    if row["matrix"] in table:
        table[row["matrix"]][row["row"], row["column"]] = float(row["value"])
shape = {"A": ("states", "states"), "B": ("states", "inputs"), "C": ("outputs", "states"), "D": ("outputs", "inputs")}
from_csv = {k: [[table[k][r, c] for c in names[cs]] for r in names[rs]] for k, (rs, cs) in shape.items()}
for label, got in (("json", read), ("mat", mat), ("csv", from_csv)):
    error = worst(got)
    print(label, "differs by", error)
    assert error < 1e-9, label
for key, list_ in names.items():
    assert read[key] == list_ and mat[key] == list_, (key, mat[key])
assert read["A"] == mat["A"] == from_csv["A"]  # the same bits
PY
python3 compare.py || fail "formats"

# HDF5 has the same numbers.
"$CALDER" linearize cart.yaml -o cart.h5 >out 2>err || grep -q 'without HDF5' err || fail "cart.h5"
if [ -e cart.h5 ]; then
	calder 0 linearize cart.yaml --input force:slide --output q:hinge -o cart.h5
	if command -v h5dump >/dev/null; then
		h5dump -d /states cart.h5 >dump || fail h5dump
		has dump 'q:slide'
		h5dump -d /A cart.h5 >dump || fail h5dump
		has dump '( 4, 4 )'
	fi
fi

# Poles: the oscillation of a hanging pole.
calder 0 linearize "$SOURCE_DIR/examples/pendulum.yaml" --json --at 1
python3 - <<'PY' || fail "poles"
import json
p = json.load(open("out"))
a = p["A"][1][0]
assert p["time"] == 1 and len(p["poles"]) == 2
assert abs(p["poles"][0]["imag"] - (-a) ** 0.5) < 1e-9 if a < 0 else abs(abs(p["poles"][0]["real"]) - a ** 0.5) < 1e-9
PY

# At the equilibrium: sqrt(3 g / 2 l) of the hanging rod.
calder 0 linearize "$SOURCE_DIR/examples/pendulum.yaml" --trim --json
python 'import json; p = json.load(open("out")); assert abs(p["poles"][0]["imag"] - (1.5 * 9.81) ** 0.5) < 1e-12, p["poles"]
assert max(map(abs, p["rate"])) < 1e-12'

# Torque to rate of a spacecraft: the bare hub is 1/(s J); slow torques move the wings along with it.
calder 0 linearize "$SOURCE_DIR/examples/attitude_bode.yaml" --input device:wheel.torque --output u:flight.wx \
	--input device:bare_wheel.torque --output u:bare_flight.wx --json
python 'import json; p = json.load(open("out")); n = [s["name"] for s in p["states"]]
row = lambda name: p["B"][n.index(name)]
J = 400 / 12 * (1.2 ** 2 + 1.5 ** 2)
assert abs(row("u:bare_flight.wx")[1] * J + 1) < 1e-9 and row("u:bare_flight.wx")[0] == 0
assert -1 / J < row("u:flight.wx")[0] < -1 / 619 and row("u:flight.wx")[1] == 0
found = [x for x in p["poles"] if abs(x["frequency_hz"] - 0.293106) < 1e-5]
assert found and abs(found[0]["damping_ratio"] - 0.01002) < 1e-5, found'

# Along a run: each time is that of --at, in all formats.
calder 0 linearize cart.yaml --input force:slide --output q:hinge --at 0.2 --every 0.1 --until 0.5 -o along.json -o along.csv \
	-o along.mat
has out 'linear at 4 times'
calder 0 linearize cart.yaml --input force:slide --output q:hinge --at 0.2 --every 0.3 --json
cp out two.json
calder 0 linearize cart.yaml --input force:slide --output q:hinge --at 0.5 -o once.json
cat >along.py <<'PY'
import csv, json, struct
s, once = json.load(open("along.json")), json.load(open("once.json"))
assert len(s["time"]) == 4 and abs(s["time"][3] - 0.5) < 1e-15, s["time"]
for key in "ABCD":
    error = max(abs(x - y) for a, b in zip(s[key][3], once[key]) for x, y in zip(a, b))
    assert error < 1e-9, (key, error)  # the run has been interrupted at other times
assert s["A"][0] != s["A"][3] and len(s["rate"]) == 4 and len(s["warning"]) == 4
assert s["states"] == once["states"]
rows = [r for r in csv.DictReader(open("along.csv")) if r["matrix"] == "A" and abs(float(r["time"]) - 0.5) < 1e-12]
assert [float(r["value"]) for r in rows] == [x for row in s["A"][3] for x in row]
two = json.load(open("two.json"))
assert [round(x["time"], 9) for x in two] == [0.2, 0.5, 0.8] and len(two[0]["poles"]) == 4
data, at, found = open("along.mat", "rb").read(), 128, {}
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    body, at = data[at + 8:at + 8 + size], at + 8 + size
    dims = struct.unpack_from("<I", body, 20)[0] // 4
    shape = struct.unpack_from(f"<{dims}i", body, 24)
    name_at = 24 + (4 * dims + 7) // 8 * 8
    length = struct.unpack_from("<I", body, name_at + 4)[0]
    name = body[name_at + 8:name_at + 8 + length].decode()
    if body[8] == 6:
        first = name_at + 8 + (length + 7) // 8 * 8
        count = struct.unpack_from("<I", body, first + 4)[0] // 8
        found[name] = shape, struct.unpack_from(f"<{count}d", body, first + 8)
assert found["A"][0] == (4, 4, 4) and found["time"][0] == (1, 4) and found["rate"][0] == (4, 4), found["A"][0]
assert all(found["A"][1][k * 16 + j * 4 + i] == s["A"][k][i][j] for k in range(4) for i in range(4) for j in range(4))
PY
python3 along.py || fail "along a run"
if [ -e cart.h5 ] && command -v h5dump >/dev/null; then
	calder 0 linearize cart.yaml --input force:slide --every 0.5 -o along.h5
	h5dump -d /B along.h5 >dump || fail h5dump
	has dump '( 3, 4, 1 )'
	h5dump -d /time along.h5 >dump || fail h5dump
	has dump '0, 0.5, 1'
fi
calder 2 linearize "$SOURCE_DIR/examples/pendulum.yaml" --every 0
stderr_has "every takes a time above zero"
calder 2 linearize cart.yaml --every 0.1 --trim
calder 2 linearize cart.yaml --until 0.1
calder 2 linearize cart.yaml --every 0.1 --at 5

# Loops: states are those that are asked for.
calder 0 linearize "$SOURCE_DIR/examples/four_bar.yaml" --independent crank
has out 'q:crank \[rad\], u:crank \[rad/s\]'
calder 3 linearize "$SOURCE_DIR/examples/four_bar.yaml" --independent crank --independent rocker
has err 'not as many as its mobility'
calder 3 linearize "$SOURCE_DIR/examples/four_bar.yaml" --independent cranck
has err 'did you mean "crank"'

# What does not fit.
calder 3 linearize cart.yaml --input force:hing
has err 'did you mean "force:hinge"'
calder 3 linearize cart.yaml --input device:push.thrust
has err 'takes throttle'
calder 3 linearize cart.yaml --output q:hinge -o cart.xls
has err '.json, .csv, .mat or .h5'
calder 2 linearize cart.yaml --bode b.svg
has err 'at least one --input'
calder 2 linearize cart.yaml --from '1 Hz'
calder 2 linearize cart.yaml --input force:slide --output q:hinge --bode x.svg --from 3
has err 'with its unit'
calder 2 linearize cart.yaml -o cart.yaml
calder 2 linearize cart.yaml -o same.json -o same.json
calder 2 linearize

# Transfer functions: (J s^2 - m g l)/det and -m l s^2/det of the cart; a zero at a pole is left out, and no way is no transfer.
calder 0 linearize cart.yaml --input force:slide --output q:slide --output q:hinge --output pose:cart.y --transfer
has out 'transfer    force:slide to q:slide: gain 0.32[0-9]*, 2 zeros, 4 poles$'
has out 'transfer    force:slide to q:hinge: gain -0.41[0-9]*, 1 zero, 3 poles; 1 zero at a pole is left out$'
has out 'transfer    force:slide to pose:cart.y: none$'
calder 0 linearize cart.yaml --input force:slide --output q:slide --output q:hinge --transfer --json
python 'import json, math; t = json.load(open("out"))["transfer"]
m, M, l, g = 0.5, 3, 0.6, 9.80665
J = 0.05 + m * l * l; det = (M + m) * J - (m * l) ** 2
assert abs(t[0]["gain"] - J / det) < 1e-12 and abs(t[1]["gain"] + m * l / det) < 1e-12
z = sorted(x["real"] for x in t[0]["zeros"]); root = math.sqrt(m * g * l / J)
assert len(z) == 2 and abs(z[0] + root) < 1e-9 and abs(z[1] - root) < 1e-9, z
assert len(t[1]["zeros"]) == 2 and all(x["frequency_hz"] < 1e-6 for x in t[1]["zeros"])'
calder 2 linearize cart.yaml --transfer --input force:slide
calder 2 linearize cart.yaml --transfer --input force:slide --output q:slide --every 0.1 --until 1

exit $((failures > 0))
