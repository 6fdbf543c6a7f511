#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Eigenvectors in a NASTRAN punch file in place of a stiffness: the beam of beam.pch, its modes computed here by Jacobi rotations and punched with
# seven digits, gives the body that Calder reduces from the matrices; held at an end, and free. Tables that are cut off or
# wrong; tables beside complete matrices are passed over.
set -u
if ! command -v python3 >/dev/null; then
	echo "no python3: skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
data=$SOURCE_DIR/test/data/fe
failed=0
problem() {
	echo "FAILED: $*"
	failed=1
}
refused() {
	local text=$1
	shift
	"$CALDER" modes "$@" >out 2>err
	local code=$?
	if [ $code -ne 3 ] || ! grep -q -e "$text" err; then
		problem "$*: exit code $code, no \"$text\""
		cat err
	fi
}

python3 - "$SOURCE_DIR/test/io/fe" "$data/beam.pch" <<'PY' || problem "writer"
import math
import sys
sys.path.insert(0, sys.argv[1])
import write_op4
grids, matrices = write_op4.read_punch(sys.argv[2])
K, M = matrices["KAAX"], matrices["MAAX"]
punched = open(sys.argv[2]).read()
start = punched.index("DMIG    MAAX")
cards, mass = punched[:punched.index("DMIG")], punched[start:]


def cholesky(A):
    n = len(A)
    L = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = A[i][j] - sum(L[i][k] * L[j][k] for k in range(j))
            L[i][j] = math.sqrt(rest) if i == j else rest / L[j][j]
    return L


def forward(L, columns):
    """L^-1 of each of the columns."""
    out = []
    for b in columns:
        x = []
        for i in range(len(L)):
            x.append((b[i] - sum(L[i][k] * x[k] for k in range(i))) / L[i][i])
        out.append(x)
    return out


def backward(L, b):
    x = [0.0] * len(L)
    for i in reversed(range(len(L))):
        x[i] = (b[i] - sum(L[k][i] * x[k] for k in range(i + 1, len(L)))) / L[i][i]
    return x


def jacobi(A):
    """Values and vectors (rows) of a symmetric matrix."""
    n = len(A)
    V = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(30):
        for p in range(n):
            for q in range(p + 1, n):
                if abs(A[p][q]) <= 1e-17 * math.sqrt(abs(A[p][p] * A[q][q])):
                    continue
                t = (A[q][q] - A[p][p]) / (2 * A[p][q])
                t = math.copysign(1 / (abs(t) + math.sqrt(1 + t * t)), t)
                c = 1 / math.sqrt(1 + t * t)
                for B in (A, V):
                    B[p], B[q] = ([c * (x - t * y) for x, y in zip(B[p], B[q])], [c * (y + t * x) for x, y in zip(B[p], B[q])])
                for row in A:
                    row[p], row[q] = c * (row[p] - t * row[q]), c * (row[q] + t * row[p])
    return [A[i][i] for i in range(n)], V


def modes(free):
    """Values and vectors of K x = value M x with the other equations held."""
    L = cholesky([[M[i][j] for j in free] for i in free])
    half = forward(L, [[K[i][j] for i in free] for j in free])  # rows are columns of L^-1 K
    whole = forward(L, [list(row) for row in zip(*half)])
    values, vectors = jacobi([[(whole[i][j] + whole[j][i]) / 2 for j in range(len(L))] for i in range(len(L))])
    shapes = []
    for v in vectors:
        shape = [0.0] * len(K)
        for i, x in zip(free, backward(L, v)):
            shape[i] = x
        shapes.append(shape)
    order = sorted(range(len(values)), key=lambda k: values[k])
    return [values[k] for k in order], [shapes[k] for k in order]


