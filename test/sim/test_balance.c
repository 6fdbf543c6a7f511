// SPDX-License-Identifier: Apache-2.0
/*
 * test_balance.c — the energy balance closes for every device and every action that model files know.
 *
 * Each case is a small model in which a device (or an action of an event) exchanges energy. It runs by every method; the
 * largest error of the balance at 40 samples must fall with the step by the order of the method (where forces jump: by the
 * first order), and with the tolerance of dopri5. A type that the library knows and that has no case here fails the test.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <calder/calder.h>

typedef struct Case {
	const char *what;  // type of a device, or actions
	const char *model; // without `run`
	double duration;   // [s]
	double step;       // the larger one of fixed steps [s]
	int jumps;         // nonzero: forces jump, all methods are of first order
} Case;

#define ONE "bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], nodes: {tip: [0.5, 0, 0.1]}}}\n"
#define SLIDE "gravity: [0, 0, -9.81]\n" ONE "joints: {z: {type: prismatic, axis: z, to: a}}\nstate: {z: {q: 0.4 m}}\n"
#define SWING "gravity: [0, 0, -9.81]\n" ONE "joints: {z: {type: revolute, axis: y, to: a/tip}}\nstate: {z: {u: 2}}\n"
#define FLY                                  \
	ONE "joints: {f: {type: free, to: a}}\n" \
		"state: {f: {velocity: [0.3, 0.2, 0.1], angular_velocity: [0.5, 1, 0.2]}}\n"
#define PAIR                                                                                           \
	"groups: {visitor: {}}\n"                                                                          \
	"bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], nodes: {tip: [0.5, 0, 0.1]}},\n"                  \
	"         b: {group: visitor, mass: 1, inertia: [0.1, 0.2, 0.2], nodes: {end: [-0.4, 0.1, 0]}}}\n" \
	"joints: {f: {type: free, to: a}, g: {type: free, to: b}}\n"                                       \
	"state: {f: {velocity: [0.3, 0.2, 0.1], angular_velocity: [0.5, 1, 0.2]},\n"                       \
	"        g: {at: [1.5, 0.1, 0], velocity: [-0.5, 0, 0.1], angular_velocity: [0, 0.3, 0.4]}}\n"
#define TETHER "devices: {tie: {type: spring, from: a/tip, to: b/end, stiffness: 30, damping: 0.5, length: 0.3}}\n"

static const Case device_cases[] = {
	{"spring", PAIR TETHER, 2, 0.02, 0},
	{"spring",
     PAIR
     "devices: {tie: {type: spring, from: a/tip, to: b/end, stiffness: 60, damping: 2, length: 0.5, cable: true}}\n",
     3, 0.004, 1},
	{"bushing",
     PAIR "devices: {tie: {type: bushing, from: a/tip, to: b/end, stiffness: [20, 30, 40], damping: [0.1, 0.2, 0.3],\n"
          "                angular_stiffness: [1, 2, 3], angular_damping: [0.1, 0, 0.2]}}\n",
     2, 0.0025, 0},
	{"limit", SLIDE "devices: {st: {type: limit, joint: z, lower: 0 m, stiffness: 3000, damping: 40}}\n", 1.5, 0.002,
     1},
	{"limit",
     SWING "devices: {st: {type: limit, joint: z, lower: -20 deg, upper: 10 deg, stiffness: 500, damping: 9}}\n", 2,
     0.002, 1},
	{"friction",
     SWING "devices: {fr: {type: friction, joint: z, coulomb: 0.4, stiction: 0.6, stribeck_speed: 0.3, viscous: 0.1,\n"
           "                smoothing_speed: 0.2}}\n",
     2, 0.01, 0},
	{"friction",
     SWING "devices: {fr: {type: friction, joint: z, coulomb: 0.4, bristle_stiffness: 50, bristle_damping: 0.5}}\n", 2,
     0.002, 1}, // |v| has a kink
	{"servo",
     SWING "devices: {sv: {type: servo, joint: z, proportional: 30, derivative: 3, integral: 5,\n"
           "                reference: {points: [[0, 0], [1, 0.5], [2, 0.2]], shape: smooth}}}\n",
     2, 0.01, 0},
	{"servo",
     SWING
     "devices: {sv: {type: servo, joint: z, proportional: 30, derivative: 3, sample_period: 50 ms,\n"
     "                stall_effort: 20, free_speed: 5, rotor_inertia: 0.05, gear_stiffness: 300, gear_damping: 0.4,\n"
     "                backlash: 0.02, reference: {points: [[0, 0], [1, 0.5]], shape: linear}}}\n",
     0.8, 0.0005, 1},
	{"joint_drive",
     "gravity: [0, 0, -9.81]\n"
     "bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], nodes: {tip: [0.5, 0, 0.1]}}, b: {mass: 1, inertia: [0.1, 0.2, 0.2]}}\n"
     "joints: {z: {type: revolute, axis: y, to: a}, k: {type: revolute, axis: y, from: a/tip, to: b, outboard: [0.3, 0, 0],\n"
     "         dof: {damping: 0.2}}}\n"
     "devices: {m: {type: joint_drive, joint: z, q: 0.4*sin(3*t) + 0.2*t}}\n",
     2, 0.005, 0},
	{"wheel",
     FLY "devices: {w: {type: wheel, node: a/tip, axis: [1, 1, 0], inertia: 0.05, speed: 30, drag: 0.01,\n"
         "               torque: {points: [[0, 0.1], [1, -0.2], [2, 0]], shape: smooth}}}\n",
     2, 0.01, 0},
	{"control_moment_gyro",
     FLY "devices: {c: {type: control_moment_gyro, node: a, gimbal: x, spin: z, momentum: 0.8,\n"
         "               rate: {points: [[0, 0.3], [1, -0.5], [2, 0]], shape: smooth}}}\n",
     2, 0.01, 0},
	{"drag",
     FLY "devices: {d: {type: drag, node: a/tip, density: 1000, coefficient: 1.1, area: 30 cm^2, linear: 0.2,\n"
         "               flow: [0.5, -1, 0.2]}}\n",
     2, 0.01, 0},
	{"thruster",
     FLY "devices: {t: {type: thruster, node: a/tip, direction: [0, 1, 1], thrust: 2,\n"
         "               throttle: {points: [[0, 1], [0.5, 0.3], [1.5, 0.8]], shape: step}}}\n",
     2, 0.01, 0},
	{"slosh",
     FLY "devices: {s: {type: slosh, node: a/tip, mass: 0.5, stiffness: [10, 20, 30], damping: [0.3, 0.2, 0.1],\n"
         "               position: [0.05, 0, 0], velocity: [0, 0.1, 0]}}\n",
     2, 0.01, 0},
	{"gravity", FLY "devices: {e: {type: gravity, mu: 40, position: [0, 0, 9], radius: 1, j2: 0.01}}\n", 2, 0.02, 0},
	{"gravity", PAIR "devices: {e: {type: gravity, mu: 40, orbit: true, position: [0, 0, 4], velocity: [3, 1, 0]}}\n",
     2, 0.02, 0},
	{"gravity",
     "bodies: {b: {mass: 1, inertia: [0.2, 0.2, 0.2], nodes: {p: [1, 0, 0], s: [0, 1, 0]},\n"
     "    flexible: {stiffness: [8, 3], damping: [0.1, 0.2], nodes: {p: {mass: 2, phi: [[1, 0], [0, 0], [0, 0]]},\n"
     "    s: {mass: 3, phi: [[0, 0], [0, 0], [0, 1]]}}}}}\n"
     "joints: {f: {type: free, to: b}}\nstate: {f: {eta: [0.5, 0.25], angular_velocity: [0.1, 0.2, 0.3]}}\n"
     "devices: {e: {type: gravity, mu: 40, position: [0, 0, 9]}}\n",
     2, 0.02, 0},
	{"applied_load",
     SWING "devices: {l: {type: applied_load, joint: z, effort: {points: [[0, 1], [1, 3], [2, -2]], shape: smooth}}}\n",
     2, 0.01, 0},
	{"applied_load",
     FLY
     "devices: {l: {type: applied_load, node: a/tip, frame: node, force: [1, {points: [[0, 0], [2, 2]], shape: smooth}, 0],\n"
     "               moment: [0, 0.2, 0]}}\n",
     2, 0.01, 0},
	{"contact",
     "gravity: [0, 0, -9.81]\nbodies: {a: {mass: 0.5, sphere: 0.1}}\njoints: {f: {type: free, to: a}}\n"
     "state: {f: {at: [0, 0, 0.3], velocity: [0.5, 0, 0], angular_velocity: [0, 3, 1]}}\n"
     "devices: {c: {type: contact, shapes: {ball: {type: sphere, node: a, radius: 0.1, material: {modulus: 100 kPa,\n"
     "   restitution: 0.5, impact_speed: 1, friction_dynamic: 0.3}}, floor: {type: plane, material: {modulus: rigid,\n"
     "   friction_dynamic: 0.3}}}}}\n",
     1, 0.001, 1},
	{"applied_load", SWING "devices: {l: {type: applied_load, joint: z, effort: 3*sin(4*t) - 0.5*u(z)}}\n", 2, 0.01, 0},
	{"actuator",
     SWING
     "devices: {m: {type: actuator, joint: z, gear: 2, control: 3*sin(4*t), bias_length: -1, bias_speed: -0.1}}\n",
     2, 0.01, 0},
	{"actuator",
     FLY "devices: {m: {type: actuator, node: a/tip, force: [1, 0, 2], moment: [0, 1, 0], control: cos(2*t)}}\n", 2,
     0.01, 0},
	{"applied_load",
     FLY "devices: {l: {type: applied_load, node: a/tip, force: [sin(2*t), 0, 1], moment: [0, cos(t), 0]}}\n", 2, 0.01,
     0},
	{"pid", // forces jump at samples, where steps of all methods end
     SWING "devices: {c: {type: pid, joint: z, measured: q(z), measured_rate: u(z), set_point: 1, proportional: 20,\n"
           "               integral: 5, derivative: 3, sample_period: 50 ms, delay: 1}}\n",
     2, 0.01, 0},
	{"state_space",
     SWING
     "devices: {s: {type: state_space, inputs: [q(z), u(z)], A: [[0.8]], B: [[0.2, 0.1]], C: [[-3]], D: [[-2, -1]],\n"
     "               sample_period: 50 ms}}\nloads: [{joint: z, effort: device(s.y1)}]\n",
     2, 0.01, 0},
	{"transfer_function",
     SWING
     "devices: {s: {type: transfer_function, input: q(z), numerator: [-9], denominator: [1, 2], sample_period: 50 ms}}\n"
     "loads: [{joint: z, effort: device(s.y)}]\n",
     2, 0.01, 0},
	{"filter",
     SWING "devices: {s: {type: filter, input: u(z), frequency: 9 rad/s, sample_period: 50 ms}}\n"
           "loads: [{joint: z, effort: -2*device(s.y)}]\n",
     2, 0.01, 0},
	{"lookup",
     SWING
     "devices: {s: {type: lookup, inputs: [q(z), u(z)], x: [-1, 0, 2], y: [-2, 2], table: [[1, 2], [0.5, -0.5], [-4, -6]],\n"
     "               sample_period: 50 ms}}\nloads: [{joint: z, effort: device(s.y)}]\n",
     2, 0.01, 0},
	{"rate_gyro",
     FLY "devices: {s: {type: rate_gyro, node: a, sample_period: 50 ms}}\n"
         "loads: [{node: a, frame: node, moment: [-device(s.wx), 0, -device(s.wz)]}]\n",
     2, 0.01, 0},
	{"accelerometer",
     SWING "devices: {s: {type: accelerometer, node: a/tip, sample_period: 50 ms}, t: {type: accelerometer, node: a,\n"
           "  sample_period: 50 ms}}\nloads: [{joint: z, effort: 0.1*device(t.az)}]\n",
     2, 0.01, 0},
	{"star_tracker",
     FLY "devices: {s: {type: star_tracker, node: a, sample_period: 50 ms}}\n"
         "loads: [{node: a, frame: node, moment: [-2*device(s.qx), 0, -3*device(s.qz)]}]\n",
     2, 0.01, 0},
	{"encoder",
     SWING "devices: {s: {type: encoder, joint: z, resolution: 1 deg, sample_period: 50 ms}}\n"
           "loads: [{joint: z, effort: -8*device(s.position) - 0.3*device(s.rate)}]\n",
     2, 0.01, 0},
	{"force_sensor",
     SWING "devices: {s: {type: force_sensor, joint: z, sample_period: 50 ms}}\n"
           "loads: [{joint: z, effort: 0.05*device(s.fz)}]\n",
     2, 0.01, 0},
	{"shared", NULL, 0, 0, 0}, // whose accounts are its library's: device.plugin
};

/* Springs keep devices busy while bodies change groups. */
static const Case action_cases[] = {
	{"attach detach reattach",
     PAIR TETHER
     "events: {one: {at: 0.4 s, do: {attach: {name: latch, from: a/tip, to: b/end, type: spherical, fit: from}}},\n"
     "         two: {at: 0.8 s, do: {detach: latch, group: visitor}},\n"
     "         three: {at: 1.2 s, do: {reattach: latch, fit: from}}}\n",
     1.6, 0.01, 0},
	{"reroot",
     PAIR TETHER
     "events: {one: {at: 0.4 s, do: {attach: {name: latch, from: a/tip, to: b/end, type: spherical, fit: from}}},\n"
     "         two: {at: 0.8 s, do: {reroot: b}}}\n",
     1.6, 0.01, 0},
	{"split lock unlock",
     "gravity: [0, 0, -9.81]\nbodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], com: [0.2, 0, 0], nodes: {tip: [0.5, 0, 0]}},\n"
     "         b: {mass: 1, inertia: [0.1, 0.2, 0.2], nodes: {end: [0, 0, 0.1]}}}\n"
     "joints: {p: {type: revolute, axis: y, to: a}, f: {type: free, to: b}}\n"
     "state: {p: {u: 1}, f: {at: [1, 0, 0], velocity: [0, 0, 1]}}\n" TETHER
     "events: {one: {at: 0.4 s, do: {split: b}}, two: {at: 0.8 s, do: {lock: p}}, three: {at: 1.1 s, do: {unlock: p}}}\n",
     1.5, 0.01, 0},
	{"lock_modes unlock_modes",
     "bodies: {b: {mass: 1, inertia: [0.2, 0.2, 0.2], nodes: {p: [1, 0, 0], s: [0, 1, 0]},\n"
     "    flexible: {stiffness: [8, 3], damping: [0.1, 0.2], nodes: {p: {mass: 2, phi: [[1, 0], [0, 0], [0, 0]]},\n"
     "    s: {mass: 3, phi: [[0, 0], [0, 0], [0, 1]]}}}}}\n"
     "joints: {f: {type: free, to: b}}\nstate: {f: {eta: [0.5, 0.25], angular_velocity: [0.1, 0.2, 0.3]}}\n"
     "devices: {k: {type: spring, from: ground, to: b/p, stiffness: 3, damping: 0.1}}\n"
     "events: {one: {at: 0.3 s, do: {lock_modes: b, mode: 1}}, two: {at: 0.6 s, do: {unlock_modes: b}},\n"
     "         three: {at: 0.9 s, do: {lock_modes: b}}}\n",
     1.2, 0.01, 0},
	{"open close",
     "gravity: [0, -9.81, 0]\n"
     "bodies: {a: {mass: 1, inertia: [1, 1, 1], com: [1, 0, 0]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
     "joints: {p: {type: revolute, to: a, dof: {damping: 0.3}}, s: {type: prismatic, axis: x, to: b}}\n"
     "loops: {lid: {type: coupling, terms: [{joint: p, factor: 1}, {joint: s, factor: 1}], open: true}}\n"
     "state: {p: {u: 1}}\nevents: {shut: {at: 0, do: {close: lid}}, go: {at: 0.7 s, do: {open: lid}}}\n",
     1.2, 0.01, 0},
	{"add_body remove_body", // with a body goes what the spring on it holds
     PAIR TETHER "events: {one: {at: 0.5 s, do: {add_body: {name: c, mass: 1 kg, box: [0.1, 0.1, 0.1], at: [5, 0, 0],\n"
                 "         velocity: [1, 0, 0]}}}, two: {at: 1 s, do: {remove_body: b}}}\n",
     1.5, 0.01, 0},
	{"set", // what springs hold, bodies carry and gravity gives afterwards
     PAIR TETHER
     "events: {one: {at: 0.4 s, do: [{set: device:tie.stiffness, value: 60}, {set: device:tie.length, value: 0.5}]},\n"
     "         two: {at: 0.7 s, do: {set: body:b.mass, value: 1.6}}, three: {at: 1 s, do: {set: device:tie.damping, value: 2}},\n"
     "         four: {at: 1.2 s, do: {set: group:main.gravity.z, value: -2}}}\n",
     1.6, 0.01, 0},
	{"switch_on switch_off",
     PAIR TETHER "events: {one: {at: 0.5 s, do: {switch_off: tie}}, two: {at: 1 s, do: {switch_on: tie}}}\n", 1.5, 0.01,
     0},
	{"release",
     PAIR TETHER
     "motions: {visitor: {g: {at: [1.5 + 0.1*sin(3*t), 0.2*t, 0], angle: 0.4*t}}}\nevents: {go: {at: 0.7 s, do: {release: visitor}}}\n",
     1.5, 0.01, 0},
	{"release", // pushed at joints and nodes while it is driven
     "gravity: [0, 0, -9.81]\ngroups: {visitor: {gravity: [0, 0, -9.81]}}\n"
     "bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5]}, b: {group: visitor, mass: 1, inertia: [0.1, 0.2, 0.2], com: [0.3, 0, 0]}}\n"
     "joints: {f: {type: free, to: a}, g: {type: revolute, axis: y, to: b, dof: {damping: 0.1}}}\n"
     "devices: {k: {type: bushing, from: a, to: b, stiffness: [9, 9, 9], damping: [0.1, 0.1, 0.1]},\n"
     "          l: {type: limit, joint: g, upper: 0.05 rad, stiffness: 30, damping: 0.3},\n"
     "          x: {type: applied_load, node: b, frame: node, force: [1, 0, 0.5]}}\n"
     "motions: {visitor: {g: {q: 0.4*sin(2*t)}}}\nevents: {go: {at: 0.7 s, do: {release: visitor}}}\n",
     1.5, 0.002, 1},
	{"propagate", // every way there is, against a spring and a damper on a node that moves
     "bodies: {b: {mass: 1, inertia: [0.2, 0.2, 0.2], nodes: {p: [1, 0, 0], s: [0, 1, 0]},\n"
     "    flexible: {stiffness: [8, 3], damping: [0.1, 0.2], nodes: {p: {mass: 2, phi: [[1, 0], [0, 0], [0, 0]]},\n"
     "    s: {mass: 3, phi: [[0, 0], [0, 0], [0, 1]]}}}}, c: {mass: 2, inertia: [0.3, 0.2, 0.1], com: [0.2, 0, 0]}}\n"
     "joints: {f: {type: free, to: b}, h: {type: revolute, axis: y, from: b/s, to: c, dof: {damping: 0.05}}}\n"
     "state: {f: {eta: [0.5, 0.25], angular_velocity: [0.1, 0.2, 0.3]}, h: {u: 0.7}}\n"
     "devices: {k: {type: spring, from: ground, to: b/p, stiffness: 3, damping: 0.1}}\n"
     "events: {a: {at: 0.2 s, do: {propagate: main, as: rigid}}, b: {at: 0.4 s, do: {propagate: main, as: flexible}},\n"
     "  c: {at: 0.6 s, do: {propagate: main, as: kinematic}}, d: {at: 0.8 s, do: {propagate: main, as: flexible}},\n"
     "  e: {at: 1 s, do: {propagate: main, as: rigid}}, f: {at: 1.2 s, do: {propagate: main, as: kinematic}},\n"
     "  g: {at: 1.4 s, do: {propagate: main, as: rigid}}}\n",
     1.6, 0.01, 0},
	{"propagate", // a given motion ends, is followed again, and ends
     PAIR TETHER
     "motions: {visitor: {g: {at: [1.5 + 0.1*sin(3*t), 0.2*t, 0], angle: 0.4*t}}}\n"
     "events: {a: {at: 0.4 s, do: {propagate: visitor, as: flexible}}, b: {at: 0.8 s, do: {propagate: visitor, as: kinematic}},\n"
     "         c: {at: 1.2 s, do: {propagate: visitor, as: rigid}}}\n",
     1.5, 0.01, 0},
	{"attach", // without an impulse
     PAIR TETHER
     "events: {one: {at: 0.4 s, do: {attach: {name: latch, from: a/tip, to: b/end, type: spherical, fit: from, kinematic: true}}},\n"
     "         two: {at: 0.8 s, do: {detach: latch, group: visitor}},\n"
     "         three: {at: 1.2 s, do: {reattach: latch, fit: from, kinematic: true}}}\n",
     1.6, 0.01, 0},
	{"add_body", // one that deflects and moves
     PAIR TETHER
     "events: {one: {at: 0.5 s, do: {add_body: {name: c, mass: 1 kg, box: [0.1, 0.1, 0.1], at: [5, 0, 0],\n"
     "    nodes: {p: [1, 0, 0]}, flexible: {stiffness: [8], damping: [0.1], nodes: {p: {mass: 2, phi: [[1], [0], [0.5]]}}},\n"
     "    eta: [0.2], eta_dot: [-0.3], velocity: [1, 0, 0], angular_velocity: [0, 0.5, 1]}}}}\n",
     1.5, 0.01, 0},
	{"stop note", FLY "events: {one: {at: 0.5 s, do: {note: half}}, two: {at: 1 s, do: {stop: the end}}}\n", 1.5, 0.02,
     0},
};

