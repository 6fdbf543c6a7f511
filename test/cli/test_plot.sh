#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder plot`, single columns as signals, and the pictures themselves: what is in a panel, numbers at the ticks, gaps,
# and that a line drawn with few points is still the line.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

# titles EXPECTED...: those of the panels of the picture on stdout, in order
titles() {
	local got expected
	got=$(sed -n 's/.*class="panel">\([^<]*\)<.*/\1/p' out | paste -sd '|')
	expected=$(printf '%s\n' "$@" | paste -sd '|')
	[ "$got" = "$expected" ] || fail "panels $got instead of $expected"
}

# ---- help, usage, input that is wrong
calder 0 plot --help
stdout_has '^example: calder plot'
calder 0 --help
stdout_has '^  plot '
calder 2 plot
stdout_empty
calder 2 plot --nonsense x.csv
stderr_has "Try 'calder plot --help'"
calder 3 plot missing.csv
stderr_has '^missing.csv: error: cannot be read'
printf 't [s],a [m],b [m]\n0,1,2\n1,,3\n2,5,x\n' >bad.csv
calder 3 plot bad.csv
stderr_has '^bad.csv:4: error: column "b".*not a number'
printf 't [s],a [m],b [m]\n0,1,2\n1,3\n' >bad.csv
calder 3 plot bad.csv
stderr_has '^bad.csv:3: error: 2 numbers under 3 column names'
printf 't [s],a",",b,c\n0,1\n' >bad.csv # quotes within names
calder 3 plot bad.csv
stderr_has '^bad.csv:2: error: 2 numbers under 3 column names'
printf 't [s],a [m]\n0,1\n2,1\n1,1\n' >bad.csv
calder 3 plot bad.csv
stderr_has '^bad.csv:4: error: .*goes back from 2 to 1'
printf 't [s],a [m]\n' >bad.csv
calder 3 plot bad.csv
stderr_has '^bad.csv:1: error: there are no numbers'
: >bad.csv
calder 3 plot bad.csv
stderr_has '^bad.csv:1: error: the file is empty'

# ---- panels
cat >table.csv <<'CSV'
t [s],q:a [rad],q:b [m],q:c [rad],node:x/tip.x [m],node:x/end.x [m],"odd, ""one"" [J]",tiny:p [kg m^2/s]
0,0,1,2,3,4,5,0
1,0.5,1,2,3,5,5,2e-9

2,1,1,,3,6,5,-1e-9
CSV
calder 0 plot table.csv
titles 'q [rad]' 'q [m]' 'node:x/tip [m]' 'node:x/end [m]' 'odd, "one" [J]' 'tiny [10⁻⁹ kg m²/s]'
stdout_has '<title>table.csv</title>'
calder 0 plot table.csv node:x/end.x node:x/tip.x q -t 'a < b'
titles 'node [m]' 'q [rad]' 'q [m]'
stdout_has '>x/end.x</text>'
stdout_has '>a &lt; b</text>'
calder 0 plot table.csv tiny -o table.svg
stdout_empty
grep -q '>−1.0</text>' table.svg || fail "the number at a tick is not that of the scale"
calder 3 plot table.csv q:d
stderr_has '^table.csv: error: there is no column "q:d"'
calder 3 plot table.csv q -o nowhere/x.svg
stderr_has '^nowhere/x.svg: error: cannot be written'
"$CALDER" plot - q:c <table.csv >out 2>err || fail "stdin"
grep -qE 'class="line" stroke="#[0-9a-f]*" d="M[0-9.]+ [0-9.]+L369.0 [0-9.]+"' out || fail "an empty cell is not a gap"

# ---- a long line, thinned: every sample within 0.3 px of what is drawn, and a spike of one sample kept
python3 - <<'PY' || fail "lines"
import math, re, subprocess, os
n = 20000
value = [math.sin(0.002 * i) + (5 if i == 7777 else 0) for i in range(n)]
smooth = [math.sin(0.01 * i) for i in range(500)]
def drawn(values):
    text = "t [s],y [m]\n" + "".join("%d,%.9g\n" % (i, v) for i, v in enumerate(values))
    run = subprocess.run([os.environ["CALDER"], "plot", "-"], input=text, capture_output=True, text=True, check=True)
    svg = run.stdout
    path = re.search(r'class="line" [^>]*d="(M[^"h]*)"', svg).group(1)
    return svg, [tuple(map(float, p.split())) for p in re.split("[ML]", path)[1:]]