def tables(values, shapes, count):
    lines, number = [], 0

    def put(text):
        nonlocal number
        number += 1
        lines.append("%-72s%8d" % (text, number))

    for mode in range(count):
        for text in ("$TITLE   = BEAM", "$SUBTITLE=", "$LABEL   =", "$EIGENVECTOR", "$REAL OUTPUT", "$SUBCASE ID =           1"):
            put(text)
        put("$EIGENVALUE =  %.7E  MODE = %5d" % (values[mode], mode + 1))
        for g, (grid, _) in enumerate(grids):
            x = shapes[mode][6 * g:6 * g + 6]
            put("%10d       G%s" % (grid, "".join("%18.6E" % v for v in x[:3])))
            put("-CONT-            %s" % "".join("%18.6E" % v for v in x[3:]))
    return "\n".join(lines) + "\n"


held = tables(*modes(list(range(6, 30))), 10)
free = tables(*modes(list(range(30))), 16)
open("held.pch", "w").write(cards + mass + held)
open("free.pch", "w").write(held.split("$EIGENVECTOR")[0] + cards + free + mass)
open("both.pch", "w").write(cards + held + punched[punched.index("DMIG"):])
open("cut.pch", "w").write(cards + mass + "\n".join(held.splitlines()[:-1]) + "\n")
open("text.pch", "w").write(cards + mass + held.replace("$EIGENVALUE =  ", "$EIGENVALUE = x", 1))
open("grid.pch", "w").write(cards + mass + held.replace("        20       G", "        21       G"))
open("turned.pch", "w").write(cards + mass + held.replace("$EIGENVALUE =  ", "$EIGENVALUE = -", 1))
half = held.splitlines()
half[7] = half[7].replace("E", "q")
open("value.pch", "w").write(cards + mass + "\n".join(half) + "\n")
wrong, column = [], ""
for line in mass.splitlines():
    column = line[24:56].split() if line.startswith("DMIG*") else column
    wrong.append(line[:40] + "%16.9E" % (float(line[40:56].replace("D", "E")) + 9) if column and column[0] == "50" and column[1] < "4" and line[8:40].split() == column else line)
open("other.pch", "w").write(cards + "\n".join(wrong) + "\n" + held)
PY
report() { "$CALDER" modes "$@" --display 0 --json 2>err || { problem "$*"; cat err; }; }
report held.pch --modes 10 >held.json
report "$data/beam.pch" --interface 10 --modes 10 >held_want.json
report free.pch --modes 10 >free.json
report "$data/beam.pch" --free --modes 10 >free_want.json
report both.pch --interface 10 --interface 50 --modes 6 >both.json
report "$data/beam.pch" --interface 10 --interface 50 --modes 6 >both_want.json
python3 - <<'PY' || problem "bodies"
import json
for name, digits in (("held", 3e-6), ("free", 3e-6), ("both", 0)):
    got, want = (json.load(open(n + ".json")) for n in (name, name + "_want"))
    assert len(got["modes"]) == len(want["modes"]), name
    worst = 0
    for g, w in zip(got["modes"], want["modes"]):
        worst = max(worst, abs(g["frequency_hz"] / w["frequency_hz"] - 1), abs(g["free_frequency_hz"] / w["free_frequency_hz"] - 1))
        worst = max(worst, max(abs(a - b) for a, b in zip(g["effective_mass"], w["effective_mass"])) / want["mass"])
    print(name, len(got["modes"]), "modes, differ by at most", worst)
    assert worst <= digits and abs(got["mass"] / want["mass"] - 1) < 1e-12
assert "held at grid10" in json.load(open("held.json"))["boundary"]
assert "center of mass" in json.load(open("free.json"))["boundary"]
PY
refused "coupled by .* the mass matrix is not that of the modes" other.pch
refused "ends within an eigenvector" cut.pch
refused "text.pch:.*expected \$EIGENVALUE = number" text.pch
refused "grid 21, but there is no GRID card" grid.pch
refused "a mechanism" turned.pch
refused "value.pch:.*three values of 18 columns" value.pch
refused "are not held at \"grid50\"; they are held at grid10" held.pch --reference grid50
exit $failed
