#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The checks of the project find what they are there to find: a wrong include in a tree made for it, each
# direction once, a call that points upward, an example in README.md that differs from the program, paths, functions and
# folders in docs/architecture.md that are not there, citations of docs/theory.md that do not exist, public functions that
# only tests use, and private words where a user reads. tools/figures runs what the page of examples says, takes the pictures, and stops at a command that fails.
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
expect() { # expect PATTERN FILE
	grep -qE -- "$1" "$2" || { echo "FAIL: lacks: $1"; sed 's/^/  /' "$2"; failures=$((failures + 1)); }
}

mkdir -p "$work"/{include/calder,src/{base,math,model/{compile,description},sim,io/{yaml,model/writer},odd},cli,examples/c}
cd "$work"
touch include/calder/base.h src/base/a.h src/math/m.h src/model/model.h src/model/description/desc.h src/sim/sim_internal.h
touch src/io/yaml/yaml_tree.h src/io/model/model_file.h cli/cli.h
printf '#include <stdio.h>\n#include "math/m.h"\n#include <calder/base.h>\n' >src/base/good_base.c
printf '#include "model/description/desc.h"\n#include "model/model.h"\n' >src/model/compile/good_compile.c
printf '#include "io/yaml/yaml_tree.h"\n#include "io/model/model_file.h"\n' >src/io/model/writer/good_writer.c
printf '#include "base/a.h"\n' >src/math/upward_math.c
printf '\n#include "sim/sim_internal.h"\n' >src/model/upward_model.c
printf '#include "model/model.h"\n' >src/model/description/upward_desc.c
printf '#include "model/description/desc.h"\n#include "base/a.h"\n#include "io/yaml/yaml_tree.h"\n' >src/io/model/inside.c
printf '#include "cli.h"\n#include "../src/model/model.h"\n' >cli/inside.c
printf '#include "../../src/base/a.h"\n' >include/calder/leak.h
printf '#include "math/gone.h"\n' >src/sim/missing.c
printf '#include "base/a.h"\n' >src/odd/odd.c
touch src/sim/odd.h
if "$SOURCE_DIR/tools/check_includes" "$work" >out; then
	echo "FAIL: check_includes accepts a bad tree"
	failures=1
fi
expect '^src/math/upward_math.c:1: math may not include base' out
expect '^src/model/upward_model.c:2: model may not include sim' out
expect '^src/model/description/upward_desc.c:1: model/description may not include model ' out
expect '^src/io/model/inside.c:1: io/model may not include model/description' out
expect '^cli/inside.c:2: cli/ may use include/calder only' out
expect '^include/calder/leak.h:1: a public header' out
expect '^src/sim/missing.c:1: "math/gone.h" does not exist' out
expect '^src/odd/odd.c:1: src/odd/ is not a layer' out
expect '^src/odd and src/sim both have a file odd' out
[ "$(wc -l <out)" -eq 9 ] || { echo "FAIL: not exactly nine complaints"; cat out; failures=1; }

# Private words, in every kind of file that is read: also over the end of a line and within identifiers and keys, but not
# where the word has its ordinary meaning.
mkdir -p words/{docs/decisions,include/calder,cli,examples/parts,src/sim,src/model,test/sim,viewer/src/ui}
printf 'The mobility\nis told.\n' >words/README.md
printf 'Three degrees of\nfreedom, and the key `border`.\nA run goes\non.\n' >words/docs/page.md
printf 'It is told.\n' >words/docs/decisions/0001-history.md
printf '/** Three freedoms.\n * It looks up a name. */\n' >words/include/calder/a.h
printf '/* Behind a step. */\nputs("this\\n" // here\n     "is no file");\n' >words/cli/a.c
printf '# attached at its border node\nborder: [a]\n' >words/examples/parts/a.yaml
printf '/* Redundant rows. */\nfail("a black "\n     "box");\n' >words/src/model/a.c
printf '/* Three degrees_of_freedom, remainder(a, b). */\nputs("{\\"border_only\\": 1}");\n' >words/src/sim/a.c
printf 'static void two_flyers_are_told(void);\n' >words/test/sim/a.c
printf 'mark.style.border = 1;\nconst colour = 2;\n' >words/viewer/src/ui/a.ts
if "$SOURCE_DIR/tools/check_words" words >out; then
	echo "FAIL: check_words accepts private words"
	failures=1