/* Two arms of three links on a trunk, which forced cuts divide; tips can be tied together. */
#define LINK(name) name ": {mass: 1, inertia: [0.02, 0.1, 0.1], com: [0.4, 0, 0], nodes: {tip: [0.8, 0, 0]}}"
#define ARMS                                                                                                                                        \
	"gravity: [0, 0, -9.81]\nbodies: {" LINK("a1") ", " LINK("a2") ", " LINK("a3") ", " LINK("b1") ", " LINK("b2") ", " LINK(                       \
		"b3") ",\n  trunk: {mass: 3, inertia: [0.3, 0.3, 0.3], nodes: {l: [0.2, 0.3, 0], r: [0.2, -0.3, 0]}}}\n"                                    \
			  "joints: {x: {type: prismatic, axis: x, to: trunk, dof: {stiffness: 200, damping: 2}},\n"                                             \
			  "  p1: {type: revolute, axis: y, from: trunk/l, to: a1, dof: {damping: 0.1}}, p2: {type: revolute, axis: y, from: a1/tip, to: a2},\n" \
			  "  p3: {type: revolute, axis: y, from: a2/tip, to: a3}, r1: {type: revolute, axis: y, from: trunk/r, to: b1},\n"                      \
			  "  r2: {type: revolute, axis: y, from: b1/tip, to: b2}, r3: {type: revolute, axis: y, from: b2/tip, to: b3}}\n"                       \
			  "state: {p1: {q: 1, u: 0.5}, p2: {q: 0.4}, p3: {q: 0.2}, r1: {q: 1.3, u: 0.5}, r2: {q: 0.4}, r3: {q: 0.2}}\n"

