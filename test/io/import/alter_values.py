#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""alter_values.py CALDER FILE...: each value of a robot file counts, or the import report names it.

Alters one attribute or text of the file at a time and converts both files to model files. If these are the same, the report
must have a line on the attribute or its element, or leave out an element around it as a whole. Names that only
distinguish parts are exceptions, and so are the values in UNUSED, of which each has its reason.
"""
import json
import os
import re
import subprocess
import sys

from plant_unknown import elements, end_of_tag

LABELS = {("visual", "name"), ("world", "name"), ("frame", "name"), ("exclude", "name")}
UNUSED = {
    ("material", "name"): "one that has its own color refers to nothing",
    ("type", None): "of a transmission: any that contains SimpleTransmission",
    ("gazebo", "reference"): "all inside is left out",
    ("mesh", "file"): "no geom draws it",
    ("mesh", "name"): "no geom draws it",
    ("mesh", "scale"): "the file of the mesh is not there, or no geom draws it",
    ("scale", None): "the file of the mesh is not there",
}


def values(data):
    """(begin, end, element, attribute or None, places of the element and of those around it)"""
    for at, name, around, _ in elements(data):
        end = end_of_tag(data, at)
        for found in re.finditer(rb"([\w:.-]+)\s*=\s*([\"'])(.*?)\2", data[at:end], re.S):
            yield at + found.start(3), at + found.end(3), name, found[1].decode(), around
        close = data.find(b"<", end)
        if data[end - 1:end] != b"/" and data[close:close + 2] == b"</" and data[end + 1:close].strip():
            yield end + 1, close, name, None, around


def altered(text):
    opposite = {"true": "false", "false": "true", "enable": "disable", "disable": "enable"}
    if text in opposite:
        return opposite[text]
    try:
        first, *others = [float(word) for word in text.split()]
        return " ".join(map(repr, [0.75 * first + 0.0625, *others]))
    except ValueError:
        return text + "x"


def run(calder, *arguments):
    return subprocess.run([calder, *arguments], capture_output=True, text=True)


def converted(calder, path):
    """The model file without its comments; None: the robot file was refused, so that the value counts."""
    out = path + ".yaml"
    done = run(calder, "convert", "--partial", path, "-o", out).returncode == 0
    if not done:
        return None
    with open(out) as file:
        text = re.sub(r"^#.*$", "", file.read(), flags=re.M)
    os.remove(out)
    return text


def is_named(calder, path, attribute, around):
    report = json.loads(run(calder, "check", "--partial", "--report", "json", path).stdout)
    for note in report["notes"]:
        place = (note["line"], note["column"])
        if os.path.basename(note["file"]) != os.path.basename(path):
            continue
        if place == around[-1] and ("@" not in note["element"] or note["element"].endswith("@" + str(attribute))):
            return True
        if place in around and "@" not in note["element"] and note["kind"] in ("ignored", "missing"):
            return True
    return False


def check(calder, path):
    with open(path, "rb") as file:
        data = file.read()
    copy = os.path.join(os.path.dirname(path), "altered_" + os.path.basename(path))
    good, count, named = True, 0, 0

    def convert(text):
        with open(copy, "wb") as file:
            file.write(text)
        return converted(calder, copy)

    unchanged = convert(data)
    for begin, end, element, attribute, around in values(data):
        count += 1
        if (element, attribute) in LABELS or (element, attribute) in UNUSED:
            continue
        text = data[begin:end].decode()
        if convert(data[:begin] + altered(text).encode() + data[end:]) != unchanged:
            continue
        named += 1
        if not is_named(calder, copy, attribute, around):
            print(f"{path}:{around[-1][0]}: <{element}> {attribute}: {text!r} has no effect, and the report does not say so")
            good = False
    os.remove(copy)
    print(f"{os.path.basename(path)}: {count} values, {named} without effect and named")
    return good and unchanged is not None and named > 0


def main():
    calder, *paths = sys.argv[1:]
    results = [check(calder, path) for path in paths]
    return 0 if results and all(results) else 1


sys.exit(main())
