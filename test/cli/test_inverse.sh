#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder inverse`: forces of a pendulum and of a planar arm against their equations, of a four-bar against virtual work, of free
# motion against zero; actuators in the place of the joints that follow; samples, units, and what cannot be followed.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >arm.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
bodies:
  upper: {mass: 3, com: [0.4, 0, 0], inertia: [0.01, 0.2, 0.2], nodes: {end: [0.9, 0, 0]}}
  lower: {mass: 2, com: [0.3, 0, 0], inertia: [0.01, 0.1, 0.1]}
joints:
  shoulder: {type: revolute, to: upper, axis: z}
  elbow: {type: revolute, from: upper/end, to: lower, axis: z}
run: {duration: 2}
YAML
cat >arm.py <<'PYTHON'
import csv, math, sys

def read(path):
    rows = list(csv.reader(open(path)))
    return {name.split(" [")[0]: [float(r[i]) for r in rows[1:]] for i, name in enumerate(rows[0])}

def needed(q1, q2, u1, u2, a1, a2):
    """The textbook equations of a planar arm with two links; angles from the horizontal x."""
    m1, m2, l, c1, c2, I1, I2, g = 3, 2, 0.9, 0.4, 0.3, 0.2, 0.1, 9.81
    h = m2 * l * c2 * math.sin(q2)
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l**2 + c2**2 + 2 * l * c2 * math.cos(q2))
    M12, M22 = I2 + m2 * (c2**2 + l * c2 * math.cos(q2)), I2 + m2 * c2**2
    G2 = m2 * g * c2 * math.cos(q1 + q2)
    G1 = (m1 * c1 + m2 * l) * g * math.cos(q1) + G2
    return M11 * a1 + M12 * a2 - h * (2 * u1 * u2 + u2**2) + G1, M12 * a1 + M22 * a2 + h * u1**2 + G2

def motion(t):
    return ((0.7 * math.sin(3 * t), 2.1 * math.cos(3 * t), -6.3 * math.sin(3 * t)),
            (0.4 + 0.5 * math.cos(4 * t), -2 * math.sin(4 * t), -8 * math.cos(4 * t)))

def worst(path):
    """The largest error of a force."""
    d, off = read(path), 0
    for i, t in enumerate(d["t"]):
        (q1, u1, a1), (q2, u2, a2) = motion(t)
        for name, want in zip(("shoulder", "elbow"), needed(q1, q2, u1, u2, a1, a2)):
            off = max(off, abs(d["force:" + name][i] - want))
    return off
PYTHON

# ---- formulas: exact derivatives -----------------------------------------------------------------------

calder 0 inverse arm.yaml --drive 'shoulder=0.7*sin(3*t)' --drive 'elbow=0.4 + 0.5*cos(4*t)' -o formula.csv
stdout_has 'arm.yaml: 2 coordinates followed from 0 s to 2 s, 201 rows'
stdout_has '^  shoulder +[0-9.-]+ '
stderr_empty
python 'from arm import *; assert worst("formula.csv") < 1e-12, worst("formula.csv")
d = read("formula.csv")
assert max(abs(p - f * u) for p, f, u in zip(d["power:elbow"], d["force:elbow"], d["u:elbow"])) < 1e-12'

# ---- samples: third order, in other units; the error that is said is not exceeded -------------------------

for ms in 20 10; do
	python "from arm import *