/* Loads of the model file, and driven constraint equations. */
static const Case load_cases[] = {
	{"force moment",
     FLY
     "loads: [{node: a/tip, force: [1, 2, 0.5]}, {node: a/tip, frame: node, moment: [0.1, 0, 0.3], start: 0.5, end: 1.2}]\n",
     2, 0.01, 0},
	{"force", ARMS "loads: [{node: a3/tip, force: [3, 0, 2]}, {node: b2/tip, frame: node, force: [0, 0, 5]}]\n", 1,
     0.01, 0},
	{"force",
     "bodies: {b: {mass: 1, inertia: [0.2, 0.2, 0.2], nodes: {p: [1, 0, 0], s: [0, 1, 0]},\n"
     "    flexible: {stiffness: [8, 3], damping: [0.1, 0.2], nodes: {p: {mass: 2, phi: [[1, 0], [0, 0], [0, 0]]},\n"
     "    s: {mass: 3, phi: [[0, 0], [0, 0], [0, 1]]}}}}}\n"
     "joints: {f: {type: free, to: b}}\nstate: {f: {eta: [0.5, 0.25], angular_velocity: [0.1, 0.2, 0.3]}}\n"
     "loads: [{node: b/p, force: [2, 0, 1]}, {node: b/s, frame: node, force: [0, 1, 1]}, {body: b, mode: 2, effort: 0.3}]\n",
     2, 0.02, 0},
	{"acceleration", // against a spring, a damper and an effort of its own; the speed that is held works too
     ARMS
     "loads: [{joint: p2, acceleration: 3, end: 0.4}, {joint: p2, lock: true, start: 0.4}, {joint: x, acceleration: 0.5},\n"
     "        {joint: x, effort: 4}, {joint: r2, effort: 1}]\n",
     0.8, 0.005, 0},
	{"acceleration", // everything is given
     SWING "loads: [{joint: z, acceleration: -1.5}, {node: a/tip, force: [0, 0, 3]}]\n", 1, 0.01, 0},
	{"applied_wrench",
     ARMS
     "loops: {tie: {type: distance, from: a3/tip, to: b3/tip, length: 0.918285, applied_wrench: {force: [1, 0, 2], moment: [0, 2, 0]}}}\n",
     0.8, 0.005, 0},
	{"driven loops",
     ARMS
     "loops: {m: {type: coupling, terms: [{joint: p1, factor: 1}, {joint: p2, factor: 0.5}], drive: {value: 1.2 + 0.3*sin(3*t) + 0.5*t}},\n"
     "        n: {type: coupling, terms: [{joint: r2, factor: 1}, {joint: r3, factor: -1}], drive: {value: 0.2 + 0.4*t*t}}}\n",
     1, 0.005, 0},
	{"driven loops and joints, a load", // across branches: the tips move apart
     ARMS "loops: {tie: {type: distance, from: a3/tip, to: b3/tip, length: 0.918285, drive: {value: 0.2*t*t}}}\n"
          "devices: {d: {type: joint_drive, joint: x, q: 0.1*sin(4*t)}}\nloads: [{node: b2/tip, force: [0, 1, 3]}]\n",
     1, 0.005, 0},
};

