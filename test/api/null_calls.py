#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
null_calls.py FIXTURE HEADER... — writes the calls of the test api.null: every public function, with each pointer argument
NULL in turn and with all of them NULL (docs/decisions/0030). The other arguments are objects of the fixture where it has
one of their type, zeroed memory for structures and arrays, one for counts, zero for other numbers. New functions are covered as soon as they are
declared; one that takes NULL by design goes to OPTIONAL.
"""
import re
import sys

# Arguments that may be NULL wherever they occur (calder/base.h), and those of single functions.
OPTIONAL = {"error", "options", "allocator", "user", "input"}
OPTIONAL_OF = {
    "cal_batch_bias_forces": ["status"],
    "cal_batch_elastic_forces": ["status"],
    "cal_batch_energy": ["status"],
    "cal_batch_forward": ["status"],
    "cal_batch_gravity_forces": ["status"],
    "cal_batch_hybrid": ["status"],
    "cal_batch_inverse": ["udot", "status"],
    "cal_batch_jacobian": ["status"],
    "cal_batch_mass_matrix": ["status"],
    "cal_batch_momentum": ["status"],
    "cal_batch_nodes": ["pose", "velocity", "status"],
    "cal_batch_rollout": ["status"],
    "cal_branches_project": ["report"],
    "cal_campaign_open": ["units"],
    "cal_contact_evaluate": ["summary"],
    "cal_closed_factor": ["held"],
    "cal_context_node_motion": ["pose", "velocity"],
    "cal_kinematics": ["udot"],
    "cal_hybrid_dynamics": ["force"],
    "cal_inverse_dynamics": ["udot"],
    "cal_inverse_kinematics": ["report"],
    "cal_modal_add": ["name", "body"],
    "cal_impulse": ["impulse", "force", "report"],
    "cal_loop_residual": ["g", "rate"],
    "cal_loop_jacobian": ["gamma"],
    "cal_loop_mobility": ["frozen", "rows", "speeds"],
    "cal_loop_project": ["report"],
    "cal_live_document": ["sim", "title"],
    "cal_model_write": ["report"],
    "cal_node_inertia": ["rank"],
    "cal_node_jacobian_at": ["pose"],
    "cal_node_path": ["dofs"],
    "cal_sim_set_frozen": ["frozen"],
    "cal_projected_actuation": ["actuated"],
    "cal_projected_forward_dynamics": ["vdot", "udot"],
    "cal_projected_inverse_dynamics": ["vdot"],
    "cal_projection_accelerations": ["vdot"],
    "cal_setup_device": ["type", "name", "def"],
    "cal_setup_diagnose": ["report"],
    "cal_sim_assemble": ["left"],
    "cal_sim_set_parameter": ["energy"],
    "cal_sim_set_propagation": ["report"],
    "cal_energy_gradient": ["dq", "du"],
    "cal_forward_derivatives": ["udot", "dq", "du", "dtau"],
    "cal_forward_derivatives_along": ["dq", "du", "dtau"],
    "cal_forward_parameter_derivatives": ["udot"],
    "cal_inverse_derivatives": ["udot", "dq", "du", "M"],
    "cal_inverse_derivatives_along": ["udot", "dq", "du", "M"],
    "cal_inverse_regressor": ["udot"],
    "cal_momentum_matrix": ["Adot"],
    "cal_node_derivatives": ["udot", "dV_dq", "dA_dq", "dA_du"],
    "cal_node_jacobian_rate": ["J", "Jdot"],
}


def stripped(path):
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*$", "", text, flags=re.M)


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(" ".join(text[start:i].split()))
            start = i + 1
    return [] if parts == ["void"] else parts


def functions(texts):
    """(return type, name, arguments) of every declaration; fails if one cannot be read."""
    found = []
    for path, text in texts.items():
        declared = text.count("CAL_API")
        here = re.findall(r"CAL_API\s+([^;(]*?[\s*])(cal_\w+)\(([^;]*)\)\s*;", text)
        if len(here) != declared:
            sys.exit(f"{path}: {declared} declarations, but only {len(here)} could be read")
        found += [(" ".join(r.split()), name, split_arguments(arguments)) for r, name, arguments in here]
    return found


class Argument:
    """One argument: its declaration as a local variable, its name, and whether it is a pointer."""

    def __init__(self, text, index):
        match = re.fullmatch(r"(.*?)\(\*(\w+)\)(\[.*\])", text)
        self.local = f"a{index}"
        if match:  # pointer to an array
            self.type, self.name, self.pointer = match[1], match[2], True
            self.declaration = f"{match[1]}(*{self.local}){match[3]}"
            return
        match = re.fullmatch(r"(.*?)(\w+)(\[.*\])?", text)
        self.type, self.name = match[1].strip() + (" *" if match[3] else ""), match[2]
        self.pointer = self.type.endswith("*")
        self.declaration = f"{self.type} {self.local}"

    def value(self, fixture, opaque):
        if not self.pointer:
            return None
        if self.type == "const char *":
            return '"x"'
        if self.type == "const char *const *":
            return "texts"
        match = re.fullmatch(r"(?:const )?(\w+) \*", self.type)
        if match and match[1] in fixture:
            return f"(void *)fixture->{fixture[match[1]]}"
        if match and match[1] in opaque:
            return "NULL"
        return f"scratch({self.local[1:]})"


def emit_call(number, ret, name, arguments, fixture, opaque):
    print(f"static int call_{number}(const Fixture *fixture, const unsigned char *null) {{ // {name}")
    print("\t(void)fixture, (void)null;")
    for i, a in enumerate(arguments):
        value = a.value(fixture, opaque)
        if value is None and re.fullmatch(r"(\w+_)?count", a.name):
            print(f"\t{a.declaration} = 1;")
        elif value is None:
            print(f"\t{a.declaration};\n\tmemset(&{a.local}, 0, sizeof {a.local});")
        else:
            print(f"\t{a.declaration} = null[{i}] ? NULL : {value};")
    call = f"{name}({', '.join(a.local for a in arguments)})"
    print(f"\treturn call_result({call});" if ret == "CalStatus" else f"\t(void){call};\n\treturn RETURNED;")
    print("}")


def required(name, argument):
    return argument.pointer and argument.name not in OPTIONAL and argument.name not in OPTIONAL_OF.get(name, ())


def main():
    fixture_path, headers = sys.argv[1], sys.argv[2:]
    texts = {path: stripped(path) for path in headers}
    everything = "".join(texts.values())
    opaque = {t for t in re.findall(r"typedef struct (\w+) \1;", everything) if f"struct {t} {{" not in everything}
    fixture = dict(re.findall(r"(\w+) \*(\w+);", re.search(r"struct Fixture \{.*?\}", stripped(fixture_path), flags=re.S)[0]))
    rows = [(ret, name, [Argument(a, i) for i, a in enumerate(arguments)]) for ret, name, arguments in functions(texts)]
    names = {name for _, name, _ in rows}
    for name, optional in OPTIONAL_OF.items():
        if name not in names or not set(optional) <= {a.name for r in rows if r[1] == name for a in r[2]}:
            sys.exit(f"OPTIONAL_OF: {name} has no argument {', '.join(optional)}")
    print('// Made by test/api/null_calls.py.\n#include "api/null_calls.h"\n')
    for number, (ret, name, arguments) in enumerate(rows):
        emit_call(number, ret, name, arguments, fixture, opaque)
    print("\nconst NullCall null_calls[] = {")
    for number, (ret, name, arguments) in enumerate(rows):
        words = "".join(f'{{"{a.name}", {int(a.pointer)}, {int(required(name, a))}}}, ' for a in arguments)
        print(f'\t{{"{name}", call_{number}, {int(ret == "CalStatus")}, {len(arguments)}, {{{words or "{0}"}}}}},')
    print("};\nconst int null_call_count = sizeof null_calls / sizeof null_calls[0];")


main()
