#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes station.yaml: a space station whose arm captures a drifting cargo vehicle, berths it and lets go.

    python3 make_station.py > station.yaml

The file holds what happens; this program holds how the arm gets there. By inverse kinematics of its own it computes the
joint angles that let the hand meet the grapple fixture of the tumbling vehicle with its velocity, stop it, carry it to
the port and back off, and the efforts that rigid links need for that, which the motors get beside what the servos add.
Until the capture it also follows how the station reacts to the arm (momentum of rigid bodies). Flexibility, errors
of the servos and what the impulses do are left for the simulation to find out.

Station axes: x forward, y starboard, z up (away from the Earth). All angles in rad, everything else in SI units.
"""
import math

# ---- vectors, matrices, rotations ---------------------------------------------------------------------


def add(a, b, k=1.0):
    return [x + k * y for x, y in zip(a, b)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def apply(A, v):
    return [dot(row, v) for row in A]


def product(A, B):
    return [[dot(row, column) for column in zip(*B)] for row in A]


def transpose(A):
    return [list(row) for row in zip(*A)]


IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def turn(vector):
    """The rotation by a rotation vector."""
    angle = math.sqrt(dot(vector, vector))
    if angle < 1e-12:
        return IDENTITY
    x, y, z = (c / angle for c in vector)
    s, c = math.sin(angle), math.cos(angle)
    k = 1 - c
    return [[c + k * x * x, k * x * y - s * z, k * x * z + s * y],
            [k * x * y + s * z, c + k * y * y, k * y * z - s * x],
            [k * x * z - s * y, k * y * z + s * x, c + k * z * z]]


def turn_vector(R):
    """The rotation vector of a rotation by less than half a turn."""
    v = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]
    s = math.sqrt(dot(v, v)) / 2
    angle = math.atan2(s, (R[0][0] + R[1][1] + R[2][2] - 1) / 2)
    return [c / 2 if s < 1e-9 else c * angle / (2 * s) for c in v]


def solve(A, b):
    """A x = b by elimination with pivots."""
    n = len(b)
    rows = [list(row) + [value] for row, value in zip(A, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[p] = rows[p], rows[i]
        for k in range(i + 1, n):
            rows[k] = add(rows[k], rows[i], -rows[k][i] / rows[i][i])
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - dot(rows[i][i + 1:n], x[i + 1:])) / rows[i][i]
    return x


def smooth(t, t0, t1):
    """From 0 at t0 to 1 at t1, at rest at both ends (quintic)."""
    s = min(max((t - t0) / (t1 - t0), 0.0), 1.0)
    return s * s * s * (10 - s * (15 - 6 * s))


# ---- the station --------------------------------------------------------------------------------------

WHITE, SILVER, GREY, DARK = "#e8e9ec", "#c3c8cf", "#8d949e", "#4a4f57"
GOLD, FOIL, ORANGE, BLUE = "#c9a24b", "#b08d57", "#d9772b", "#27407a"

SEGMENTS, TRUSS, TRUSS_SIDE = 9, 109.0, 4.2  # segments on each side of the middle one; length, width and height [m]
SEGMENT = TRUSS / (2 * SEGMENTS + 1)
ALPHA_AFTER = 4  # the alpha joints are outboard of this segment
WINGS_ON = (6, 9)  # segments that carry solar arrays
WING_LENGTH, WING_WIDTH, WING_MASS, WING_EI = 35.0, 12.0, 1090.0, 1.49e6
CORE_Z = -4.4
PORT = [10.6, 0.0, CORE_Z - 2.5]  # for berthing, under node_2
BASE = [-0.5, 0.0, CORE_Z - 2.2]  # foot of the arm, under the laboratory
BASE_TURN = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]  # x of the arm points down, z forward

# name, parent, mass [t], center in the station, axis, radius, length
MODULES = [
    ("laboratory", "truss", 32, [2.75, 0, CORE_Z], "x", 2.2, 8.5),
    ("node_2", "laboratory", 22, [10.6, 0, CORE_Z], "x", 2.2, 7.2),
    ("science_starboard", "node_2", 24, [10.6, 5.65, CORE_Z], "y", 2.2, 6.9),
    ("science_port", "node_2", 32, [10.6, -7.8, CORE_Z], "y", 2.2, 11.2),
    ("node_1", "laboratory", 22, [-4.25, 0, CORE_Z], "x", 2.2, 5.5),
    ("airlock", "node_1", 14, [-4.25, 4.95, CORE_Z], "y", 1.8, 5.5),
    ("node_3", "node_1", 24, [-4.25, -5.55, CORE_Z], "y", 2.2, 6.7),
    ("store", "node_3", 18, [1.25, -6.6, CORE_Z], "x", 2.2, 6.6),
    ("control_module", "node_1", 28, [-13.3, 0, CORE_Z], "x", 2.05, 12.6),
    ("service_module", "control_module", 28, [-26.15, 0, CORE_Z], "x", 2.05, 13.1),
    ("multipurpose_module", "service_module", 24, [-24, 0, CORE_Z - 8.6], "z", 2.1, 13.0),
    ("crew_ship", "control_module", 7, [-13.3, 0, CORE_Z - 5.7], "z", 1.3, 7.2),
]


def truss_name(k):
    return "truss" if k == 0 else f"truss_{'starboard' if k > 0 else 'port'}_{abs(k)}"


def rigid_bodies():
    """Name, mass, center in the station, sides of a box or (axis, radius, length)."""
    for k in range(-SEGMENTS, SEGMENTS + 1):
        yield truss_name(k), 14e3 if k == 0 else 4.55e3, [0, k * SEGMENT, 0], [TRUSS_SIDE, SEGMENT, TRUSS_SIDE]
    for name, _, tons, center, axis, radius, length in MODULES:
        yield name, 1e3 * tons, center, (axis, radius, length)
    for side in (-1, 1):
        yield f"radiator_{side}", 3.2e3, [-14.1, 2 * side * SEGMENT, 0], [23, 10, 0.2]
        yield f"small_radiator_{side}", 800, [0, 6 * side * SEGMENT, -9.1], [0.2, 3.4, 13.6]
        for k in WINGS_ON:
            for way in (-1, 1):
                center = [way * (3.1 + WING_LENGTH / 2), side * k * SEGMENT, 0]
                yield "wing", WING_MASS, center, [WING_LENGTH, WING_WIDTH, 0.1]


def inertia_of(mass, shape):
    """Diagonal, about the center."""
    if isinstance(shape, tuple):
        axis, r, length = shape
        return [mass * (r * r / 2 if a == axis else r * r / 4 + length * length / 12) for a in "xyz"]
    squares = [s * s for s in shape]
    return [mass * (sum(squares) - s) / 12 for s in squares]


def diagonal(d):
    return [[d[i] if i == j else 0.0 for j in range(3)] for i in range(3)]


def turned(R, d):
    """R D R' of a diagonal D."""
    return product(R, [[d[i] * R[j][i] for j in range(3)] for i in range(3)])