/* ---- running ------------------------------------------------------------------------------------- */

static CalSetup *file_of(const Case *c) {
	char text[4000];
	CalSetup *file = NULL;
	CalError error = {0};
	const int length = snprintf(text, sizeof text, "calder: 1\n%s", c->model);
	assert_true(length > 0 && (size_t)length < sizeof text);
	const CalStatus status = cal_model_file_parse(text, (size_t)length, c->what, NULL, &file, &error);
	if (status == CAL_ERR_UNSUPPORTED)
		skip(); // a build without YAML
	if (status != CAL_OK)
		fail_msg("%s", error.text);
	return file;
}

typedef struct Outcome {
	double error; // the largest of the balance [J]
	double scale; // the largest energy that was moved [J]
	double supplied;
	double speed; // of the first dof, at the end
	int branches; // of the first group
} Outcome;

static void look_at(CalSim *sim, const Case *c, Outcome *o) {
	CalSimBalance b;
	if (cal_sim_balance(sim, &b) != CAL_OK || !b.complete)
		fail_msg("%s: the balance is not complete at t = %g s", c->what, cal_sim_time(sim));
	o->error = fmax(o->error, fabs(b.error));
	o->supplied = b.supplied;
	o->branches = cal_branches_count(cal_sim_branches(sim, 0));
	o->scale = fmax(o->scale, fmax(b.dissipated, fabs(b.supplied)));
	o->speed = cal_sim_state(sim, 0)->u[0];
	for (int i = 0; i < cal_sim_group_count(sim); i++) {
		CalSimMonitor now;
		assert_int_equal(cal_sim_monitor(sim, i, &now), CAL_OK);
		o->scale = fmax(o->scale, now.energy.kinetic);
	}
}

