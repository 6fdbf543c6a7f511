#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Meshes and the doctor as a user meets them: calder mesh, bodies with the mass of a mesh, calder check --fix.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

# expect CODE COMMAND WORDS...: the program says each of them, on stdout or stderr.
expect() {
	local code=$1 command=$2 words
	shift 2
	# shellcheck disable=SC2086
	calder "$code" ${command#calder }
	skip_without_yaml
	for words in "$@"; do
		grep -qF -- "$words" out err || fail "neither stdout nor stderr has: $words"
	done
}

printf 'v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >corner.obj
sed '$d' corner.obj >open.obj
sed 's/^f \([0-9]\) \([0-9]\) \([0-9]\)/f \1 \3 \2/' corner.obj >inverted.obj
sed 's/^v \(.*\) \(.*\) \(.*\)/v \100 \200 \300/' corner.obj >large.obj

expect 0 "calder mesh --density 1000 --scale 0.1,0.1,-0.1 corner.obj" 'volume 0.001 m^3, mass 1 kg' \
	'center of mass (0.025, 0.05, -0.075) m' 'xy: 0.00025, xz: -0.000375, yz: -0.00075'
expect 0 "calder mesh --mass 2 --solid shell corner.obj" 'shell: area 9 m^2, mass 2 kg'
expect 0 "calder mesh --json corner.obj" '"closed": true' '"volume": 1' '"open_edges": 0'
expect 1 "calder mesh open.obj" '3 open edges' '(1, 0, 0) - (0, 2, 0): 1 triangle' 'it bounds no solid'
expect 1 "calder mesh inverted.obj" 'INSIDE OUT' 'reverse the order'
expect 0 "calder mesh large.obj" 'is it in millimeters? Try --scale 0.001'
expect 2 "calder mesh --scale 1,2 corner.obj" 'one number or three'
expect 2 "calder mesh --solid full corner.obj" 'exact, convex, legacy or shell'
expect 3 "calder mesh missing.stl" 'missing.stl'
expect 3 "calder mesh model.dae" '.stl, .obj, .gltf and .glb'

cat >link.yaml <<'YAML'
calder: 1
bodies:
  link: {density: 1000, mesh: {file: corner.obj, scale: [-0.1, 0.1, 0.1], at: [1, 0, 0]}}
joints: {hinge: {type: revolute, to: link, axis: y}}
YAML
expect 0 "calder convert -o - link.yaml" 'mass: 1' 'com: [0.975, 0.05' 'visual: [{mesh: corner.obj, scale: [-0.1, 0.1, 0.1], at: [1, 0, 0]}]'
expect 0 "calder check link.yaml" '0 errors, 0 warnings'
sed 's/corner/open/' link.yaml >broken.yaml
expect 3 "calder check broken.yaml" 'broken.yaml:3:' '3 edges have one triangle only'
sed 's/at: .1, 0, 0./solid: convex/; s/corner/open/' link.yaml >hull.yaml
expect 0 "calder check hull.yaml" '0 errors, 0 warnings'
sed 's/density: 1000, /density: 1000, com: [0, 0, 0], /' link.yaml >twice.yaml
expect 3 "calder check twice.yaml" 'remove "com"'

cat >slip.yaml <<'YAML'
calder: 1
bodies:
  link: {mass: 6.48, com: [0.3, 0, 0], inertia: [27, 216, 199.8], visual: {box: [0.6, 0.1, 0.2], at: [0.3, 0, 0]}}
joints: {hinge: {type: revolute, to: link, axis: y}}
YAML
expect 0 "calder check slip.yaml" 'slip.yaml:3:3: warning: body "link"' 'it is in g m^2' '[inertia-unit]' '1 warning'
expect 1 "calder check --strict slip.yaml" '[inertia-unit]'
expect 0 "calder check --json slip.yaml" '"kind": "inertia-unit"' '"cause": "it is in g m^2"' '"proposal": {"mass": 6.48'
expect 0 "calder check --fix mended.yaml slip.yaml" 'a proposal, with 1 change' 'was mass 6.48' 'now mass 6.48' 'xx 0.027'
expect 0 "calder check --strict mended.yaml" '0 errors, 0 warnings'
expect 0 "calder check --fix again.yaml mended.yaml" 'proposes no change'
[ ! -e again.yaml ] || fail "again.yaml was written"
expect 2 "calder check --fix slip.yaml slip.yaml" 'slip.yaml'
# In a replay a mirrored mesh keeps its outside outside, and has the color of its material.
printf 'newmtl paint\nKd 1 0 0.5\n' >paint.mtl
{ echo 'mtllib paint.mtl'; echo 'usemtl paint'; cat corner.obj; } >painted.obj
sed 's/corner/painted/; $a run: {duration: 0.1}' link.yaml >painted.yaml
calder 0 run painted.yaml -o painted.h5
if ! grep -q CALDER_WITH_HDF5 err; then
	sed 's/painted/inverted/; s/density: 1000, mesh: {file: \(.*\), scale.*}}/mass: 1, inertia: [1, 1, 1], visual: {mesh: \1}}/' painted.yaml >inverted.yaml
	calder 0 run inverted.yaml -o inverted.h5
	calder 0 view inverted.h5 --json inverted.json # drawn, though inside out
	calder 0 view painted.h5 --json painted.json
	python '
import base64, json, struct
scene = json.load(open("painted.json"))
def arrays(node):
    if isinstance(node, dict):
        if "vertices" in node and "triangles" in node:
            yield node
        for value in node.values():
            yield from arrays(value)
    elif isinstance(node, list):
        for value in node:
            yield from arrays(value)
mesh = next(arrays(scene))
v = struct.unpack("<12f", base64.b64decode(mesh["vertices"]["data"]))
t = struct.unpack("<12I", base64.b64decode(mesh["triangles"]["data"]))
p = [v[3 * i:3 * i + 3] for i in range(4)]
volume = 0
for i in range(0, 12, 3):
    a, b, c = (p[k] for k in t[i:i + 3])
    volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
assert abs(volume - 0.001) < 1e-9 and min(x[0] for x in p) < -0.09, (volume, p)
assert "#ff0080" in open("painted.json").read()
'
fi

exit $((failures > 0))