def shifted(mass, place, inertia):
    """Inertia about the origin of a mass at a place, given the one about its center."""
    rr = dot(place, place)
    return [[inertia[i][j] + mass * ((rr if i == j else 0) - place[i] * place[j]) for j in range(3)] for i in range(3)]


def station_mass():
    """Mass, first moment and inertia about the origin, the arm left out."""
    mass, first, inertia = 0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)]
    for _, m, center, shape in rigid_bodies():
        own = shifted(m, center, diagonal(inertia_of(m, shape)))
        mass, first, inertia = mass + m, add(first, center, m), [add(a, b) for a, b in zip(inertia, own)]
    return mass, first, inertia


# ---- the arm ------------------------------------------------------------------------------------------

# Joints: name, axis, where it is on the link before it.
JOINTS = [
    ("shoulder_roll", "x", [1.3589, 0, 0]),
    ("shoulder_yaw", "z", [0, 0, 0.7026]),
    ("shoulder_pitch", "y", [0, -0.5692, 0]),
    ("elbow_pitch", "y", [7.11, -0.475, 0]),
    ("wrist_pitch", "y", [7.11, 0, 0]),
    ("wrist_yaw", "z", [0, -0.5692, 0]),
    ("wrist_roll", "x", [0, 0, -0.7026]),
]
HAND = 1.3589  # from the wrist roll joint to the grapple
# Links: name, mass, vector from its frame to its other end; cylinders of radius RADIUS.
LINKS = [
    ("foot", 243.66, [1.3589, 0, 0]),
    ("shoulder_1", 105.98, [0, 0, 0.7026]),
    ("shoulder_2", 105.98, [0, -0.5692, 0]),
    ("upper_boom", 314.88, [7.11, 0, 0]),
    ("lower_boom", 279.2, [7.11, 0, 0]),
    ("wrist_2", 105.98, [0, -0.5692, 0]),
    ("wrist_1", 105.98, [0, 0, -0.7026]),
    ("hand", 243.66, [HAND, 0, 0]),
]
RADIUS, BOOM_EI = 0.175, 4.0e6
RATE_LIMIT, TORQUE_LIMIT = 0.0698, 2332.0
ROTOR_INERTIA, GEAR = 5e-4, 1845.0  # of a motor
ROTOR = ROTOR_INERTIA * GEAR**2
AXIS = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}


def chain(q):
    """Frames of the eight links in the station, (R, p), and the axes of the seven joints."""
    R, p = BASE_TURN, BASE
    frames, axes = [(R, p)], []
    for (_, axis, at), angle in zip(JOINTS, q):
        p = add(p, apply(R, at))
        axes.append(apply(R, AXIS[axis]))
        R = product(R, turn([angle * c for c in AXIS[axis]]))
        frames.append((R, p))
    return frames, axes


def hand_pose(frames):
    R, p = frames[-1]
    return R, add(p, apply(R, [HAND, 0, 0]))


def reach(R, p, roll, guess):
    """Angles that bring the hand to a pose, by Newton's method; the shoulder's roll is given."""
    q = [roll] + list(guess[1:])
    for _ in range(60):
        frames, axes = chain(q)
        Rh, ph = hand_pose(frames)
        error = add(p, ph, -1) + turn_vector(product(R, transpose(Rh)))
        if max(abs(e) for e in error) < 1e-12:
            return q
        columns = [cross(a, add(ph, f[1], -1)) + a for a, f in zip(axes[1:], frames[2:])]
        step = solve(transpose(columns), error)
        q = q[:1] + add(q[1:], step, min(1.0, 0.3 / max(abs(s) for s in step)))
    raise SystemExit(f"the arm does not reach {p}")


