#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plant_unknown.py CALDER FILE...: an import report names everything that is not taken over.

Gives every element of a robot file an attribute that no reader knows, then every element a child that no reader knows, each
with a name of its own, and has `calder check --report json` read both files. Each planted name must be a line of the report at
its line and column, unless an element around it is reported as left out as a whole.
"""
import json
import os
import re
import subprocess
import sys
import xml.parsers.expat


def end_of_tag(data, at):
    """The '>' that ends the start tag at `at`."""
    quote = None
    while quote or data[at] != ord(">"):
        byte = data[at:at + 1]
        if quote:
            quote = None if byte == quote else quote
        elif byte in (b'"', b"'"):
            quote = byte
        at += 1
    return at


def elements(data):
    """(byte offset, name, [(line, column) of the element and of those around it]) of all elements, and their attributes."""
    parser, found, around = xml.parsers.expat.ParserCreate(), [], []

    def start(name, attributes):
        around.append((parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))
        found.append((parser.CurrentByteIndex, name, list(around), attributes))

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: around.pop()
    parser.Parse(data, True)
    return found


def plant(data, as_attributes):
    planted, done = b"", 0
    for number, (at, name, _, _) in enumerate(elements(data)):
        end = end_of_tag(data, at)
        is_empty = data[end - 1:end] == b"/"
        if as_attributes:
            cut = end - 1 if is_empty else end
            planted += data[done:cut] + b' planted%d="1"' % number
            done = cut
        else:
            planted += data[done:end - 1] + b">" if is_empty else data[done:end + 1]
            planted += b"<planted%d/>" % number + (b"</%s>" % name.encode() if is_empty else b"")
            done = end + 1
    return planted + data[done:]


def planted_places(data, as_attributes):
    """{number: places of the element and of those around it}"""
    places = {}
    for _, name, around, attributes in elements(data):
        for word in attributes if as_attributes else [name]:
            if word.startswith("planted"):
                places[int(word[7:])] = around
    return places


def check(calder, path, as_attributes):
    with open(path, "rb") as file:
        data = plant(file.read(), as_attributes)
    copy = os.path.join(os.path.dirname(path), "planted_" + os.path.basename(path))
    with open(copy, "wb") as file:
        file.write(data)
    run = subprocess.run([calder, "check", "--partial", "--report", "json", copy], capture_output=True, text=True)
    os.remove(copy)
    if not run.stdout.startswith("{"):
        print(f"{path}: no report: {run.stderr[:400]}")
        return False
    notes = [n for n in json.loads(run.stdout)["notes"] if os.path.basename(n["file"]) == os.path.basename(copy)]
    named, whole = {}, set()
    for note in notes:
        for number in re.findall(r"planted(\d+)", note["element"]):
            named[int(number)] = (note["line"], note["column"])
        if note["kind"] in ("ignored", "missing") and "@" not in note["element"]:
            whole.add((note["line"], note["column"]))
    good = True
    for number, around in planted_places(data, as_attributes).items():
        if named.get(number) != around[-1] and not whole.intersection(around):
            line = data.split(b"\n")[around[-1][0] - 1].decode().strip()
            print(f"{path}: planted{number} in line {around[-1][0]} is not in the report: {line}")
            good = False
    print(f"{os.path.basename(path)}: {'attributes' if as_attributes else 'elements'}, {len(named)} named by themselves")
    return good and len(named) > 0


def main():
    calder, *paths = sys.argv[1:]
    results = [check(calder, path, as_attributes) for path in paths for as_attributes in (True, False)]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