out = open('motion$ms.csv', 'w'); out.write('time [ms],elbow [deg],q:shoulder [rad],note:other\n')
for i in range(2000 // $ms + 1): out.write('%r,%r,%r,7\n' % (i * $ms, math.degrees(motion(i * $ms / 1000)[1][0]), motion(i * $ms / 1000)[0][0]))"
	calder 0 inverse arm.yaml motion$ms.csv -o force$ms.csv
	stderr_has "motion$ms.csv: note: not followed: note:other \\(1 column\\)"
	sed -n 's/^  shoulder .* //p' out >said$ms
done
python 'from arm import *
coarse, fine = worst("force20.csv"), worst("force10.csv")
assert fine < 0.02 and 5 < coarse / fine, (coarse, fine)
assert float(open("said10").read()) > 0.2 * fine'
calder 0 inverse arm.yaml motion10.csv --interval 0.5 -o few.csv
python 'from arm import *; assert read("few.csv")["t"] == [0, 0.5, 1, 1.5, 2] and worst("few.csv") < 0.02'
printf 't,shoulder,elbow\n0,0,0\n0.3,1,2\n0.6,-1,0\n0.9,1,2\n1.2,0,0\n' >coarse.csv
calder 0 inverse arm.yaml coarse.csv
stderr_has 'coarse.csv: warning: force of "shoulder": the samples are too far apart to know accelerations well'

# A motion that starts later, of a body whose load depends on the time.
printf 'calder: 1\nbodies: {b: {mass: 2}}\njoints: {slide: {type: prismatic, to: b}}\nloads: [{joint: slide, effort: 3*t}]\n' >later.yaml
printf 't,slide\n5,1\n6,1\n7,1\n8,1\n' >rest.csv
calder 0 inverse later.yaml rest.csv -o held.csv
python 'from arm import *; d = read("held.csv"); assert all(abs(f + 3 * t) < 1e-12 for f, t in zip(d["force:slide"], d["t"]))'

calder 0 inverse later.yaml rest.csv --actuators slide -o same.csv
python 'from arm import *; a, b = read("held.csv")["force:slide"], read("same.csv")["force:slide"]; assert max(abs(x - y) for x, y in zip(a, b)) < 1e-12'

# Another group, which falls freely, needs nothing.
cat >two.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
groups: {other: {}}
bodies:
  upper: {mass: 3, rod: {from: [0, 0, 0], to: [1, 0, 0]}}
  stone: {group: other, mass: 2, box: [1, 2, 3]}
joints:
  shoulder: {type: revolute, to: upper, axis: z}
  fall: {type: free, to: stone}
state: {fall: {at: [0, 5, 0], angular_velocity: [1, 2, 3]}}
YAML
calder 0 inverse two.yaml --drive 'shoulder=sin(t)' --duration 1 --actuators shoulder -o two.csv
python 'from arm import *; d = read("two.csv")
assert max(abs(f - (3 * 9.81 / 2 * math.cos(math.sin(t)) - math.sin(t))) for f, t in zip(d["force:shoulder"], d["t"])) < 1e-12'

# ---- free motion takes no force ----------------------------------------------------------------------------

sed 's/^run:.*/state: {shoulder: {q: 0.3}, elbow: {q: 1, u: 2}}\nrun: {duration: 1, output: {interval: 2 ms, signals: [q, u]}}/' arm.yaml >free.yaml
calder 0 run free.yaml -q -o free.h5
calder 0 inverse free.yaml free.h5 -o zero.csv
python 'from arm import *; d = read("zero.csv"); assert max(abs(f) for n in ("shoulder", "elbow") for f in d["force:" + n]) < 1e-3'

# ---- loops: virtual work; other actuators; the smallest forces -----------------------------------------------

cat >fourbar.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
bodies:
  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.3, 0, 0]}, nodes: {end: [0.3, 0, 0]}}
  coupler: {mass: 2, rod: {from: [0, 0, 0], to: [0.9, 0, 0]}, nodes: {end: [0.9, 0, 0]}}
  rocker: {mass: 1.5, rod: {from: [0, 0, 0], to: [0.6, 0, 0]}, nodes: {end: [0.6, 0, 0]}}
joints:
  motor: {type: revolute, to: crank, axis: z}
  knee: {type: revolute, from: crank/end, to: coupler, axis: z}
  pivot: {type: revolute, to: rocker, axis: z, inboard: [1, 0, 0]}
loops: {pin: {type: revolute, from: coupler/end, to: rocker/end}}
state: {motor: {q: 2}, knee: {q: -1, guess: true}, pivot: {q: 1.5, guess: true}}
run: {duration: 1}
YAML
calder 0 inverse fourbar.yaml --drive 'motor=2 + t^2*2' -o motor.csv
calder 0 inverse fourbar.yaml --drive 'motor=2 + t^2*2' --actuators pivot -o pivot.csv
calder 0 inverse fourbar.yaml --drive 'motor=2 + t^2*2' --actuators motor,pivot,knee -o all.csv
cat >fourbar.py <<'PYTHON'
import math
from arm import read

def energy(a, w):
    """Of the bars, closed by hand: the circles about the ends of crank and rocker meet above."""
    def ends(a):
        x, y = 0.3 * math.cos(a), 0.3 * math.sin(a)
        d = math.hypot(1 - x, y)
        along = (0.9**2 - 0.6**2 + d * d) / (2 * d)
        high = math.sqrt(0.9**2 - along**2)
        ux, uy = (1 - x) / d, -y / d
        return x, y, x + along * ux - high * uy, y + along * uy + high * ux
    h = 1e-5
    e, p, m = ends(a), ends(a + h), ends(a - h)
    v = [(i - j) / (2 * h) * w for i, j in zip(p, m)]
    def rod(mass, x0, y0, x1, y1, vx0, vy0, vx1, vy1):
        kinetic = mass / 6 * (vx0 * vx0 + vx0 * vx1 + vx1 * vx1 + vy0 * vy0 + vy0 * vy1 + vy1 * vy1)
        return kinetic + mass * 9.81 * (y0 + y1) / 2
    return (rod(1, 0, 0, e[0], e[1], 0, 0, v[0], v[1]) + rod(2, *e, *v)
            + rod(1.5, 1, 0, e[2], e[3], 0, 0, v[2], v[3]))
