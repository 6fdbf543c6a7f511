#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a CalculiX deck of a steel block, plate or beam of one element type, with a rigid interface at each end.

  make_deck.py C3D8R 60 40 8 --size 1.2 0.8 0.05 --modes 20 --name plate
writes plate.inp (free, matrices stored: for calder modes) and plate_held.inp (CalculiX's own modes with the root held).
Shells are a plate in the plane z = 0, beams a line along x with a crossbar at each end; their thickness and height are
the z size. Interfaces are rigid bodies: of all nodes at x = 0 (root) and at the other end (tip) of a solid, of the first and the
last row of elements of a shell, of the crossbar and the element beside it of a beam. (Of nodes on a line, CalculiX would leave
the rotation about that line out.)"""
import argparse
import itertools

CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
SPLITS = {  # corners of the elements that a box is made of
    "hex": [range(8)],
    "wedge": [(0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7)],
    "tet": [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)],
    "quad": [range(4)],
    "triangle": [(0, 1, 2), (0, 2, 3)],
    "line": [(0, 1)],
}
EDGES = {  # order of CalculiX's nodes in the middle of edges
    "hex": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
    "wedge": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "tet": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    "quad": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "triangle": [(0, 1), (1, 2), (2, 0)],
    "line": [(0, 1)],
}
TYPES = {  # kind, with nodes in the middle of edges
    "C3D8": ("hex", False), "C3D8R": ("hex", False), "C3D8I": ("hex", False), "C3D20": ("hex", True),
    "C3D20R": ("hex", True), "C3D6": ("wedge", False), "C3D15": ("wedge", True), "C3D4": ("tet", False),
    "C3D10": ("tet", True), "S4": ("quad", False), "S4R": ("quad", False), "S8": ("quad", True),
    "S8R": ("quad", True), "S3": ("triangle", False), "S6": ("triangle", True), "B31": ("line", False),
    "B31R": ("line", False), "B32": ("line", True), "B32R": ("line", True),
}


def element_nodes(kind, middle, corners):
    """Places of the nodes of one element, doubled so that middles are whole numbers."""
    places = [tuple(2 * c for c in corner) for corner in corners]
    if middle:
        for a, b in EDGES[kind]:
            order = (b, a) if kind == "line" else (a, b)
            places.append(tuple((p + q) // 2 for p, q in zip(places[order[0]], places[order[1]])))
    if kind == "line" and middle:
        places = [places[0], places[2], places[1]]  # the middle one is second
    return places


def mesh(kind, middle, counts):
    ids, elements = {}, []
    for box in itertools.product(*(range(c) for c in counts)):
        for split in SPLITS[kind]:
            corners = [tuple(b + d for b, d in zip(box, CORNERS[c])) for c in split]
            elements.append([ids.setdefault(p, len(ids) + 1) for p in element_nodes(kind, middle, corners)])
    if kind == "line":  # crossbars
        for x in (0, counts[0]):
            for y in (-1, 0):
                places = element_nodes(kind, middle, [(x, y, 0), (x, y + 1, 0)])
                elements.append([ids.setdefault(p, len(ids) + 1) for p in places])
    return ids, elements


def write_lines(out, numbers, per_line=12):
    for k in range(0, len(numbers), per_line):
        out.write(", ".join(map(str, numbers[k:k + per_line])))
        out.write(",\n" if k + per_line < len(numbers) else "\n")


def write_mesh(out, a, kind, ids, elements, places):
    out.write("*NODE, NSET=all\n")
    for p, n in ids.items():
        out.write("%d, %.10g, %.10g, %.10g\n" % ((n,) + places[p]))
    out.write(f"*ELEMENT, TYPE={a.type}, ELSET=part\n")
    for e, nodes in enumerate(elements):
        write_lines(out, [e + 1] + nodes)
    last, strip = max(p[0] for p in ids), 2 if kind in ("quad", "triangle", "line") else 0
    for name, low, high in (("root", 0, strip), ("tip", last - strip, last)):
        out.write(f"*NSET, NSET={name}\n")
        write_lines(out, [n for p, n in ids.items() if low <= p[0] <= high])
    out.write("*MATERIAL, NAME=steel\n*ELASTIC\n2.1e11, 0.3\n*DENSITY\n7850\n")
    if kind == "line":
        out.write(f"*BEAM SECTION, ELSET=part, MATERIAL=steel, SECTION=RECT\n{a.size[2]}, {a.size[1]}\n0, 0, 1\n")
    elif kind in ("quad", "triangle"):
        out.write(f"*SHELL SECTION, ELSET=part, MATERIAL=steel\n{a.size[2]}\n")
    else:
        out.write("*SOLID SECTION, ELSET=part, MATERIAL=steel\n")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("type", choices=TYPES)
    p.add_argument("counts", type=int, nargs=3, help="elements along x, y, z")
    p.add_argument("--size", type=float, nargs=3, default=(0.4, 0.06, 0.02), help="[m]")
    p.add_argument("--modes", type=int, default=10)
    p.add_argument("--name", default="deck")
    a = p.parse_args()
    kind, middle = TYPES[a.type]
    flat = kind in ("quad", "triangle", "line")
    counts = (a.counts[0], 1 if kind == "line" else a.counts[1], 1 if flat else a.counts[2])
    ids, elements = mesh(kind, middle, counts)
    scale = [s / (2 * c) for s, c in zip(a.size, counts)]
    center = [0, a.size[1] / 2 if kind != "line" else 0, a.size[2] / 2 if not flat else 0]
    places = {q: tuple(q[i] * scale[i] - center[i] for i in range(3)) for q in ids}
    free, tip = len(ids) + 1, a.size[0]
    for held in (False, True):
        with open(a.name + ("_held" if held else "") + ".inp", "w", encoding="utf-8") as out:
            write_mesh(out, a, kind, ids, elements, places)
            out.write(f"*NODE\n{free}, 0, 0, 0\n{free + 1}, 0, 0, 0\n{free + 2}, {tip}, 0, 0\n{free + 3}, {tip}, 0, 0\n")
            out.write(f"*RIGID BODY, NSET=root, REF NODE={free}, ROT NODE={free + 1}\n")
            out.write(f"*RIGID BODY, NSET=tip, REF NODE={free + 2}, ROT NODE={free + 3}\n")
            if held:
                out.write(f"*BOUNDARY\n{free}, 1, 3\n{free + 1}, 1, 3\n")
                out.write(f"*STEP\n*FREQUENCY\n{a.modes}\n*END STEP\n")
            else:
                out.write("*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n*END STEP\n")
    print(f"{a.name}: {len(ids)} nodes, {len(elements)} elements")


main()