svg, points = drawn(value)
assert len(svg) < 60000, len(svg)
assert sum(y < 110 for x, y in points) == 1, points   # the spike, alone above the rest
svg, points = drawn(smooth)
assert len(points) < 100, len(points)
ticks = [(float(y) - 4, float(v.replace("−", "-"))) for y, v in
         re.findall(r'y="([0-9.]+)" text-anchor="end">([^<]*)<', svg)]
(y0, v0), (y1, v1) = ticks[0], ticks[-1]
for i, v in enumerate(smooth):
    x = 78 + 582 * i / (len(smooth) - 1)
    y = y0 + (v - v0) * (y1 - y0) / (v1 - v0)
    k = next(k for k in range(1, len(points)) if points[k][0] >= x - 0.06)
    (xa, ya), (xb, yb) = points[k - 1], points[k]
    s = min(max((x - xa) / (xb - xa), 0), 1)
    assert abs(ya + s * (yb - ya) - y) < 0.3, (i, y, ya + s * (yb - ya))
PY

# ---- single columns, and the deflection of a node, from a run
arm=$SOURCE_DIR/examples/flexible_arm.yaml
calder 0 run "$arm" -q -d 0.5 -o one.csv \
	-s momentum:Lz -s u:elbow -s q:upper.eta2 -s node:payload.y -s reaction:wrist.mz
head -n 1 one.csv >out
stdout_has '^t \[s\],momentum:Lz \[kg m\^2/s\],u:elbow \[rad/s\],u:lower.etadot1 \[1/s\],u:lower.etadot2 \[1/s\],'
stdout_has ',q:upper.eta2 \[1\],node:payload.y \[m\],reaction:wrist.mz \[N m\]$'
calder 0 run "$arm" -q -d 0.5 -o all.csv -s q -s u -s momentum -s node:payload -s reaction:wrist -s deflection:upper/tip
python3 - <<'PY' || fail "single columns and deflections"
import csv
def table(path):
    rows = list(csv.reader(open(path)))
    return {name.split(" [")[0]: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}
one, all_ = table("one.csv"), table("all.csv")
for name in one:
    assert one[name] == all_[name], name
assert max(abs(x) for x in all_["deflection:upper/tip.dy"]) > 0.01
for e0, e1, dy, rz in zip(all_["q:upper.eta1"], all_["q:upper.eta2"], all_["deflection:upper/tip.dy"],
                          all_["deflection:upper/tip.rz"]):
    assert abs(dy - (e0 + e1)) < 1e-12                      # both shapes are 1 at the tip
    assert abs(rz - (0.69560 * e0 + 2.66199 * e1)) < 1e-12  # and these are their slopes
assert max(map(abs, all_["deflection:upper/tip.dz"] + all_["deflection:upper/tip.dx"])) < 1e-12
PY
calder 0 run "$arm" -q -d 0.2 --plot - momentum:Lz deflection:lower/tip.dy deflection:upper/tip.dy q
titles 'momentum [kg m²/s]' 'deflection [m]' 'q [rad]' 'q'
calder 0 run "$SOURCE_DIR/examples/pendulum.yaml" -q -d 0.2 -s deflection:rod/tip -o rigid.csv
awk -F, 'NR > 1 { for (i = 2; i <= NF; i++) if ($i * $i > 1e-24) exit 1 }' rigid.csv || fail "a rigid body deflects"
calder 3 run "$arm" -s momentum:Lw
stderr_has 'signal "momentum:Lw": there is no "Lw" among its components'
calder 3 run "$arm" -s q:wing
stderr_has 'signal "q:wing": the model has no joint'
calder 3 run "$arm" -s deflection:upper/end
stderr_has 'signal "deflection:upper/end": the model has no node'