static Outcome run(const Case *c, const CalIntegratorOptions *method, int threads) {
	enum { SAMPLES = 40 };
	CalSetup *file = file_of(c);
	CalSim *sim;
	CalScenario *scenario;
	CalError error = {0};
	Outcome o = {0};
	const CalSimOptions options = {.method = *method,
	                               .threads = threads,
	                               .branches = threads ? 4 : 0,
	                               .branches_forced = threads != 0,
	                               .not_pinned = 1};
	if (cal_sim_create(cal_setup_desc(file), &options, &sim, &error) != CAL_OK ||
	    cal_scenario_create(file, sim, &scenario, &error) != CAL_OK || cal_sim_restart(sim, &error) != CAL_OK)
		fail_msg("%s: %s", c->what, error.text);
	for (int i = 1; i <= SAMPLES; i++) {
		const CalStatus status = cal_sim_advance(sim, c->duration * i / SAMPLES, &error);
		if (status != CAL_OK && status != CAL_STOPPED)
			fail_msg("%s: %s", c->what, error.text);
		look_at(sim, c, &o);
		if (status == CAL_STOPPED)
			break;
	}
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
	return o;
}

/* Counts what does not close: the whole list says more than its first entry. */
static int count_failure(int good) {
	if (!good)
		print_message("  ^ DOES NOT CLOSE\n");
	return !good;
}

