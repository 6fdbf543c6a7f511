#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `calder identify`: the payload and the friction of the example within their intervals of what its recording was made with, a model
# written with them, recordings of `calder run` and of `calder inverse`, loops, units, and what is refused.
set -u
# shellcheck source=test/cli/expect.sh
source "$SOURCE_DIR/test/cli/expect.sh"

arm="$SOURCE_DIR/examples/identify/arm.yaml"
recording="$SOURCE_DIR/examples/identify/recording.csv"
calder 0 identify "$arm" "$recording" --bodies payload --friction all --window 0.15 -o fitted.yaml --plot forces.svg
skip_without_yaml
stdout_has '^  payload.mass +1 +2\.3[456]'
stdout_has 'condition 2[0-9]\.'
grep -q 'shoulder' forces.svg || fail "no picture"
command -v python3 >/dev/null || exit 77

calder 0 identify "$arm" "$recording" --bodies payload --friction all --window 0.15 --json
python3 - "$SOURCE_DIR" out <<'PY' || fail "the example"
import importlib.util, json, re, sys
spec = importlib.util.spec_from_file_location("recording", sys.argv[1] + "/examples/identify/make_recording.py")
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
assert made.philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)  # published
m, com, inertia = re.search(r"mass: ([\d.]+) kg, com: \[(.*?)\], inertia: \{(.*?)\}", made.TRUE_PAYLOAD).groups()
m, c = float(m), [float(x) for x in com.split(",")]
I = {key.strip(): float(value) for key, value in (item.split(":") for item in inertia.split(","))}
truth = {"payload.mass": m}
for axis, x in zip("xyz", c):
    truth["payload.m" + axis] = m * x
for i, a in enumerate("xyz"):
    for k, b in enumerate("xyz"):
        if i <= k:
            truth[f"payload.I{a}{b}"] = I[a + b] + m * ((sum(x * x for x in c) if i == k else 0) - c[i] * c[k])
for joint in made.MOTION:
    truth[joint + ".viscous"], truth[joint + ".coulomb"] = made.VISCOUS[joint], made.COULOMB[joint]
found = json.load(open(sys.argv[2]))
assert set(truth) == set(found["parameters"]) and found["combinations_determined"] == 18 and found["at_limit"] == 0
off = {name: (p["value"] - truth[name]) / p["deviation"] for name, p in found["parameters"].items()}
print({name: round(x, 2) for name, x in off.items()})
assert all(p["determined"] for p in found["parameters"].values())
assert all(abs(x) < 3.5 for x in off.values()), off  # 18 draws: one in a hundred recordings has one beyond
assert sum(x * x for x in off.values()) < 2 * len(off)
for joint, fit in found["forces"].items():
    assert abs(fit["residual"] / made.NOISE[joint] - 1) < 0.1, (joint, fit)  # what is left is the noise
PY

# The written model needs the torques of the true one along a motion, within 1 % of the largest; the guess does not.
calder 0 check fitted.yaml
python3 - "$SOURCE_DIR" "$CALDER" <<'PY' || fail "the model that was written"
import csv, importlib.util, pathlib, subprocess, sys
spec = importlib.util.spec_from_file_location("recording", sys.argv[1] + "/examples/identify/make_recording.py")
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
pathlib.Path("true_arm.yaml").write_text(made.true_model())
def torques(model):
    drives = [x for joint in made.MOTION for x in ("--drive", f"{joint}=0.3*sin(2*t)+0.7*sin(3*t)")]
    subprocess.run([sys.argv[2], "inverse", model, *drives, "--duration", "3", "-o", "forces.csv"], check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.reader(open("forces.csv")))
    return [[float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0]) if name.startswith("force:")]
def off(model):
    return max(max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b)) for a, b in zip(torques(model), torques("true_arm.yaml")))
assert off("fitted.yaml") < 0.01 and off(sys.argv[1] + "/examples/identify/arm.yaml") > 0.2, off("fitted.yaml")
PY

# A simulation as a recording: HDF5 with every quantity, all bodies unknown, exact.
cat >true.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
bodies:
  upper: {mass: 3, com: [0.4, 0.1, 0], inertia: [0.1, 0.2, 0.3], nodes: {end: [0.9, 0, 0]}}
  lower: {mass: 2, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1], nodes: {end: [0.6, 0, 0]}}
  slider: {mass: 0.7, com: [0, 0.05, 0], inertia: [0.01, 0.01, 0.01]}