fi
expect '^README.md:2: "told"; write: report' out
expect '^docs/page.md:3: "goes on"; write: continue' out
expect '^include/calder/a.h:1: "freedoms"; write: degree of freedom' out
expect '^cli/a.c:1: "Behind"; write: after' out
expect '^examples/parts/a.yaml:1: "border"; write: interface' out
expect '^src/model/a.c:1: "Redundant rows"; write: constraint equations' out
expect '^src/model/a.c:2: "black box"; write: compiled subsystem' out
expect '^src/sim/a.c:2: "border"; write: interface' out
expect '^test/sim/a.c:1: "told"; write: report' out
expect '^viewer/src/ui/a.ts:2: "colour"; write: American' out
[ "$(wc -l <out)" -eq 10 ] || { echo "FAIL: not exactly ten private words"; cat out; failures=1; }

# Public functions without a comment, a definition or a user; names in pages that do not exist.
mkdir -p api/{include/calder,src/sim,cli,test,docs/decisions}
cat >api/include/calder/a.h <<'END'
/** Two that are used. */
CAL_API int cal_used(int a);
CAL_API int cal_named(int a,
                      int b);

CAL_API int cal_bare(int a);
CAL_API int cal_after(int a); // documented on its line
/** Only a test calls it. */
CAL_API int cal_tested(int a);
/** Nobody wrote it. */
CAL_API int cal_gone(int a);
END
printf 'int cal_used(int a) {\n\treturn a;\n}\nint cal_named(int a,\n              int b) { return a + b; }\n' >api/src/sim/a.c
printf 'int cal_bare(int a) { return a; }\nint cal_after(int a) { return a; }\n' >>api/src/sim/a.c
printf 'int cal_tested(int a) { return a; } // cal_gone(1)\n' >>api/src/sim/a.c
printf 'int b(void) { return cal_bare(1) + cal_used(1); } /* cal_tested(1) */\n' >api/src/sim/b.c
printf 'int c(void) { return cal_after(1) + cal_gone(1); }\n' >api/cli/c.c
printf 'int t(void) { return cal_tested(1); }\n' >api/test/t.c
printf 'Call `cal_named()`, not `cal_lost()`; the files `cal_*.c`.\n' >api/docs/page.md
printf 'Once there was `cal_tested()` and `cal_old()`.\n' >api/docs/decisions/0001-old.md
if "$SOURCE_DIR/tools/check_api" api >out; then
	echo "FAIL: check_api accepts a careless interface"
	failures=1
fi
expect '^include/calder/a.h:6: cal_bare\(\) has no comment' out
expect '^include/calder/a.h:9: cal_tested\(\) has no user but tests' out
expect '^include/calder/a.h:11: cal_gone\(\) is declared, but src/ does not define it' out
expect '^docs/page.md: cal_lost\(\) does not exist' out
[ "$(wc -l <out)" -eq 5 ] || { echo "FAIL: not exactly four complaints"; cat out; failures=1; }

# The same for calls: what object files define and need. A public function of a layer below may be called from anywhere.
mkdir -p calls/src/{base,joint,sim,io/yaml}
printf 'int base_add(int a) { return a; }\nint cal_public(void) { return base_add(1); }\n' >calls/src/base/a.c
printf 'int base_add(int); int joint_up(int a) { return base_add(a); }\n' >calls/src/joint/good.c
printf 'int cal_public(void); int yaml_good(void) { return cal_public(); }\n' >calls/src/io/yaml/good.c
printf 'int joint_up(int); int yaml_bad(void) { return joint_up(2); }\n' >calls/src/io/yaml/inside.c
printf 'int cal_sim(void); int joint_bad(void) { return cal_sim(); }\n' >calls/src/joint/upward.c
printf 'int joint_up(int); int cal_sim(void) { return joint_up(1); }\n' >calls/src/sim/s.c
for source in $(cd calls && find src -name '*.c'); do
	mkdir -p "objects/$(dirname "$source")"
	"${CC:-cc}" -c "calls/$source" -o "objects/$source.o"
