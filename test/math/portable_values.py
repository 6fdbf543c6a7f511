#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes portable_values.h: elementary functions to 106 bits, by mpmath. Usage: portable_values.py >portable_values.h"""
import random

from mpmath import mp, mpf

mp.prec = 2400  # angles up to 1e308 are reduced by it
random.seed(20)
COUNT = 24


def between(low, high):
    return lambda: random.uniform(low, high)


def decades(low, high, signed=True):
    return lambda: 10 ** random.uniform(low, high) * (random.choice([1, -1]) if signed else 1)


def near(value, low, high):
    return lambda: value + random.choice([1, -1]) * 10 ** random.uniform(low, high)


def below_one():
    return (1 - 10 ** random.uniform(-15, -1)) * random.choice([1, -1])


def near_right_angle():
    return random.randint(1, 10**5) * 1.5707963267948966


ONE = {
    "sin": [between(-4, 4), decades(-9, 6), decades(6, 308)],
    "cos": [between(-4, 4), decades(-9, 6), decades(6, 308)],
    "tan": [between(-2, 2), decades(-9, 6), decades(6, 308), near_right_angle],
    "asin": [between(-1, 1), decades(-9, 0), below_one],
    "acos": [between(-1, 1), decades(-9, 0), below_one],
    "atan": [between(-2, 2), decades(-9, 9)],
    "sinh": [between(-1, 1), decades(-9, 2.8)],
    "cosh": [between(-1, 1), decades(-9, 2.8)],
    "tanh": [between(-3, 3), decades(-9, 1.3)],
    "exp": [between(-1, 1), between(-700, 700), decades(-9, 1)],
    "log": [between(0.5, 2), decades(-307, 307, False), near(1, -14, -1)],
    "log1p": [decades(-15, -0.1), decades(-3, 30, False)],
    "log10": [between(0.5, 2), decades(-307, 307, False)],
}
TWO = {
    "pow": [(decades(-20, 20, False), between(-10, 10)), (near(1, -9, -1), between(-300, 300)), (between(0, 2), between(-1, 1))],
    "atan2": [(between(-1, 1), between(-1, 1)), (decades(-9, 9), decades(-9, 9))],
    "hypot": [(between(-1, 1), between(-1, 1)), (decades(-9, 9), decades(-9, 9)), (decades(303, 307), decades(303, 307))],
}


def row(name, arguments):
    x = [mpf(a) for a in arguments]
    exact = {"log1p": lambda a: mp.log(1 + a), "pow": lambda a, b: a**b}.get(name, getattr(mp, name, None))(*x)
    high = float(exact)
    low = float(exact - mpf(high))
    x = list(arguments) + [0.0] * (2 - len(arguments))
    print("\t{%s, %s, %s, %s, %s}," % (name.upper(), x[0].hex(), x[1].hex(), high.hex(), low.hex()))


print("// SPDX-License-Identifier: Apache-2.0\n// Function, arguments, value as a sum of two doubles. Written by portable_values.py.")
print("// clang-format off\nstatic const Value values[] = {")
for name, kinds in ONE.items():
    for i in range(COUNT):
        row(name, [kinds[i % len(kinds)]()])
for name, kinds in TWO.items():
    for i in range(COUNT):
        row(name, [kind() for kind in kinds[i % len(kinds)]])
print("};\n// clang-format on")