def link_inertia(mass, end):
    along = max(range(3), key=lambda k: abs(end[k]))
    return inertia_of(mass, ("xyz"[along], RADIUS, abs(end[along])))


def arm_momentum(q, rates):
    """Mass, first moment, inertia, linear and angular momentum of the arm about the station's origin, in its axes."""
    frames, axes = chain(q)
    mass, first, inertia = 0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)]
    linear, angular, v, w = [0.0] * 3, [0.0] * 3, [0.0] * 3, [0.0] * 3
    for i, ((R, p), (_, m, end)) in enumerate(zip(frames, LINKS)):
        if i > 0:
            v = add(v, cross(w, add(p, frames[i - 1][1], -1)))
            w = add(w, axes[i - 1], rates[i - 1])
        along = max(range(3), key=lambda k: abs(end[k]))
        d = inertia_of(m, ("xyz"[along], RADIUS, abs(end[along])))
        I = product(R, [[d[r] * R[c][r] for c in range(3)] for r in range(3)])
        arm = apply(R, [e / 2 for e in end])
        c, vc = add(p, arm), add(v, cross(w, arm))
        mass, first = mass + m, add(first, c, m)
        inertia = [add(a, b) for a, b in zip(inertia, shifted(m, c, I))]
        linear = add(linear, vc, m)
        angular = add(add(angular, cross(c, vc), m), apply(I, w))
    return mass, first, inertia, linear, angular


# ---- the cargo vehicle --------------------------------------------------------------------------------

HULL_MASS, HULL_RADIUS, HULL_LENGTH = 3880.0, 1.6, 6.0
PANEL_MASS, PANEL_LENGTH, PANEL_WIDTH, PANEL_EI = 60.0, 5.0, 2.0, 5.986e3
FIXTURE = [-1.75, 0.0, -0.5]  # grapple fixture on the hull; x points into it
HULL_PORT = [0.0, 0.0, 3.15]
VELOCITY = [0.012, -0.025, 0.015]  # [m/s]
MEET_PLACE = add(add(PORT, HULL_PORT, -1), [1.2, 1.0, -5.5])  # of the hull when it is captured, in the world
MEET_TURN = [math.radians(a) for a in (6, -5, 8)]
MEET_RATE = [math.radians(a) for a in (0.08, -0.10, 0.12)]  # [rad/s], hull axes


def cargo_inertia():
    total = inertia_of(HULL_MASS, ("z", HULL_RADIUS, HULL_LENGTH))
    for side in (-1, 1):
        own = diagonal(inertia_of(PANEL_MASS, [PANEL_WIDTH, PANEL_LENGTH, 0.05]))
        moved = shifted(PANEL_MASS, [0, side * (HULL_RADIUS + PANEL_LENGTH / 2), 0], own)
        total = [total[i] + moved[i][i] for i in range(3)]
    return total


def tumble(back, step=0.1):
    """Orientation and rate of the vehicle this long before it is captured: Euler's equations, midpoint rule."""
    I, R, w = cargo_inertia(), turn(MEET_TURN), MEET_RATE

    def rate(w):
        return [c / i for c, i in zip(cross([a * b for a, b in zip(I, w)], w), I)]

    for _ in range(round(back / step)):
        middle = add(w, rate(w), -step / 2)
        R = product(R, turn([-step * c for c in middle]))
        w = add(w, rate(middle), -step)
    return R, w


# ---- the plan -----------------------------------------------------------------------------------------

GRID = 0.5  # [s] of the planning and of the references; efforts have every second point
UNFOLDED, CLOSING, MEET = 40.0, 40.0, 62.0
DAMPED, CARRY, FINAL, BERTHED, BACK, END = 74.0, 76.0, 112.0, 128.0, 138.0, 150.0
STANDOFF, BELOW, RETREAT = 1.5, 0.4, 1.6  # [m]
STOWED = [math.radians(a) for a in (40, 20, 60, -150, 40, -25, 60)]
ROLL = math.radians(10)  # of the shoulder at work
GUESS = [ROLL, 0.0, 0.1, -1.6, 0.3, 0.0, 0.0]


def times(end):
    return [GRID * k for k in range(round(end / GRID) + 1)]


def flight():
    """Pose of the fixture in the world on the grid, a little beyond the capture."""
    poses = []
    for t in times(MEET + GRID):
        R = tumble(MEET - t)[0] if t <= MEET else product(turn(MEET_TURN), turn([GRID * w for w in MEET_RATE]))
        poses.append((R, add(add(MEET_PLACE, VELOCITY, t - MEET), apply(R, FIXTURE))))
    return poses


def seen_from(station, pose):
    (R0, p0), (R, p) = station, pose
    return product(transpose(R0), R), apply(transpose(R0), add(p, p0, -1))


def follow(fixture, drift):
    """Joint angles from the stowed arm to the capture."""
    angles, guess = [], GUESS
    for t, pose, station in zip(times(MEET + GRID), fixture, drift):
        R, p = seen_from(station, pose)
        off = STANDOFF * (1 - smooth(t, CLOSING, MEET))
        guess = reach(R, add(p, apply(R, [off, 0, 0]), -1), ROLL, guess)
        angles.append(add([(1 - smooth(t, 0, UNFOLDED)) * q for q in STOWED], guess, smooth(t, 0, UNFOLDED)))
    return angles