/* Errors of h and h/4 fall by 4^order; a case with jumps is noisy: it is asked for 3 from h to h/8. Returns failures. */
static int closes_by_steps(const Case *c, CalMethod method) {
	const double round_off = 1e-11;
	const int order = c->jumps ? 1 : cal_method_order(method);
	CalIntegratorOptions options = {.method = method, .step = c->step};
	const Outcome coarse = run(c, &options, 0);
	options.step = c->step / (c->jumps ? 8 : 4);
	const Outcome fine = run(c, &options, 0);
	const double wanted = c->jumps ? 3 : 0.5 * pow(4, order);
	print_message("  %-24s %-18s h %g: %.2e, finer: %.2e of %.2e J\n", c->what, cal_method_name(method), c->step,
	              coarse.error, fine.error, fine.scale);
	const int converges = fine.error <= coarse.error / wanted || fine.error <= round_off * fine.scale;
	return count_failure(converges && coarse.error <= 0.3 * fine.scale);
}

static int closes_by_tolerance(const Case *c, CalMethod method) {
	int failures = 0;
	static const double tolerances[] = {1e-6, 1e-8, 1e-11};
	for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
		const double rtol = tolerances[i], allowed = 3e3 * rtol; // of some hundred steps, and of jumps
		const CalIntegratorOptions options = {.method = method, .rtol = rtol, .atol = 1e-2 * rtol};
		const Outcome o = run(c, &options, 0);
		print_message("  %-24s %-18s rtol %g: %.2e of %.2e J\n", c->what, cal_method_name(method), rtol, o.error,
		              o.scale);
		failures += count_failure(o.error <= allowed * o.scale);
	}
	return failures;
}

