#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the matrices of a punched DMIG file (large field) as OP4 files of every kind, and bulk data for their rows.

    write_op4.py test/data/fe/beam.pch FOLDER

Written from the description of OUTPUT4 and without the reader: text and binary; dense, sparse and BIGMAT; both byte orders;
words of 4 and 8 bytes; double precision."""
import struct
import sys
from pathlib import Path


def read_punch(path):
    """Grids, and matrices by name as full symmetric lists of lists with rows sorted by (grid, component)."""
    grids, entries, name, column = [], {}, None, None
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for k, line in enumerate(lines):
        if line.startswith("GRID*"):
            x = [line[40:56], line[56:72], lines[k + 1][8:24]]
            grids.append((int(line[8:24]), [float(v) for v in x]))
        elif line.startswith("DMIG*"):
            name, column = line[8:24].strip(), (int(line[24:40]), int(line[40:56]))
        elif line.startswith("*") and name:
            row = (int(line[8:24]), int(line[24:40]))
            value = float(line[40:56].replace("D", "E"))
            entries.setdefault(name, {})[(row, column)] = value
            entries[name][(column, row)] = value
    order = [(g, c) for g, _ in sorted(grids) for c in range(1, 7)]
    return grids, {n: [[e.get((r, c), 0.0) for r in order] for c in order] for n, e in entries.items()}


def strings(column):
    """First row (from 1) and values of each run of nonzeros."""
    runs = []
    for row, value in enumerate(column, 1):
        if value == 0:
            continue
        if runs and runs[-1][0] + len(runs[-1][1]) == row:
            runs[-1][1].append(value)
        else:
            runs.append((row, [value]))
    return runs


def nonzero_range(column):
    rows = [i for i, v in enumerate(column) if v != 0]
    return rows[0], column[rows[0]:rows[-1] + 1]


def text_values(values):
    lines = []
    for k in range(0, len(values), 3):
        lines.append("".join("%23.16E" % v for v in values[k:k + 3]))
    return lines


def write_text(path, matrices, kind, digit="E"):
    lines = []
    for name, columns in matrices.items():
        n = len(columns)
        lines.append("%8d%8d%8d%8d%-8s%s" % (n, -n if kind == "bigmat" else n, 6, 2, name, "1P,3E23.16"))
        for c, column in enumerate(columns, 1):
            if kind == "dense":
                first, values = nonzero_range(column)
                lines += ["%8d%8d%8d" % (c, first + 1, len(values))] + text_values(values)
                continue
            extra = 2 if kind == "bigmat" else 1
            runs = strings(column)
            lines.append("%8d%8d%8d" % (c, 0, sum(2 * len(v) + extra for _, v in runs)))
            for row, values in runs:
                if kind == "bigmat":
                    lines.append("%8d%8d" % (2 * len(values) + 1, row))
                else:
                    lines.append("%12d" % (row + 65536 * (2 * len(values) + 1)))
                lines += text_values(values)
        lines += ["%8d%8d%8d" % (n + 1, 1, 1), "%23.16E" % 1.0]
    text = "\n".join(lines) + "\n"
    Path(path).write_text(text if digit == "E" else text.replace("E+", "D+").replace("E-", "D-"), encoding="ascii")


def write_binary(path, matrices, kind, order="<", word=4):
    integer = "i" if word == 4 else "q"
    per_value = 2 if word == 4 else 1
    data = b""

    def record(payload):
        mark = struct.pack(order + "i", len(payload))
        return mark + payload + mark

    for name, columns in matrices.items():
        n = len(columns)
        head = struct.pack(order + "4" + integer, n, -n if kind == "bigmat" else n, 6, 2)
        data += record(head + name.encode().ljust(8 if word == 4 else 16))
        for c, column in enumerate(columns, 1):
            if kind == "dense":
                first, values = nonzero_range(column)
                head = struct.pack(order + "3" + integer, c, first + 1, per_value * len(values))
                data += record(head + struct.pack(order + "%dd" % len(values), *values))
                continue
            body = b""
            for row, values in strings(column):
                length = per_value * len(values)
                if kind == "bigmat":
                    body += struct.pack(order + "2" + integer, length + 1, row)
                else:
                    body += struct.pack(order + integer, row + 65536 * (length + 1))
                body += struct.pack(order + "%dd" % len(values), *values)
            data += record(struct.pack(order + "3" + integer, c, 0, len(body) // word) + body)
        data += record(struct.pack(order + "3" + integer, n + 1, 1, per_value) + struct.pack(order + "d", 1.0))
    Path(path).write_bytes(data)


def main():
    grids, matrices = read_punch(sys.argv[1])
    folder = Path(sys.argv[2])
    cards = ["GRID,%d,,%.17g,%.17g,%.17g" % (g, *x) for g, x in reversed(grids)]  # the order of the cards does not matter
    renamed = {"KAA": matrices["KAAX"], "MAA": matrices["MAAX"]}
    files = {}
    for kind in ("dense", "sparse", "bigmat"):
        files["text_" + kind] = lambda p, k=kind: write_text(p, renamed, k)
        files["little_" + kind] = lambda p, k=kind: write_binary(p, renamed, k, "<")
        files["big_" + kind] = lambda p, k=kind: write_binary(p, renamed, k, ">")
        files["wide_" + kind] = lambda p, k=kind: write_binary(p, renamed, k, "<", 8)
    files["text_d"] = lambda p: write_text(p, renamed, "dense", "D")
    for name, write in files.items():
        write(folder / (name + ".op4"))
        (folder / (name + ".bdf")).write_text("\n".join(cards) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