joints:
  shoulder: {type: revolute, to: upper, dof: {damping: 0.5}}
  elbow: {type: revolute, from: upper/end, to: lower, dof: {stiffness: 20}}
  rail: {type: prismatic, axis: x, from: lower/end, to: slider, dof: {stiffness: 300, damping: 1}}
loads:
  - {joint: shoulder, effort: "40 + 25*sin(3*t) - 8*u(shoulder)"}
  - {joint: elbow, effort: "6 + 9*sin(5*t + 1) - 3*u(elbow)"}
  - {joint: rail, effort: "7*sin(9*t)"}
run: {duration: 4 s, output: {interval: 20 ms, signals: [q, u, udot, force]}}
YAML
sed 's/mass: 3/mass: 2.2/; s/mass: 2,/mass: 1.4,/; s/mass: 0.7/mass: 1/; s/com: \[0.3/com: [0.2/' true.yaml >guess.yaml
calder 0 run true.yaml -q -o run.h5
calder 0 identify guess.yaml run.h5 --json
python3 - out <<'PY' || fail "a run as a recording"
import json, sys
found = json.load(open(sys.argv[1]))
assert all(f["residual"] < 1e-6 * f["rms"] for f in found["forces"].values()), found["forces"]
true = {"upper": (3, (0.4, 0.1, 0), 0.3), "lower": (2, (0.3, 0, 0), 0.1), "slider": (0.7, (0, 0.05, 0), 0.01)}
def of(name):
    body, parameter = name.split(".")
    m, c, I = true[body]
    return {"mass": m, "mx": m * c[0], "my": m * c[1], "Izz": I + m * (c[0] ** 2 + c[1] ** 2)}[parameter]
for c in found["combinations"]:
    want = sum(factor * of(name) for name, factor in c["factors"].items())
    assert abs(c["value"] - want) < 1e-6 * (1 + abs(want)), (c, want)
PY

# Angles in degrees, forces by calder inverse, speeds and accelerations from the angles; one force of three.
sed '/^loads:/,/joint: rail, effort/d' true.yaml >bare.yaml
calder 0 inverse bare.yaml --drive 'shoulder=sin(2*t)+0.4*cos(5*t)' --drive 'elbow=cos(3*t)+0.3*sin(7*t)' --drive 'rail=0.1*sin(4*t)+0.05*cos(9*t)' \
	--interval 5ms -o forces.csv
python3 - <<'PY'
import csv, math
rows = list(csv.reader(open("forces.csv")))
head = [name.split(" ")[0] for name in rows[0]]
with open("degrees.csv", "w") as out:
    out.write("t [ms],shoulder [deg],elbow [deg],rail [mm],force:shoulder [kN*m]\n")
    for row in rows[1:]:
        v = {name: float(x) for name, x in zip(head, row)}
        out.write(f"{v['t'] * 1e3:.17g},{math.degrees(v['q:shoulder']):.17g},{math.degrees(v['q:elbow']):.17g},{v['q:rail'] * 1e3:.17g},{v['force:shoulder'] / 1e3:.17g}\n")
PY
calder 0 identify guess.yaml degrees.csv --bodies slider --json
stdout_has '"slider.mass": .*"value": '
python3 - out <<'PY' || fail "degrees"
import json, sys
found = json.load(open(sys.argv[1]))
assert list(found["forces"]) == ["shoulder"]
PY
# upper and lower of the guess are wrong, and the residual says so
calder 0 identify bare.yaml degrees.csv --bodies slider
stdout_has '^  slider.mass +0.7 +0.[67]'

# Loops: all joints are recorded, the crank is driven, the others are free.
cat >bars.yaml <<'YAML'
calder: 1
gravity: [0, -9.81, 0]
ground: {nodes: {b: [0.5, 0, 0]}}
bodies:
  crank: {mass: 1, com: [0.1, 0.02, 0], inertia: [0.1, 0.1, 0.1], nodes: {end: [0.2, 0, 0]}}
  coupler: {mass: 2.5, com: [0.25, 0, 0], inertia: [0.2, 0.2, 0.2], nodes: {end: [0.5, 0, 0]}}
  rocker: {mass: 2, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1], nodes: {end: [0.4, 0, 0]}}
