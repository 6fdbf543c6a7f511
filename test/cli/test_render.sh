#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder render`: frames at the times that they say, the same from run to run; films by ffmpeg; what is wrong is said. Without
# Chromium only the messages are checked.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >spin.yaml <<'YAML'
calder: 1
gravity: [0, 0, 0]
bodies:
  arm: {mass: 1, inertia: [1, 1, 1], visual: [{box: [2, 0.2, 0.2], at: [1, 0, 0], color: "#cc2222"}]}
joints: {axle: {type: revolute, axis: y, to: arm}}
state: {axle: {u: 90 deg/s}}
run: {duration: 1 s, step: 0.01 s, method: rk4, output: {interval: 0.1 s, signals: [q]}}
YAML
calder 0 run spin.yaml -q -o spin.h5
skip_without_yaml

# ---- what is wrong
calder 0 render --help
stdout_has '^example: calder run'
calder 2 render
calder 2 render spin.h5
stderr_has 'name the film or picture with -o'
calder 2 render spin.h5 -o film.gif
stderr_has 'ends in .mp4, .webm or .png'
calder 2 render spin.h5 -o film.mp4 --size 321x180
stderr_has 'even numbers, not 321x180'
calder 2 render spin.h5 -o film.mp4 --transparent
stderr_has 'films have no transparency'
calder 2 render spin.h5 -o a.png --size 9000x10
calder 2 render spin.h5 -o a.png --theme pink
calder 2 render spin.h5 -o film.mp4 --fps 0
calder 2 render spin.h5 -o film.mp4 --from 2 --to 1
calder 3 render missing.h5 -o a.png
calder 2 render spin.h5 -o spin.h5
paths=$PATH
PATH=/nonexistent
CHROMIUM='' calder 3 render spin.h5 -o a.png
PATH=$paths
stderr_has '^a.png: error: rendering needs Chromium .Debian: chromium.'
PATH=/nonexistent
calder 3 render spin.h5 -o a.mp4
PATH=$paths
stderr_has '^a.mp4: error: films need ffmpeg .Debian: ffmpeg.'
[ ! -e a.png ] && [ ! -e a.mp4 ] || fail "something was written"
CHROMIUM=false calder 3 render spin.h5 -o a.png
skip_without_server
stderr_has 'the browser has ended'

if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
	echo "no chromium: pictures are not checked, $failures failures"
	[ "$failures" -eq 0 ]
	exit
fi

# ---- pictures, and what cannot be shown
small=(--size 160x120 --camera front --no-stamp)
calder 0 render spin.h5 -o a.png "${small[@]}" --from 0.5
calder 3 render spin.h5 -o c.png --from 5
stderr_has '^c.png: error: cannot be rendered: there is nothing at 5 s: the run is from 0 s to 1 s'
calder 3 render spin.h5 -o c.png --camera elsewhere
stderr_has 'there is no camera "elsewhere"'
calder 3 render spin.h5 -o c.png --follow leg
stderr_has 'there is no body "leg"'
[ ! -e c.png ] || fail "c.png was written"

# ---- a film: an ffmpeg that keeps what it gets shows the frames; they are the pictures at their times
mkdir -p fake
cat >fake/ffmpeg <<'SH'
#!/usr/bin/env bash
for part; do :; done
cat >"$part"
SH
chmod +x fake/ffmpeg
PATH=$PWD/fake:$PATH
calder 0 render spin.h5 -o film.mp4 "${small[@]}" --fps 2
calder 0 render spin.h5 -o slow.mp4 "${small[@]}" --fps 10 --speed 0.5 --from 0.5 --to 0.6
PATH=$paths
python '
import struct, zlib
def frames(path):
    data = open(path, "rb").read()
    return [b"\x89PNG" + part for part in data.split(b"\x89PNG")[1:]]