def give_way(angles):
    """How the station moves while the arm does: linear and angular momentum stay zero."""
    mass0, first0, inertia0 = station_mass()
    R, p, drift, last = IDENTITY, [0.0] * 3, [], [0.0] * 6
    for k, q in enumerate(angles):
        before, after = angles[max(k - 1, 0)], angles[min(k + 1, len(angles) - 1)]
        rates = [d / (2 * GRID) for d in add(after, before, -1)]
        m, first, inertia, linear, angular = arm_momentum(q, rates)
        m, first, inertia = m + mass0, add(first, first0), [add(a, b) for a, b in zip(inertia, inertia0)]
        f = first
        lever = [[0, f[2], -f[1]], [-f[2], 0, f[0]], [f[1], -f[0], 0]]  # w x f = lever w
        A = [[m * (i == j) for j in range(3)] + lever[i] for i in range(3)]
        A += [[lever[j][i] for j in range(3)] + inertia[i] for i in range(3)]
        twist = solve(A, [-c for c in linear + angular])
        if k > 0:
            mean = [GRID * (a + b) / 2 for a, b in zip(twist, last)]
            p, R = add(p, apply(R, mean[:3])), product(R, turn(mean[3:]))
        last = twist
        drift.append((R, p))
    return drift


def capture_plan():
    """Angles up to the capture; pose and velocity of the fixture then, seen from the station."""
    fixture = flight()
    drift = [(IDENTITY, [0.0] * 3)] * len(fixture)
    for _ in range(3):
        angles = follow(fixture, drift)
        drift = give_way(angles)
    (Ra, pa), (R, p), (Rb, pb) = (seen_from(drift[k], fixture[k]) for k in (-3, -2, -1))
    velocity = [c / (2 * GRID) for c in add(pb, pa, -1)]
    rate = [c / (2 * GRID) for c in turn_vector(product(Rb, transpose(Ra)))]
    return angles[:-1], R, p, velocity, rate


def carried(t, R, p, velocity, rate):
    """Pose of the hand in the station from the capture on."""
    span = DAMPED - MEET
    s = min((t - MEET) / span, 1.0)
    gone = span * (s - s**4 * (2.5 - s * (3 - s)))  # integral of 1 - smooth
    R, p = product(turn([gone * c for c in rate]), R), add(p, velocity, gone)
    berth = add(add(PORT, HULL_PORT, -1), FIXTURE)
    k = smooth(t, CARRY, FINAL)
    R = product(turn([k * c for c in turn_vector(transpose(R))]), R)
    p = add([(1 - k) * c for c in p], add(berth, [0, 0, -BELOW]), k)
    p = add(p, [0, 0, BELOW], smooth(t, FINAL, BERTHED))
    return R, add(p, [RETREAT, 0, 0], -smooth(t, BACK, END))


def plan():
    """Angles of the seven joints on the grid."""
    angles, *meeting = capture_plan()
    for t in times(END)[len(angles):]:
        R, p = carried(t, *meeting)
        angles.append(reach(R, p, ROLL, angles[-1]))
    fastest = max(abs(b - a) / GRID for x, y in zip(angles, angles[1:]) for a, b in zip(x, y))
    if fastest > RATE_LIMIT:
        raise SystemExit(f"a joint turns at {fastest:.4f} rad/s, above its limit")
    return angles


def efforts(q, rates, accelerations, loaded):
    """What the joints need for a motion, perhaps with the vehicle: Newton and Euler, rigid links, station at rest."""
    frames, axes = chain(q)
    loads = [(mass, add(p, apply(R, [e / 2 for e in end])), R, link_inertia(mass, end), i)
             for i, ((R, p), (_, mass, end)) in enumerate(zip(frames, LINKS))]
    if loaded:
        R, p = hand_pose(frames)
        loads.append((HULL_MASS + 2 * PANEL_MASS, add(p, apply(R, FIXTURE), -1), R, cargo_inertia(), len(LINKS) - 1))
    result = [ROTOR * a for a in accelerations]
    for mass, c, R, inertia, link in loads:
        w, dw, a, p = [0.0] * 3, [0.0] * 3, [0.0] * 3, BASE
        for i in range(link):  # out to the link
            r = add(frames[i + 1][1], p, -1)
            a, p = add(add(a, cross(dw, r)), cross(w, cross(w, r))), frames[i + 1][1]
            dw = add(add(dw, axes[i], accelerations[i]), cross(w, axes[i]), rates[i])
            w = add(w, axes[i], rates[i])
        r = add(c, p, -1)
        force = [mass * k for k in add(add(a, cross(dw, r)), cross(w, cross(w, r)))]
        I = turned(R, inertia)
        moment = add(apply(I, dw), cross(w, apply(I, w)))
        for i in range(link):  # every joint on the way bears it
            result[i] += dot(axes[i], add(moment, cross(add(c, frames[i + 1][1], -1), force)))
    return result


