#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the CalculiX decks of this folder: meshes of C3D20 bricks on a grid, interfaces as rigid bodies.

    python3 examples/fe/make_decks.py            # rewrites examples/fe/*.inp
    python3 examples/fe/make_decks.py --rod DIR  # the small rod of the tests

Each part has a mesh (NAME_mesh.inp: nodes, elements, material, interfaces), a deck that stores its free matrices
(NAME.inp) and one that lets CalculiX compute the modes with the first interface held (NAME_held.inp), to compare with.
"""
import sys
from pathlib import Path

CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
EDGES = [(1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0), (1, 0, 2), (2, 1, 2), (1, 2, 2), (0, 1, 2),
         (0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1)]


class Mesh:
    """Bricks on a grid; a point of the grid is (i, j, k) in half elements."""

    def __init__(self, step):
        self.step = step  # half an element [m]
        self.nodes = {}
        self.bricks = []

    def node(self, point):
        return self.nodes.setdefault(point, len(self.nodes) + 1)

    def add_brick(self, i, j, k):
        self.bricks.append([self.node((2 * i + a, 2 * j + b, 2 * k + c)) for a, b, c in CORNERS + EDGES])

    def face(self, test):
        return sorted(number for point, number in self.nodes.items() if test(*point))

    def place(self, point):
        return tuple(p * s for p, s in zip(point, self.step))


def lines(numbers, width=12):
    return "".join(", ".join(map(str, numbers[i:i + width])) + ",\n" for i in range(0, len(numbers), width))


def mesh_text(title, mesh, interfaces, material):
    young, poisson, density = material
    text = f"** {title}\n*NODE, NSET=ALL\n"
    for point, number in mesh.nodes.items():
        text += "%d, %.9g, %.9g, %.9g\n" % (number, *mesh.place(point))
    first = len(mesh.nodes) + 1
    for n, (_, _, at) in enumerate(interfaces):
        for number in (first + 2 * n, first + 2 * n + 1):
            text += "%d, %.9g, %.9g, %.9g\n" % (number, *at)
    text += "*ELEMENT, TYPE=C3D20, ELSET=PART\n"
    for n, brick in enumerate(mesh.bricks):
        numbers = [n + 1, *brick]
        text += ", ".join(map(str, numbers[:11])) + ",\n" + ", ".join(map(str, numbers[11:])) + "\n"
    for name, nodes, _ in interfaces:
        text += f"*NSET, NSET={name}\n" + lines(nodes)
    text += f"*MATERIAL, NAME=METAL\n*ELASTIC\n{young:g}, {poisson:g}\n*DENSITY\n{density:g}\n"
    text += "*SOLID SECTION, ELSET=PART, MATERIAL=METAL\n"
    text += "** interface frames: REF NODE translates, the directions of ROT NODE are rotations\n"
    for n, (name, _, _) in enumerate(interfaces):
        text += f"*RIGID BODY, NSET={name}, REF NODE={first + 2 * n}, ROT NODE={first + 2 * n + 1}\n"
    return text, first


def write(folder, name, title, mesh, interfaces, material, modes=10):
    text, first = mesh_text(title, mesh, interfaces, material)
    (folder / f"{name}_mesh.inp").write_text(text)
    include = f"*INCLUDE, INPUT={name}_mesh.inp\n"
    (folder / f"{name}.inp").write_text(
        f"** free matrices of the {name}: writes {name}.sti, {name}.mas and {name}.dof\n{include}"
        "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n*END STEP\n")
    (folder / f"{name}_held.inp").write_text(
        f"** the {name} held at its first interface: CalculiX's own modes, in {name}_held.dat\n{include}"
        f"*BOUNDARY\n{first}, 1, 3\n{first + 1}, 1, 3\n*STEP\n*FREQUENCY\n{modes}\n*END STEP\n")


ALUMINIUM = (70e9, 0.33, 2700)


def bar(folder, name, title, length, side, elements):
    mesh = Mesh((length / elements / 2, side / 2, side / 2))
    for i in range(elements):
        mesh.add_brick(i, 0, 0)
    mesh.place = lambda p: (p[0] * mesh.step[0], (p[1] - 1) * mesh.step[1], (p[2] - 1) * mesh.step[2])
    interfaces = [("root", mesh.face(lambda i, j, k: i == 0), (0, 0, 0)),
                  ("tip", mesh.face(lambda i, j, k: i == 2 * elements), (length, 0, 0))]
    write(folder, name, title, mesh, interfaces, ALUMINIUM)


def bracket(folder):
    """An L of two plates, 80 mm wide and 10 mm thick: the foot 120 mm along x, the arm 160 mm along z."""
    mesh = Mesh((0.005, 0.010, 0.005))
    foot, arm, width = 12, 16, 4
    for j in range(width):
        for i in range(foot):
            mesh.add_brick(i, j, 0)
        for k in range(1, arm):
            mesh.add_brick(0, j, k)
    interfaces = [("foot", mesh.face(lambda i, j, k: i == 2 * foot), (0.12, 0.04, 0.005)),
                  ("hand", mesh.face(lambda i, j, k: k == 2 * arm), (0.005, 0.04, 0.16))]
    write(folder, "bracket", "an L bracket of aluminium, 10 mm thick and 80 mm wide", mesh, interfaces, ALUMINIUM)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--rod":
        bar(Path(sys.argv[2]), "rod", "a rod of two bricks, for the tests", 0.2, 0.02, 2)
    else:
        here = Path(__file__).resolve().parent
        bar(here, "cantilever", "a beam of aluminium, 1 m x 20 mm x 20 mm", 1.0, 0.02, 10)
        bracket(here)