done
mkdir -p objects/variants/joint
cp objects/src/joint/upward.c.o objects/variants/joint/upward_avx2.c.o
cp objects/src/joint/upward.c.o objects/src/base/gone.c.o # of a file that is no more
if "$SOURCE_DIR/tools/check_layers" objects calls >out; then
	echo "FAIL: check_layers accepts calls that point upward"
	failures=1
fi
expect '^src/joint/upward.c: cal_sim\(\) is in src/sim/s.c: joint may not use sim' out
expect '^src/io/yaml/inside.c: joint_up\(\) is in src/joint/good.c: io/yaml may not use joint' out
[ "$(wc -l <out)" -eq 2 ] || { echo "FAIL: not exactly two complaints about calls"; cat out; failures=1; }

mkdir -p readme/tools readme/docs readme/examples/c
cp "$SOURCE_DIR/tools/check_readme" readme/tools/
cp "$SOURCE_DIR/examples/c/pendulum.c" readme/examples/c/
sed 's/rod.mass = 2/rod.mass = 3/' "$SOURCE_DIR/README.md" >readme/README.md
echo '[gone](gone.md)' >readme/docs/index.md
printf '# A `key`, once\n[good](#a-key-once) [good](index.md)\n[bad](page.md#nowhere)\n' >readme/docs/page.md
if readme/tools/check_readme >out; then
	echo "FAIL: check_readme accepts a changed example"
	failures=1
fi
expect '^README.md:[0-9]+: differs from examples/c/pendulum.c:8' out
expect '^docs/index.md:1: links to gone.md' out
expect '^docs/page.md:3: links to page.md#nowhere, but page.md has no such heading' out
[ "$(grep -c '^docs/page.md' out)" -eq 1 ] || { echo "FAIL: check_readme refuses good links"; cat out; failures=1; }

# The map of the source: paths, functions in the files beside them, folders in the order of the layers.
mkdir -p readme/src/base
printf 'int LANED(base_add)(int a) { return a; }\n' >readme/src/base/a.c
printf 'int base_other(void);\n' >readme/src/base/b.h
printf 'LAYERS = {"math": "", "base": "math"}\n' >readme/tools/check_includes
map() { # map FOLDER...: a page with a table of these folders
	printf '# Map\n\n- `src/base/a.c`: `base_add()`,\n  `base_other()` in `src/base/b.h`\n- `base_other()`, `test/AREA/test_NAME.c`\n'
	printf '\n| folder of `src/` | role |\n| --- | --- |\n'
	printf '| `%s` | one |\n' "$@"
}
complaints() { # complaints NUMBER: about the map
	readme/tools/check_readme >out
	[ "$(grep -c '^docs/architecture.md' out)" -eq "$1" ] || { echo "FAIL: not $1 complaints about the map"; cat out; failures=1; }
}
map math base >readme/docs/architecture.md
complaints 0
printf '\n- `src/base/gone.c`, `src/base/a.c`: `base_add()`, `base_other()`\n\n`base_gone()`\n' >>readme/docs/architecture.md
complaints 3
expect '^docs/architecture.md:12: src/base/gone.c does not exist' out
expect '^docs/architecture.md:12: base_other\(\) is not in src/base/a.c' out
expect '^docs/architecture.md:14: base_gone\(\) is not in the sources' out
map base math >readme/docs/architecture.md
complaints 1
expect '^docs/architecture.md:9: expected math' out
map math >readme/docs/architecture.md
complaints 1
expect '^docs/architecture.md:10: expected base' out
map math base extra >readme/docs/architecture.md
complaints 1
expect '^docs/architecture.md:11: expected the end of the table' out