static int closes(const Case *c) {
	int failures = 0;
	for (int m = 0; c->model && m < CAL_METHOD_COUNT; m++) {
		const CalMethodInfo *info = cal_method_info((CalMethod)m);
		if (!info->missing)
			failures += info->adaptive ? closes_by_tolerance(c, (CalMethod)m) : closes_by_steps(c, (CalMethod)m);
	}
	return failures;
}

static int has_word(const char *list, const char *word) {
	const size_t length = strlen(word);
	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
			return 1;
	return 0;
}

static void sweep(const Case *cases, int count, const char *(*type)(int index)) {
	for (int i = 0; type(i); i++) {
		int known = 0;
		for (int k = 0; k < count; k++)
			known |= has_word(cases[k].what, type(i));
		if (!known)
			fail_msg("\"%s\" has no case here; add a model in which it exchanges energy", type(i));
	}
	int failures = 0;
	for (int i = 0; i < count; i++)
		failures += closes(&cases[i]);
	assert_int_equal(failures, 0);
}

static void the_account_closes_for_every_device(void **state) {
	(void)state;
	sweep(device_cases, sizeof device_cases / sizeof *device_cases, cal_setup_device_type);
}

/* ---- closed forms -------------------------------------------------------------------------------- */

/* The mass of SLIDE on a spring of 1000 N/m and 0.4 m oscillates about 0.4 m - m g/k. */
static double speed_on_spring(double t) {
	const double m = 2, k = 1000, w = sqrt(k / m);
	return -m * 9.81 / k * w * sin(w * t);
}