def feed_forward(angles):
    """Efforts of the joints on the grid."""
    out = []
    for k, q in enumerate(angles):
        before, after = angles[max(k - 1, 0)], angles[min(k + 1, len(angles) - 1)]
        rates = [d / (2 * GRID) for d in add(after, before, -1)]
        accelerations = [d / GRID**2 for d in add(add(after, before), q, -2)]
        out.append(efforts(q, rates, accelerations, MEET <= k * GRID <= BERTHED))
    largest = max(abs(e) for row in out for e in row)
    if largest > TORQUE_LIMIT:
        raise SystemExit(f"a joint needs {largest:.0f} N m, above its limit")
    return out


# ---- the file -----------------------------------------------------------------------------------------


def number(value):
    return f"{value:.9g}"


def vector(values):
    return "[" + ", ".join(number(v + 0.0) for v in values) + "]"


def box(sides, color, at=None):
    return f"{{box: {vector(sides)}, color: \"{color}\"" + (f", at: {vector(at)}" if at else "") + "}"


def tube(radius, start, end, color):
    return f"{{cylinder: {{radius: {number(radius)}, from: {vector(start)}, to: {vector(end)}}}, color: \"{color}\"}}"


def visuals(shapes, indent):
    return ("\n" + " " * indent).join("- " + s for s in shapes)


def truss_visuals():
    h, e = TRUSS_SIDE / 2 - 0.15, SEGMENT / 2
    corners = [(-h, -h), (h, -h), (h, h), (-h, h)]
    shapes = [tube(0.14, [x, -e, z], [x, e, z], SILVER) for x, z in corners]
    for (x, z), (x2, z2) in zip(corners, corners[1:] + corners[:1]):
        shapes += [tube(0.1, [x, e, z], [x2, e, z2], SILVER), tube(0.07, [x, -e, z], [x2, e, z2], GREY)]
    return shapes + [box([2.2, 0.6 * SEGMENT, 1.6], FOIL)]


def module_visuals(axis, radius, length):
    k = "xyz".index(axis)

    def on(s):
        return [s if i == k else 0.0 for i in range(3)]

    return [tube(radius, on(-length / 2 + 0.5), on(length / 2 - 0.5), WHITE),
            tube(0.6 * radius, on(-length / 2), on(length / 2), GREY)]


HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Written by make_station.py: change that, not this.
#
# A space station of {bodies} bodies and {tons:.0f} t, free of outer forces: modules, a truss of 109 m, eight flexible solar
# arrays on alpha and beta joints that follow the sun, radiators, and an arm with seven joints and two flexible booms. A
# cargo vehicle of 4 t drifts past at 3 cm/s and tumbles. The arm unfolds, follows it, takes it by its grapple fixture
# (capture), brings it to rest (damped), carries it to the port under node_2 and holds it there until the latches close
# (berthing: arm, vehicle and station are then a closed loop), lets go (release) and backs off.
# docs/flagship.md describes it, with accuracy and speed.
#
# Sizes and masses are like those of the International Space Station as they are public: truss 109 m, eight arrays of
# 35 m by 12 m, 420 t in all (NASA, "International Space Station Facts and Figures"; "Reference Guide to the
# International Space Station", NP-2015-05-022-JSC). How the mass is spread, stiffness and damping are choices. The arm
# has the masses, lengths, offsets, rate and torque limits of the SSRMS (P. K. Nguyen, P. C. Hughes, "Teleoperation:
# from the Space Shuttle to the Space Station", in: Teleoperation and Robotics in Space, AIAA 1994, as quoted in the
# literature); its links are homogeneous cylinders, and stiffness, motors and control are choices.
calder: 1
title: A station captures and berths a cargo vehicle
"""


def write_definitions():
    print(f"""