joints:
  crank: {type: revolute, to: crank}
  pin: {type: revolute, from: crank/end, to: coupler}
  rocker: {type: revolute, from: ground/b, to: rocker}
loops: {wrist: {type: revolute, from: coupler/end, to: rocker/end}}
state: {crank: {q: 90 deg, u: 8}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}
loads: [{joint: crank, effort: "5*sin(7*t) - 0.2*u(crank)"}]
run: {duration: 3 s, output: {interval: 10 ms, signals: [q, u, udot, "force:crank"]}}
YAML
calder 0 run bars.yaml -q -o bars.csv
sed 's/mass: 2.5/mass: 1/' bars.yaml >lighter.yaml
calder 0 identify lighter.yaml bars.csv --bodies coupler --json
python3 - out <<'PY' || fail "loops"
import json, sys
found = json.load(open(sys.argv[1]))
want = {"coupler.mass": 2.5, "coupler.mx": 0.625, "coupler.my": 0, "coupler.Izz": 0.2 + 2.5 * 0.0625}
for c in found["combinations"]:
    value = sum(f * want[name] for name, f in c["factors"].items())
    assert abs(c["value"] - value) < 1e-5, c
PY

# Without a recording: the combinations alone.
calder 0 identify "$SOURCE_DIR/examples/double_pendulum.yaml"
stdout_has '6 combinations determined'
stdout_has 'upper.mz - 0.5 lower.mass'

# A wrong scale of the torques is no body that can exist.
awk -F, 'NR == 1 { print; next } { printf "%s,%s,%s,%s,%s,%g,%g,%g,%g\n", $1, $2, $3, $4, $5, -$6, -$7, -$8, -$9 }' "$recording" >negative.csv
calder 0 identify "$arm" negative.csv --bodies payload --window 0.15
stderr_has 'warning: no bodies that can exist give the forces as recorded'
stderr_has 'neighboring residuals depend on each other'

# One wrong sample, and one whose square is no number.
awk -F, -v OFS=, 'NR == 200 { $9 = 1000 } { print }' "$recording" >outlier.csv
calder 0 identify "$arm" outlier.csv --bodies payload --friction all --window 0.15
stderr_has 'force of "wrist": 100 % of the squared residuals are those of t = 1.98 s'
calder 0 identify "$arm" "$recording" --bodies payload --friction all --window 0.15
if grep -q 'squared residuals' err; then fail "a good recording has outliers"; fi
awk -F, -v OFS=, 'NR == 200 { $9 = "1e300" } { print }' "$recording" >huge.csv
calder 4 identify "$arm" huge.csv --bodies payload
stderr_has 'degree of freedom 4 are too large'

# What does not fit.
calder 3 identify "$arm" "$recording" --bodies payload --unactuated wrist
stderr_has 'it has a column "force:wrist", and --unactuated says that nothing acts there'
calder 3 identify bars.yaml
stderr_has 'needs a recording: states at random do not close them'
cut -d, -f1-4 "$recording" >short.csv
calder 3 identify "$arm" short.csv
stderr_has 'no column of the force of a joint'
cut -d, -f1-4,6-9 "$recording" >short.csv
calder 3 identify "$arm" short.csv
stderr_has 'no column "q:wrist": all coordinates of the group must be recorded'
calder 3 identify "$arm" "$recording" --bodies pay
stderr_has 'the group has no body "pay"'
calder 3 identify "$arm" "$recording" --friction yaaw
stderr_has 'friction: the group has no joint "yaaw"'
calder 3 identify "$arm" "$recording" --bodies none
stderr_has 'nothing is unknown'
calder 2 identify fitted.yaml "$recording" --friction yaw
stderr_has 'is friction of joint "yaw" already'
calder 2 identify "$arm" "$recording" -o "$recording"
calder 2 identify "$arm" -o other.yaml
stderr_has 'are for a recording'
calder 2 identify "$arm" "$recording" --level 2
calder 2 identify "$arm" "$recording" --prior 0
calder 2 identify
exit $((failures > 0))