PYTHON
python 'from fourbar import *
d, h = read("motor.csv"), 1e-4
e = lambda t: energy(2 + 2 * t * t, 4 * t)
for t, power in zip(d["t"][1:-1], d["power:motor"][1:-1]):
    want = (e(t + h) - e(t - h)) / (2 * h)
    assert abs(power - want) < 1e-5 * (1 + abs(want)), (t, power, want)
other, both = read("pivot.csv"), read("all.csv")
norm = lambda d, i: math.sqrt(sum(d[n][i] ** 2 for n in d if n.startswith("force:")))
total = lambda d, i: sum(d[n][i] for n in d if n.startswith("power:"))
for i in range(len(d["t"])):
    assert abs(total(other, i) - d["power:motor"][i]) < 1e-9 * (1 + abs(d["power:motor"][i]))
    assert abs(total(both, i) - d["power:motor"][i]) < 1e-9 * (1 + abs(d["power:motor"][i]))
    assert norm(both, i) <= min(norm(d, i), norm(other, i)) * (1 + 1e-12)
assert norm(both, 50) < 0.999 * norm(d, 50)'
calder 0 run fourbar.yaml -q -o all.h5 -s q --interval 10ms
calder 3 inverse fourbar.yaml all.h5
stderr_has 'group "main": the loops leave 1 degree of freedom, and the motion gives more; name those to follow with --joints'
calder 0 inverse fourbar.yaml all.h5 --joints motor --plot forces.svg
[ -s forces.svg ] || fail "no picture"
calder 4 inverse arm.yaml motion10.csv --actuators shoulder
stderr_has 'group "main": the actuators cannot bring about this motion at t = 0 s; name more of them'

# ---- flexible bodies and free joints move by the dynamics ------------------------------------------------------

cat >boom.yaml <<'YAML'
calder: 1
bodies:
  bus: {mass: 50, box: [1, 1, 1], nodes: {side: [0.5, 0, 0]}}
  boom:
    beam: {length: 4 m, section: {shape: tube, diameter: 0.1 m, thickness: 5 mm, youngs_modulus: 70 GPa, density: 2700 kg/m^3}, modes: 2}
joints:
  flight: {type: free, to: bus}
  hinge: {type: revolute, from: bus/side, to: boom, axis: y}
YAML
drive='devices: {m: {type: joint_drive, joint: hinge, q: 0.3*(1 - cos(2*t))}}\nrun: {duration: 1, output: {interval: 10 ms, signals: ["device:m.force"]}}'
{ cat boom.yaml; printf '%b\n' "$drive"; } >driven.yaml
calder 0 run driven.yaml -q -o driven.csv
calder 0 inverse boom.yaml --drive 'hinge=0.3*(1 - cos(2*t))' --duration 1 --interval 10ms -o boom.csv
python 'from arm import *; a, b = read("driven.csv"), read("boom.csv")
assert len(a["t"]) == 101 and max(abs(x - y) for x, y in zip(a["device:m.force"], b["force:hinge"])) < 1e-9'

# ---- what cannot be done ---------------------------------------------------------------------------------------

calder 3 inverse arm.yaml
stderr_has 'no joint follows a motion: name the table of one, give --drive, or put joint_drive devices into the model'
calder 2 inverse later.yaml --drive 'slide=t'
stderr_has 'how long\? The model has no run: duration; give --duration'
printf 't,sholder\n0,0\n1,1\n' >wrong.csv
calder 3 inverse arm.yaml wrong.csv
stderr_has 'wrong.csv: error: there is no joint coordinate "sholder"; did you mean "shoulder"\?'
printf 't,shoulder [kg]\n0,0\n1,1\n' >wrong.csv
calder 3 inverse arm.yaml wrong.csv
stderr_has 'wrong.csv: error: column "shoulder": '
printf 't,shoulder\n0,0\n1,\n2,1\n' >wrong.csv
calder 3 inverse arm.yaml wrong.csv
stderr_has 'column "shoulder" has no value at t = 1 s'
printf 't,shoulder\n0,0\n1,1\n1,2\n2,1\n' >wrong.csv
calder 3 inverse arm.yaml wrong.csv
stderr_has 'column "shoulder" jumps: no force can follow it at t = 1 s'
printf 't,shoulder\n0,0\n' >wrong.csv
calder 3 inverse arm.yaml wrong.csv
stderr_has 'a motion needs at least two rows of different times'
calder 3 inverse arm.yaml motion10.csv --joints wrist
stderr_has 'there is no column of coordinate "wrist"'
calder 3 inverse arm.yaml motion10.csv --actuators wrist
stderr_has '--actuators: there is no degree of freedom "wrist"; calder info lists them'
calder 3 inverse arm.yaml motion10.csv --drive 'elbow=t'
stderr_has 'coordinate "elbow" is given twice'
calder 2 inverse arm.yaml motion10.csv -o motion10.csv
stderr_has '-o motion10.csv would overwrite the motion'
calder 2 inverse arm.yaml --drive elbow
stderr_has "drive takes JOINT=FORMULA, not 'elbow'"

exit $((failures > 0))