# ---- PNG and PDF, by another program
printf 't [s],q [rad]\n0,1\n1,2\n' >small.csv
if command -v rsvg-convert >/dev/null; then
	calder 0 plot small.csv -o small.png
	[ "$(head -c 8 small.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "small.png is no PNG"
	calder 3 plot small.csv -o nowhere/small.png
	stderr_has '^nowhere/small.png: error: cannot be written'
	calder 0 plot small.csv -o small.pdf
	[ "$(head -c 5 small.pdf)" = %PDF- ] || fail "small.pdf is no PDF"
	grep -aq '/FontFile' small.pdf || fail "small.pdf does not have its fonts"
	calder 0 run -q -d 0.1 "$SOURCE_DIR/examples/pendulum.yaml" --plot run.pdf q
	[ "$(head -c 5 run.pdf)" = %PDF- ] || fail "run.pdf is no PDF"
fi
paths=$PATH
PATH=/nonexistent
calder 3 plot small.csv -o none.png
PATH=$paths
stderr_has '^none.png: error: PNG needs rsvg-convert'
PATH=/nonexistent
calder 3 plot small.csv -o none.pdf
PATH=$paths
stderr_has '^none.pdf: error: PDF needs rsvg-convert .Debian: librsvg2-bin'
[ ! -e none.pdf ] || fail "something was written"

# ---- what a reader needs: a title, whole legends, samples that can be seen
calder 0 run -q -d 0.1 "$SOURCE_DIR/examples/pendulum.yaml" -o titled.h5
calder 0 plot titled.h5
stdout_has '<title>Pendulum'
calder 0 plot titled.h5 -t mine
stdout_has '<title>mine</title>'
mkdir -p folder
cp small.csv folder/
calder 0 plot folder/small.csv
stdout_has '<title>small.csv</title>'
[ "$(grep -o 'h0' out | wc -l)" -eq 2 ] || fail "two samples are not marked"
python '
t = range(100)
value = lambda k: "" if k in (49, 51) else str(k)
open("gaps.csv", "w").write("t,a\n" + "".join("%d,%s\n" % (k, value(k)) for k in t))
names = ["k%d:%s_%d.angle" % (i // 5, "w" * (i + 1), i) for i in range(30)]
row = lambda k: ",".join([str(k)] + ["1"] * 30)
open("names.csv", "w").write(",".join(["t"] + names) + "\n" + row(0) + "\n" + row(1) + "\n")'
calder 0 plot gaps.csv
[ "$(grep -o 'h0' out | wc -l)" -eq 1 ] || fail "a sample between gaps is not marked, or others are"
calder 0 plot names.csv -t "$(printf 'word %.0s' {1..80})" -o names.svg
if command -v rsvg-convert >/dev/null; then # measured on the picture: nothing at its edges
	rsvg-convert --zoom=0.5 names.svg -o names.png
	python '
import struct, zlib
data = open("names.png", "rb").read()
width, height, _, kind = struct.unpack(">IIBB", data[16:26])
assert kind in (2, 6) and 2 * height <= 1080, (kind, height)
at, packed = 8, b""
while at < len(data):
    size, name = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if name == b"IDAT" else b""
    at += size + 12
raw, depth, last, edge = zlib.decompress(packed), 3 if kind == 2 else 4, None, 0
for y in range(height):
    start = y * (width * depth + 1)
    how, line = raw[start], bytearray(raw[start + 1:start + 1 + width * depth])
    last = last or bytes(len(line))
    for i in range(len(line)):
        a, b, c = line[i - depth] if i >= depth else 0, last[i], last[i - depth] if i >= depth else 0
        pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        paeth = a if pa <= pb and pa <= pc else b if pb <= pc else c
        line[i] = (line[i] + [0, a, b, (a + b) // 2, paeth][how]) & 255
    edge += min(line[-3 * depth:]) < 255
    last = bytes(line)
assert edge == 0, "%d rows have something at the right edge" % edge'
fi

# ---- a screenful, and what is not on it ----------------------------------------------------------------------

cat >streams.yaml <<'YAML'
calder: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints: {j: {type: free, to: a}}
run:
  duration: 1 s
  step: 0.05 s
  method: rk4
  output: [{name: main, interval: 0.1 s, signals: [q]}, {name: fast, interval: 0.05 s, signals: [u]}]
YAML
calder 0 run -q streams.yaml -o streams.h5 --plot streams.svg
stderr_has '^streams.svg: warning: not drawn: streams fast$'
grep -q '>not drawn: streams fast</text>' streams.svg || fail "the picture does not say what is not in it"
calder 0 plot streams.h5 -o plot.svg
stderr_has 'not drawn: streams fast \(--stream\)'
calder 0 plot streams.h5 --stream fast -o plot.svg
stderr_empty
python '
names = [f"k{i // 30}:c{i}" for i in range(300)]
open("wide.csv", "w").write(",".join(["t"] + names) + "\n" + "\n".join(",".join([str(t)] + ["1"] * 300) for t in range(3)) + "\n")'
calder 0 plot wide.csv -o wide.svg # ten panels of 30 lines
stderr_has '^wide.svg: warning: not drawn: 108 columns, beyond 8 panels of 24 lines; name those that you want$'
[ "$(grep -c 'class="frame"' wide.svg)" -eq 8 ] || fail "not eight panels"
[ "$(grep -c 'class="line"' wide.svg)" -eq $((2 * 8 * 24)) ] || fail "not 24 lines in each panel, with their legends"
calder 0 plot wide.csv k9 -o wide.svg
stderr_has 'not drawn: 6 columns'

echo "$failures failures"
[ "$failures" -eq 0 ]