define:
  segment: &segment
    mass: 4550
    box: {vector([TRUSS_SIDE, SEGMENT, TRUSS_SIDE])}
    visual: &lattice
      {visuals(truss_visuals(), 6)}
  wing: &wing
    panel:
      length: {number(WING_LENGTH)}
      width: {number(WING_WIDTH)}
      cells_x: 7
      cells_y: 2
      rib_x: {{EIy: {number(WING_EI / 3)}, GJ: 1e5, rhoA: 1}}
      rib_y: {{EIy: 3e5, GJ: 1e5, rhoA: 0.5}}
      cover_mass: {number(WING_MASS - 3 * WING_LENGTH - 0.5 * 8 * WING_WIDTH)}
      modes: 4
      damping_ratio: 0.005
    visual: {box([1.0, 1.4, 0.7], BLUE, [-0.5, 0, 0])}
  panel: &panel
    panel:
      length: {number(PANEL_LENGTH)}
      width: {number(PANEL_WIDTH)}
      cells_x: 4
      cells_y: 2
      rib_x: {{EIy: {number(PANEL_EI / 3)}, GJ: 800, rhoA: 1}}
      rib_y: {{EIy: 2000, GJ: 800, rhoA: 0.5}}
      cover_mass: {number(PANEL_MASS - 3 * PANEL_LENGTH - 0.5 * 5 * PANEL_WIDTH)}
      modes: 4
      damping_ratio: 0.005
    visual: {tube(0.08, [-0.1, 0, 0], [0.1, 0, 0], BLUE)}
  motor: &motor {{rotor_inertia: {number(ROTOR_INERTIA)}, gear_ratio: {number(GEAR)}}}""")


def write_truss():
    print(f"  truss: {{mass: 14000, box: {vector([TRUSS_SIDE, SEGMENT, TRUSS_SIDE])}, visual: *lattice}}")
    for side in (1, -1):
        for k in range(1, SEGMENTS + 1):
            print(f"  {truss_name(side * k)}: *segment")


def write_modules():
    for name, _, tons, _, axis, radius, length in MODULES:
        nodes = "\n    nodes: {port: [0, 0, -2.5]}" if name == "node_2" else ""
        shapes = module_visuals(axis, radius, length)
        if name == "node_2":
            shapes.append(tube(0.9, [0, 0, -2.5], [0, 0, -2.0], DARK))
        if name == "laboratory":
            shapes.append(tube(0.4, [BASE[0] - 2.75, 0, -2.2], [BASE[0] - 2.75, 0, -2.0], DARK))
        if name == "service_module":
            shapes.append(box([3.0, 24.0, 0.1], BLUE))
        print(f"""  {name}:
    mass: {1000 * tons}
    cylinder: {{radius: {radius}, length: {length}, axis: {axis}}}{nodes}
    visual:
      {visuals(shapes, 6)}""")


def write_radiators():
    for side in ("starboard", "port"):
        leaves = [box([22.5, 3.1, 0.15], WHITE, [-0.25, y, 0]) for y in (-3.4, 0, 3.4)]
        print(f"""  radiator_{side}:
    mass: 3200
    box: [23, 10, 0.2]
    visual:
      {visuals(leaves + [box([0.4, 9.6, 0.4], GREY, [11.3, 0, 0])], 6)}
  small_radiator_{side}: {{mass: 800, box: [0.2, 3.4, 13.6], visual: {box([0.15, 3.4, 13.6], WHITE)}}}""")


def wings():
    """Name, segment that carries it, which way it points."""
    for side in (1, -1):
        for k in WINGS_ON:
            for way in (1, -1):
                name = f"wing_{'starboard' if side > 0 else 'port'}_{k}{'a' if way > 0 else 'b'}"
                yield name, truss_name(side * k), way


def write_arm():
    for name, mass, end in LINKS:
        if "boom" in name:
            line = mass / end[0]
            bend, rotary = number(BOOM_EI), number(line * RADIUS**2 / 4)
            print(f"""  {name}:
    beam:
      length: {number(end[0])}
      section: {{EIy: {bend}, EIz: {bend}, rhoA: {number(line)}, rhoIy: {rotary}, rhoIz: {rotary}}}
      elements: 6
      modes: 4
      damping_ratio: 0.01
    visual:
      {visuals([tube(RADIUS, [0.2, 0, 0], [end[0] - 0.2, 0, 0], WHITE), tube(0.24, [0, -0.25, 0], [0, 0.25, 0], SILVER),
              tube(0.24, [end[0], -0.25, 0], [end[0], 0.25, 0], SILVER)], 6)}""")
            continue
        shapes = [tube(RADIUS, [0, 0, 0], end, SILVER)]
        if name in ("foot", "hand"):
            start = 0.0 if name == "foot" else HAND - 0.5
            shapes.append(tube(0.3, [start, 0, 0], [start + 0.5, 0, 0], GOLD))
        tip = f", nodes: {{tip: {vector(end)}}}" if name == "hand" else ""
        print(f"  {name}: {{mass: {mass}, cylinder: {{radius: {RADIUS}, from: [0, 0, 0], to: {vector(end)}}}{tip},")
        print(f"    visual: [{', '.join(shapes)}]}}")


def write_cargo():
    e = HULL_LENGTH / 2
    shapes = [tube(HULL_RADIUS, [0, 0, -0.5], [0, 0, e - 0.3], WHITE),
              tube(HULL_RADIUS - 0.1, [0, 0, -e], [0, 0, -0.5], GOLD),
              tube(0.9, [0, 0, e - 0.3], HULL_PORT, DARK), tube(0.5, [0, 0, -e - 0.5], [0, 0, -e], DARK),
              tube(0.28, [-HULL_RADIUS, 0, FIXTURE[2]], FIXTURE, ORANGE)]
    print(f"""  cargo:
    group: visitor
    mass: {number(HULL_MASS)}
    cylinder: {{radius: {HULL_RADIUS}, length: {HULL_LENGTH}}}
    nodes: {{fixture: {vector(FIXTURE)}, port: {vector(HULL_PORT)}}}
    visual:
      {visuals(shapes, 6)}
  cargo_panel_starboard: {{<<: *panel, group: visitor}}
  cargo_panel_port: {{<<: *panel, group: visitor}}""")


def write_joints():
    print("\njoints:\n  flight: {type: free, to: truss}")
    for side, name in ((1, "starboard"), (-1, "port")):
        h = vector([0, side * SEGMENT / 2, 0])
        for k in range(1, SEGMENTS + 1):
            a, b = truss_name(side * (k - 1)), truss_name(side * k)
            if k == ALPHA_AFTER + 1:
                print(f"  alpha_{name}: {{type: revolute, axis: y, from: {a}, to: {b}, inboard: {h}, outboard: {h}}}")
            else:
                print(f"  joint_{b}: {{type: weld, from: {a}, to: {b}, inboard: {vector([0, side * SEGMENT, 0])}}}")
    places = {name: center for name, _, _, center, *_ in MODULES}
    places["truss"] = [0.0, 0.0, 0.0]
    for name, parent, _, center, *_ in MODULES:
        offset = vector(add(center, places[parent], -1))
        print(f"  joint_{name}: {{type: weld, from: {parent}, to: {name}, inboard: {offset}}}")
    for side, name in ((1, "starboard"), (-1, "port")):
        print(f"  joint_radiator_{name}: {{type: weld, from: {truss_name(2 * side)}, to: radiator_{name}, "
              "inboard: [-14.1, 0, 0]}")
        print(f"  joint_small_radiator_{name}: {{type: weld, from: {truss_name(6 * side)}, to: small_radiator_{name}, "
              "inboard: [0, 0, -9.1]}")
    for name, segment, way in wings():
        place = "at: [3.1, 0, 0]" if way > 0 else "at: [-3.1, 0, 0], orientation: {z: 180 deg}"
        print(f"  beta_{name[5:]}: {{type: revolute, axis: x, from: {segment}, to: {name}, inboard: {{{place}}}}}")
    at = vector(add(BASE, places["laboratory"], -1))
    print(f"  foothold: {{type: weld, from: laboratory, to: foot, inboard: {{at: {at}, orientation: {{y: 90 deg}}}}}}")
    for (name, axis, at), (before, *_), (link, *_) in zip(JOINTS, LINKS, LINKS[1:]):
        path, at = (before + "/tip", [0, at[1], at[2]]) if "boom" in before else (before, at)
        print(f"  {name}: {{type: revolute, axis: {axis}, from: {path}, to: {link}, inboard: {vector(at)}, "
              "dof: *motor}")
    print("  drift: {type: free, to: cargo}")
    for side, name in ((1, "starboard"), (-1, "port")):
        print(f"  joint_cargo_panel_{name}: {{type: weld, from: cargo, to: cargo_panel_{name}, inboard: "
              f"{{at: {vector([0, side * HULL_RADIUS, 0])}, orientation: {{z: {90 * side} deg}}}}}}")


ALPHA, ALPHA_RATE, BETA_RATE = -25.0, 4.0 / 60, 0.02  # [deg], [deg/s]


def beta(name):
    """Angle at the start [deg]; wings that point the other way turn the other way."""
    return 12.0 if name.endswith("a") else -12.0


def quaternion(R):
    w = math.sqrt(1 + R[0][0] + R[1][1] + R[2][2]) / 2
    return [w, (R[2][1] - R[1][2]) / (4 * w), (R[0][2] - R[2][0]) / (4 * w), (R[1][0] - R[0][1]) / (4 * w)]


def write_state():
    print("\nstate:")
    for side in ("starboard", "port"):
        print(f"  alpha_{side}: {{q: {ALPHA} deg, u: {number(ALPHA_RATE)} deg/s}}")
    for name, *_ in wings():
        rate = math.copysign(BETA_RATE, beta(name))
        print(f"  beta_{name[5:]}: {{q: {beta(name)} deg, u: {rate} deg/s}}")
    for (name, *_), angle in zip(JOINTS, STOWED):
        print(f"  {name}: {{q: {angle:.7f}}}")
    R, w = tumble(MEET)
    print(f"""  drift:
    at: {vector(add(MEET_PLACE, VELOCITY, -MEET))}
    orientation: {vector(quaternion(R))}
    velocity: {vector(VELOCITY)}
    angular_velocity: {vector(w)}""")


def write_servo(name, joint, reference, gains):
    print(f"  {name}:\n    type: servo\n    joint: {joint}\n    reference: {reference}\n    {gains}")


def table(points):
    lines = ",\n      ".join(", ".join(points[i:i + 8]) for i in range(0, len(points), 8))
    return f"{{shape: cubic, points: [\n      {lines}]}}"


def write_devices(angles):
    print("""