# Citations of docs/theory.md: sections, equations, ranges, tags that continue on the next line of a comment; numbers of equations.
mkdir -p theory/{docs/decisions,src,include,test}
printf '## 1. One\n\n    a = b      (1.1)\n    c = d      (1.2)\n\n### 1.1 Part\nBy (1.2).\n' >theory/docs/theory.md
printf '/* [THEORY 1], [THEORY 1.1, (1.1)-(1.2)]; [THEORY\n * (1.2), 1.1; SOA: 9.9], [THEORY 1, 1.1]: 2 more */\n' >theory/src/good.c
"$SOURCE_DIR/tools/check_theory" theory >out || { echo "FAIL: check_theory refuses good citations"; cat out; failures=1; }
printf '\n/* [THEORY 2] */\n' >theory/src/section.c
printf '/* [THEORY 1.1, (1.3)] */\n' >theory/include/equation.h
printf '/* [THEORY (1.1)-(1.4)],\n * [THEORY 1,\n * 1.2] */\n' >theory/test/range.c
printf 'see [THEORY n]\n' >theory/docs/decisions/bare.md
printf '    e = f      (1.4)\n    g = h      (2.1)\nBy (1.7).\n' >>theory/docs/theory.md
if "$SOURCE_DIR/tools/check_theory" theory >out; then
	echo "FAIL: check_theory accepts citations of what does not exist"
	failures=1
fi
expect '^src/section.c:2: docs/theory.md has no section 2$' out
expect '^include/equation.h:1: docs/theory.md has no equation \(1.3\)$' out
expect '^test/range.c:2: docs/theory.md has no section 1.2$' out
expect '^docs/decisions/bare.md:1: THEORY without the number' out
expect '^docs/theory.md:8: equation \(1.4\) should be \(1.3\)' out
expect '^docs/theory.md:9: equation \(2.1\) is outside chapter 2' out
expect '^docs/theory.md:10: there is no equation \(1.7\)' out
[ "$(wc -l <out)" -eq 7 ] || { echo "FAIL: not exactly seven complaints about citations"; cat out; failures=1; }

mkdir -p page/{tools,docs,examples,build}
cp "$SOURCE_DIR/tools/figures" page/tools/
echo data >page/examples/input
printf 'text\n```sh\ncp examples/input a.svg\n```\n```c\nfalse\n```\n```sh\necho 1 >b.csv\n```\n' >page/docs/examples.md
page/tools/figures page/build pictures >out 2>&1 || { echo "FAIL: figures"; cat out; failures=1; }
cmp -s pictures/a.svg page/examples/input && [ -e pictures/b.csv ] || { echo "FAIL: figures takes nothing"; failures=1; }
[ "$(ls page/examples)" = input ] || { echo "FAIL: figures writes into the examples"; failures=1; }
printf '```sh\ncp examples/gone a.svg\n```\n' >page/docs/examples.md
if page/tools/figures page/build pictures >out 2>&1; then
	echo "FAIL: figures passes over a command that fails"
	failures=1
fi
expect '^cp examples/gone a.svg' out
page/tools/figures page/build >out 2>&1
[ $? -eq 2 ] || { echo "FAIL: figures with half its arguments"; failures=1; }

# The table of the papers: numbers, status, tests and their functions, files of commands.
mkdir -p papers/tools papers/docs/papers
cp "$SOURCE_DIR/tools/conformance" papers/tools/
ln -s "$SOURCE_DIR"/{test,include,src,examples,bench} papers/
page=$SOURCE_DIR/docs/papers/conformance.md
cp "$page" papers/docs/papers/
papers/tools/conformance --check >out || { echo "FAIL: conformance refuses the page"; cat out; failures=1; }
sed -e 's/^| 9 | Euler.*/| 9 | Euler | x | `integrate.convergence\/no_such_order` | met |/' \
	-e 's/^| 15 | drive.*/| 15 | drive | `cal_no_such()` | `bench.gone`, `calder run examples\/gone.yaml` | replaced |/' \
	-e '/^| 10 | innovations/d' "$page" >papers/docs/papers/conformance.md
if papers/tools/conformance --check >out; then
	echo "FAIL: conformance accepts what does not exist"
	failures=1
fi
expect 'row 9: test/integrate/test_convergence.c has no test no_such_order$' out
expect 'row 15: status "replaced" is not met' out
expect 'row 15: there is no test bench.gone$' out
expect 'row 15: examples/gone.yaml of "calder run examples/gone.yaml" does not exist$' out
expect 'row 15: there is no function cal_no_such\(\)$' out
expect 'the tables have \[21, 31, 25, 23, 19\] rows' out
expect 'row 11 where 10 is due$' out

[ "$failures" -eq 0 ]