def rows(png):
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (width, height, depth, kind) == (160, 120, 8, 6), (width, height, depth, kind)
    at, packed = 8, b""
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        packed += png[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += size + 12
    raw, last = zlib.decompress(packed), bytes(4 * width)
    for y in range(height):
        how, line = raw[y * (4 * width + 1)], bytearray(raw[y * (4 * width + 1) + 1:(y + 1) * (4 * width + 1)])
        for i in range(len(line)):
            a, b, c = line[i - 4] if i >= 4 else 0, last[i], last[i - 4] if i >= 4 else 0
            pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            line[i] = (line[i] + [0, a, b, (a + b) // 2, a if pa <= pb and pa <= pc else b if pb <= pc else c][how]) & 255
        last = bytes(line)
        yield last
def red(png):  # where the arm is: its middle in the picture
    found = [(x, y) for y, row in enumerate(rows(png)) for x in range(160)
             if row[4 * x] > 90 and row[4 * x] > 2 * row[4 * x + 1] and row[4 * x + 3] == 255]
    assert len(found) > 200, len(found)
    return [sum(p[k] for p in found) / len(found) for k in (0, 1)]
film = frames("film.mp4")
assert len(film) == 3, len(film)                     # at 0, 0.5 and 1 s
assert film[1] == open("a.png", "rb").read(), "the frame at 0.5 s is not the picture at 0.5 s of another process"
slow = frames("slow.mp4")
assert len(slow) == 3 and slow[0] == film[1], len(slow)  # 0.5, 0.55, 0.6 s
(x0, y0), (x1, y1), (x2, y2) = map(red, film)
# about y by 90 degrees: from +x down to -z; at 0.5 s along the diagonal, seen from the front
assert x0 > x1 > x2 and y0 < y1 < y2, (x0, y0, x1, y1, x2, y2)
length = ((x0 - x2) ** 2 + (y2 - y0) ** 2) ** 0.5    # the chord of a quarter turn
assert abs((x0 - x2) - (y2 - y0)) < 0.06 * length, (x0, y0, x2, y2)
middle = ((x1 - x2) ** 2 + (y1 - y0) ** 2) ** 0.5    # from the axle, which is at (x2, y0)
assert abs(middle - length / 2 ** 0.5) < 0.06 * length, (middle, length)'

# ---- the background, the time in the corner, captions
{
	cat spin.yaml
	echo 'view: {steps: [{at: 0.2 s, caption: It spins.}]}'
} >story.yaml
calder 0 run story.yaml -q -o story.h5
calder 0 render story.h5 -o story.png --size 160x120 --camera front --transparent --captions --no-stamp --from 0.5
calder 0 render story.h5 -o early.png --size 160x120 --camera front --transparent --captions --no-stamp --from 0.1
calder 0 render spin.h5 -o clear.png --size 160x120 --camera front --transparent
calder 0 render spin.h5 -o stamped.png --size 160x120 --camera front
if command -v ffmpeg >/dev/null; then
	for name in clear stamped story early; do
		ffmpeg -loglevel error -y -i $name.png -f rawvideo -pix_fmt rgba $name.raw || fail "ffmpeg cannot read $name.png"
	done
	python '
clear, stamped = open("clear.raw", "rb").read(), open("stamped.raw", "rb").read()
assert len(clear) == len(stamped) == 160 * 120 * 4
assert clear[3] == 0, "the background is not transparent"
assert all(stamped[3::4][i] == 255 for i in range(160 * 120)), "the background is transparent"
corner = [clear[4 * (160 * y + x) + 3] for y in range(100, 120) for x in range(5, 60)]
assert max(corner) > 200, "there is no time in the corner"
said = [sum(open(f + ".raw", "rb").read()[4 * (160 * y + 80) + 3] > 200 for y in range(80, 120)) for f in ("story", "early")]
assert said[0] > 10 and said[1] == 0, said'
	calder 0 render spin.h5 -o real.mp4 --size 160x120 --fps 4
	calder 0 render spin.h5 -o real2.mp4 --size 160x120 --fps 4
	cmp real.mp4 real2.mp4 || fail "an encoded film differs from run to run"
	[ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 real.mp4 | tr -d ,)" = 5 ] ||
		fail "not five frames in real.mp4"
	calder 0 render spin.h5 -o real.webm --size 160x120 --fps 2
	[ "$(ffprobe -v error -show_entries stream=codec_name -of csv=p=0 real.webm | tr -d ,)" = vp9 ] || fail "real.webm is no VP9"
fi

echo "$failures failures"
[ "$failures" -eq 0 ]