# Springs without stiffness measure how far hand and fixture, and the two halves of the port, are apart. The motors of
# the arm get the effort that rigid links would need (forward_...) and what the servo adds (drive_...).
devices:
  grapple_range: {type: spring, from: hand/tip, to: cargo/fixture}
  port_range: {type: spring, from: node_2/port, to: cargo/port}""")
    for side in ("starboard", "port"):
        write_servo(f"drive_alpha_{side}", f"alpha_{side}", f"{{shape: linear, points: [[0, {ALPHA} deg], "
                    f"[300 s, {number(ALPHA + 300 * ALPHA_RATE)} deg]]}}", "proportional: 2e7\n    derivative: 8e6")
    for name, *_ in wings():
        end = beta(name) + 300 * math.copysign(BETA_RATE, beta(name))
        write_servo(f"drive_beta_{name[5:]}", f"beta_{name[5:]}", f"{{shape: linear, points: [[0, {beta(name)} deg], "
                    f"[300 s, {number(end)} deg]]}}", "proportional: 2e4\n    derivative: 1.5e4")
    forward = feed_forward(angles)
    for j, (name, *_) in enumerate(JOINTS):
        wrist = name.startswith("wrist")
        write_servo(f"drive_{name}", name, table([f"[{GRID * k:g}, {q[j]:.7f}]" for k, q in enumerate(angles)]),
                    f"proportional: {'1e5' if wrist else '4e5'}\n    derivative: {'5e4' if wrist else '2e5'}\n    "
                    f"effort_limit: {number(TORQUE_LIMIT)}")
        print(f"  forward_{name}: {{type: applied_load, joint: {name}, effort: "
              + table([f"[{2 * GRID * k:g}, {e[j]:.3f}]" for k, e in enumerate(forward[::2])]) + "}")


EVENTS = """
events:
  unfold: {at: 0, do: {note: the arm unfolds and follows the vehicle}}
  capture:
    when: distance(hand/tip, cargo/fixture) < 2 cm and
      sqrt(vx(cargo/fixture, hand/tip)^2 + vy(cargo/fixture, hand/tip)^2 + vz(cargo/fixture, hand/tip)^2) < 1 mm/s and
      angle(hand/tip, cargo/fixture) < 1 deg
    do: {attach: {name: grapple, from: hand/tip, to: cargo/fixture, fit: from}}
  damped:
    after: capture
    when: sqrt(vx(cargo, node_2)^2 + vy(cargo, node_2)^2 + vz(cargo, node_2)^2) < 3 mm/s and
      sqrt(wx(cargo, node_2)^2 + wy(cargo, node_2)^2 + wz(cargo, node_2)^2) < 0.02 deg/s
    do: {note: the vehicle is at rest}
  berthing:
    after: damped
    when: distance(cargo/port, node_2/port) < 2 cm and angle(cargo/port, node_2/port) < 0.5 deg and
      sqrt(vx(cargo/port, node_2/port)^2 + vy(cargo/port, node_2/port)^2 + vz(cargo/port, node_2/port)^2) < 3 mm/s
    do: {attach: {name: latches, from: node_2/port, to: cargo/port, fit: from}}
  release: {after: berthing, delay: 8 s, do: {detach: grapple}}
  clear: {after: release, when: "distance(hand/tip, cargo/fixture) > 1.5 m", do: {note: the arm is clear}}
