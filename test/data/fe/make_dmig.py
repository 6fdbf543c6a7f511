#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes beam.pch (large field) and beam.bdf (small and free field): a free beam of four Euler-Bernoulli elements with
consistent masses, 1 m long along x, as NASTRAN would punch its stiffness KAAX and mass MAAX; and spun.pch, the same with
eight elements and its differential stiffness per unit load: acceleration along x, spin about y and z, tension at the tip.

    python3 test/data/fe/make_dmig.py
"""
from pathlib import Path

LENGTH, ELEMENTS = 1.0, 4
EA, GJ, EIY, EIZ = 2.8e7, 3.5e2, 1.0e3, 1.5e3  # few digits: small fields hold them
MASS, POLAR = 1.08, 1.2e-4  # of all, and about x [kg, kg m^2]


def element():
    """12 x 12 stiffness and mass: x y z, about x y z, at both ends."""
    L = LENGTH / ELEMENTS
    m, p = MASS / ELEMENTS, POLAR / ELEMENTS
    K = [[0.0] * 12 for _ in range(12)]
    M = [[0.0] * 12 for _ in range(12)]
    for a, k, mass in ((0, EA / L, m), (3, GJ / L, p)):
        for i, j, s, t in ((a, a, 1, 2), (a, a + 6, -1, 1), (a + 6, a, -1, 1), (a + 6, a + 6, 1, 2)):
            K[i][j] += s * k
            M[i][j] += t * mass / 6
    bending_k = [[12, 6 * L, -12, 6 * L], [6 * L, 4 * L * L, -6 * L, 2 * L * L],
                 [-12, -6 * L, 12, -6 * L], [6 * L, 2 * L * L, -6 * L, 4 * L * L]]
    bending_m = [[156, 22 * L, 54, -13 * L], [22 * L, 4 * L * L, 13 * L, -3 * L * L],
                 [54, 13 * L, 156, -22 * L], [-13 * L, -3 * L * L, -22 * L, 4 * L * L]]
    for index, sign, stiffness in (((1, 5, 7, 11), 1, EIZ), ((2, 4, 8, 10), -1, EIY)):  # slope about y is -dz/dx
        turn = [1, sign, 1, sign]
        for i in range(4):
            for j in range(4):
                K[index[i]][index[j]] += turn[i] * turn[j] * bending_k[i][j] * stiffness / L**3
                M[index[i]][index[j]] += turn[i] * turn[j] * bending_m[i][j] * m / 420
    return K, M


def assemble(small):
    n = 6 * (ELEMENTS + 1)
    A = [[0.0] * n for _ in range(n)]
    for e in range(ELEMENTS):
        for i in range(12):
            for j in range(12):
                A[6 * e + i][6 * e + j] += small[i][j]
    return A


def tension(load):
    """Differential stiffness of the beam with the axial force load(x), its mean in each element."""
    L = LENGTH / ELEMENTS
    n = 6 * (ELEMENTS + 1)
    A = [[0.0] * n for _ in range(n)]
    string = [[36, 3 * L, -36, 3 * L], [3 * L, 4 * L * L, -3 * L, -L * L],
              [-36, -3 * L, 36, -3 * L], [3 * L, -L * L, -3 * L, 4 * L * L]]
    for e in range(ELEMENTS):
        N = (load(L * e) + 4 * load(L * (e + 0.5)) + load(L * (e + 1))) / 6
        for index, sign in (((1, 5, 7, 11), 1), ((2, 4, 8, 10), -1)):
            turn = [1, sign, 1, sign]
            for i in range(4):
                for j in range(4):
                    A[6 * e + index[i]][6 * e + index[j]] += turn[i] * turn[j] * string[i][j] * N / (30 * L)
    return A


def columns(A):
    """(column, [(row, value)]) of the lower triangle."""
    for j in range(len(A)):
        rows = [(i, A[i][j]) for i in range(j, len(A)) if A[i][j] != 0]
        if rows:
            yield j, rows


def grid(i):
    return 10 * (i // 6 + 1), i % 6 + 1


def large(name, A):
    text = "DMIG    %-8s%8d%8d%8d%8d%24d\n" % (name, 0, 6, 2, 0, len(A))
    for j, rows in columns(A):
        text += "DMIG*   %-16s%16d%16d\n" % (name, *grid(j))
        for i, value in rows:
            text += "*       %16d%16d%16s\n" % (*grid(i), ("%.9E" % value).replace("E", "D"))
    return text


def short(value):
    """At most eight characters, NASTRAN's way: 1.2345+6."""
    for digits in range(6, -1, -1):
        mantissa, exponent = ("%.*E" % (digits, value)).split("E")
        text = mantissa + "%+d" % int(exponent)
        if len(text) <= 8:
            return text
    raise ValueError(value)


def fixed(name, A):
    text = "DMIG    %-8s%8d%8d%8d%8d\n" % (name, 0, 6, 1, 0)
    for j, rows in columns(A):
        for i, value in rows:
            text += "DMIG    %-8s%8d%8d%8s%8d%8d%8s\n" % (name, *grid(j), "", *grid(i), short(value))
    return text


def free(name, A):
    text = f"DMIG,{name},0,6,2,0\n"
    for j, rows in columns(A):
        text += "DMIG,%s,%d,%d" % (name, *grid(j))
        for i, value in rows:
            text += ",,%d,%d,%.8E\n" % (*grid(i), value) if (i, value) == rows[0] else ",%d,%d,%.8E\n" % (*grid(i), value)
    return text


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    stiffness, mass = (assemble(small) for small in element())
    step = LENGTH / ELEMENTS
    grids = "".join("GRID*   %16d%16s%16.8f%16.8f\n*       %16.8f\n" % (10 * (i + 1), "", i * step, 0, 0)
                    for i in range(ELEMENTS + 1))
    (here / "beam.pch").write_text("$ a free beam, large field\n" + grids + large("KAAX", stiffness) + large("MAAX", mass))
    grids = "".join("GRID    %8d%8s%8.4f%8.1f%8.1f\n" % (10 * (i + 1), "", i * step, 0, 0) for i in range(ELEMENTS + 1))
    (here / "beam.bdf").write_text("$ the same, small and free field\n" + grids + fixed("K2", stiffness) + free("M2", mass))
    ELEMENTS = 8
    stiffness, mass = (assemble(small) for small in element())
    grids = "".join("GRID,%d,,%.6g,0.0,0.0\n" % (10 * (i + 1), i * LENGTH / ELEMENTS) for i in range(ELEMENTS + 1))
    rho = MASS / LENGTH
    loads = {"KGTX": lambda x: -rho * (LENGTH - x), "KGWYY": lambda x: rho * (LENGTH**2 - x**2) / 2,
             "KGWZZ": lambda x: rho * (LENGTH**2 - x**2) / 2, f"KGF{10 * (ELEMENTS + 1)}X": lambda x: 1.0}
    (here / "spun.pch").write_text("$ a free beam and its differential stiffness, free field\n" + grids +
                                   free("KAAX", stiffness) + free("MAAX", mass) +
                                   "".join(free(name, tension(load)) for name, load in loads.items()))