/* It falls towards the terminal speed sqrt(2 m g/(rho Cd A)). */
static double speed_with_drag(double t) {
	const double terminal = sqrt(2 * 2 * 9.81 / (1.2 * 0.8 * 0.5));
	return -terminal * tanh(9.81 * t / terminal);
}

typedef struct ClosedForm {
	Case of;
	double (*speed)(double t); // of the first dof
} ClosedForm;

static const ClosedForm closed_forms[] = {
	{{"spring", SLIDE "devices: {s: {type: spring, to: a, stiffness: 1000, length: 0.4}}\n", 1, 0, 0}, speed_on_spring},
	{{"drag", SLIDE "devices: {d: {type: drag, node: a, density: 1.2, coefficient: 0.8, area: 0.5 m^2}}\n", 2, 0, 0},
     speed_with_drag},
};

static void speeds_are_those_of_closed_forms(void **state) {
	(void)state;
	const CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .atol = 1e-13};
	for (size_t i = 0; i < sizeof closed_forms / sizeof *closed_forms; i++) {
		const ClosedForm *form = &closed_forms[i];
		const double error = fabs(run(&form->of, &options, 0).speed - form->speed(form->of.duration));
		print_message("  %-24s error of the speed %.1e\n", form->of.what, error);
		assert_true(error <= 1e-9 * fabs(form->speed(form->of.duration)));
	}
}

static const char *action_type(int index) { return cal_action_name((CalActionKind)index); }

static void the_account_closes_for_every_action(void **state) {
	(void)state;
	sweep(action_cases, sizeof action_cases / sizeof *action_cases, action_type);
}

static void the_account_closes_for_every_load(void **state) {
	(void)state;
	int failures = 0;
	for (size_t i = 0; i < sizeof load_cases / sizeof *load_cases; i++)
		failures += closes(&load_cases[i]);
	assert_int_equal(failures, 0);
}

/* In branches the account is the same as in one piece but for round-off, and the same to the bit for any number of threads. */
static int closes_in_branches(const Case *c, int *cut) {
	const CalIntegratorOptions options = {.method = CAL_METHOD_RK4, .step = c->step};
	const Outcome whole = run(c, &options, 0), one = run(c, &options, 1), two = run(c, &options, 2);
	*cut += one.branches > 1;
	print_message("  %-24s in one piece %.2e, in %d branches %.2e of %.2e J\n", c->what, whole.error, one.branches,
	              one.error, one.scale);
	return count_failure(fabs(one.error - whole.error) <= 1e-9 * whole.scale &&
	                     fabs(one.supplied - whole.supplied) <= 1e-9 * whole.scale) +
	       count_failure(one.error == two.error && one.supplied == two.supplied);
}

static void the_account_closes_in_branches(void **state) {
	(void)state;
	int failures = 0, cut = 0;
	for (size_t i = 0; i < sizeof load_cases / sizeof *load_cases; i++)
		failures += closes_in_branches(&load_cases[i], &cut);
	assert_int_equal(failures, 0);
	assert_true(cut >= 3); // efforts and wrenches, prescribed accelerations, driven loops
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_account_closes_for_every_device), cmocka_unit_test(speeds_are_those_of_closed_forms),
		cmocka_unit_test(the_account_closes_for_every_action), cmocka_unit_test(the_account_closes_for_every_load),
		cmocka_unit_test(the_account_closes_in_branches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