"""


# Places from the origin of node_2, which moves little.
VIEW = """
view:
  card: A space station of 389 t takes a drifting vehicle of 4 t by its arm, berths it and lets go.
  speed: 5
  light: [-0.3, 0.9, -0.25]
  cameras:
    station: {from: [60, -78, 42], at: [0, 0, -4]}
    arm: {body: node_2, from: [12, 25, -21], at: [-4, 0.5, -7.5]}
    grapple: {body: node_2, from: [-7.3, 10.2, -18.2], at: [-0.9, 0.7, -12]}
    port: {body: node_2, from: [10.5, 13.5, -12.5], at: [-0.6, 0, -3.6]}
    release: {body: node_2, from: [-9, 12, -13], at: [-1.4, 0, -5.2]}
    hand: {body: hand, onboard: true, from: [-1.2, 0, 1.4], at: [3, 0, 0]}
  trails: [hand/tip]
  plots: ["device:grapple_range, device:port_range"]
  steps:
    - {at: 0 s, camera: arm, caption: The arm unfolds while the vehicle drifts past at 3 cm/s.}
    - {event: capture, delay: -12 s, camera: grapple, caption: The hand follows the grapple fixture.}
    - {event: capture, caption: "Capture: hand and vehicle are one, and the arm brings them to rest."}
    - {event: damped, camera: arm, caption: The arm carries the vehicle to the port under node_2.}
    - {event: berthing, delay: -8 s, camera: port, caption: The vehicle approaches the port.}
    - {event: berthing, caption: "Berthing: the latches close; arm, vehicle and station are a closed loop."}
    - {event: release, delay: -3 s, camera: release}
    - {event: release, caption: "Release: the hand lets go and backs off."}
"""


def write_run():
    arm = ", ".join(f"\"q:{name}\"" for name, *_ in JOINTS)
    drives = ", ".join(f"\"device:drive_{name}\"" for name, *_ in JOINTS)
    tips = ", ".join(f"\"deflection:{name}/tip\"" for name in
                     ("upper_boom", "lower_boom", "wing_starboard_6a", "wing_port_9b", "cargo_panel_starboard"))
    print(f"""run:
  duration: {number(END)} s
  method: rk4
  step: 2.5 ms
  output:
    name: story
    interval: 100 ms
    signals: ["device:grapple_range", "device:port_range", energy, balance, total_momentum, event,
      {arm},
      {drives},
      {tips},
      "node:hand/tip", "node:cargo", "node:truss", "device:drive_alpha_starboard", "q:alpha_starboard"]""")


def main():
    angles = plan()
    tons = (station_mass()[0] + sum(mass for _, mass, _ in LINKS)) / 1e3
    bodies = 2 * SEGMENTS + 1 + len(MODULES) + 4 + len(list(wings())) + len(LINKS)
    print(HEADER.format(bodies=bodies, tons=tons), end="")
    write_definitions()
    print("\ngroups: {visitor: {}}\n\nbodies:")
    write_truss()
    write_modules()
    write_radiators()
    for name, *_ in wings():
        print(f"  {name}: *wing")
    write_arm()
    write_cargo()
    write_joints()
    write_state()
    write_devices(angles)
    print(EVENTS)
    write_run()
    print(VIEW, end="")


if __name__ == "__main__":
    main()
