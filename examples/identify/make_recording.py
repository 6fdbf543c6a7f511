#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes recording.csv: angles and motor torques of the arm with its true payload and friction, with the errors of sensors.

usage: make_recording.py CALDER (the command)

`calder inverse` gives the torques of a motion by inverse dynamics. Encoders have steps of 2 pi/2^17; torques have noise of 1 % of
their range, normal numbers by a counter-based generator: Philox 4x32-10 (Salmon et al., SC11), one stream for each joint.
"""
import csv
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 21
TRUE_PAYLOAD = (
    "payload: {mass: 2.35 kg, com: [0.062, -0.021, 0.034], "
    "inertia: {xx: 0.0065, yy: 0.0095, zz: 0.0081, xy: 0.0004, xz: -0.0007, yz: 0.0005}}"
)
VISCOUS = {"yaw": 1.9, "shoulder": 2.4, "elbow": 1.3, "wrist": 0.22}  # [N m s/rad]
COULOMB = {"yaw": 3.1, "shoulder": 4.2, "elbow": 2.0, "wrist": 0.35}  # [N m]
NOISE = {"yaw": 0.25, "shoulder": 0.6, "elbow": 0.3, "wrist": 0.02}  # [N m] standard deviation
MOTION = {
    "yaw": "0.9*sin(1.7*t) + 0.5*sin(3.9*t + 1)",
    "shoulder": "-0.5 + 0.6*sin(1.3*t + 2) + 0.3*sin(4.3*t)",
    "elbow": "0.9 + 0.7*sin(2.1*t + 0.5) + 0.35*sin(5.1*t + 2)",
    "wrist": "1.2*sin(2.9*t) + 0.6*sin(6.3*t + 1)",
}


def true_model():
    """arm.yaml with what only this file knows."""
    text = re.sub(r"payload: \{mass.*\}", TRUE_PAYLOAD, (HERE / "arm.yaml").read_text())
    friction = "".join(
        f"  {joint}_friction: {{type: friction, joint: {joint}, coulomb: {COULOMB[joint]}, viscous: {VISCOUS[joint]}, smoothing_speed: 0.01}}\n"
        for joint in MOTION
    )
    return text.replace("run:", f"devices:\n{friction}run:")


def forces(calder, folder):
    """Rows of `calder inverse`: t, angles, torques."""
    (folder / "true.yaml").write_text(true_model())
    command = [calder, "inverse", folder / "true.yaml", "--interval", "10 ms", "-o", folder / "true.csv"]
    for joint, formula in MOTION.items():
        command += ["--drive", f"{joint}={formula}"]
    subprocess.run(command, check=True)
    with (folder / "true.csv").open() as table:
        return [{key.split(" ")[0]: float(value) for key, value in row.items()} for row in csv.DictReader(table)]


def philox(counter, key):
    """Four words of 32 bits for a counter of four and a key of two."""
    (a, b, c, d), (low, high), word = counter, key, 0xFFFFFFFF
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = right >> 32 ^ b ^ low, right & word, left >> 32 ^ d ^ high, left & word
        low, high = low + 0x9E3779B9 & word, high + 0xBB67AE85 & word
    return a, b, c, d


def normal(number, stream):
    """A normal number of variance 1, a function of its number and stream."""
    a, b, _, _ = philox((number, stream, 0, 0), (SEED, 0))
    return math.sqrt(-2 * math.log((a + 0.5) / 2**32)) * math.cos(2 * math.pi * (b + 0.5) / 2**32)


def main():
    step = 2 * math.pi / 2**17
    with tempfile.TemporaryDirectory() as folder:
        rows = forces(sys.argv[1], Path(folder))
    with (HERE / "recording.csv").open("w") as out:
        out.write("t [s]," + ",".join(f"q:{j} [rad]" for j in MOTION) + "," + ",".join(f"force:{j} [N m]" for j in MOTION) + "\n")
        for i, row in enumerate(rows):
            angles = [f"{round(row[f'q:{j}'] / step) * step:.7g}" for j in MOTION]
            torques = [f"{row[f'force:{j}'] + NOISE[j] * normal(i, k):.4g}" for k, j in enumerate(MOTION)]
            out.write(",".join([f"{row['t']:.4g}", *angles, *torques]) + "\n")


if __name__ == "__main__":
    main()
