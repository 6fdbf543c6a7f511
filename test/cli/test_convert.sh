#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# calder convert: what it writes runs to the same bytes; what it says; refusals leave the output file alone.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

calder 0 convert --help
stdout_has '^example: calder convert'
calder 2 convert
calder 2 convert "$SOURCE_DIR/examples/pendulum.yaml"
stderr_has 'say where to write'
calder 2 convert --nonsense x.yaml
stderr_has "Try 'calder convert --help'"

for name in pendulum four_bar flexible_arm rolling_ball; do
	calder 0 convert "$SOURCE_DIR/examples/$name.yaml" -o $name.yaml
	stdout_has "^$name.yaml: [0-9]+ groups?, [0-9]+ bod(y|ies), [0-9]+ nodes?, [0-9]+ joints?, [0-9]+ loops?$"
	stderr_empty
	calder 0 run "$SOURCE_DIR/examples/$name.yaml" --duration 0.2 -o before.csv
	calder 0 run $name.yaml --duration 0.2 -o after.csv
	cmp before.csv after.csv || fail "$name runs differently when converted"
	calder 0 convert $name.yaml -o again.yaml
	cmp $name.yaml again.yaml || fail "$name: converting again gives another file"
done

calder 0 convert pendulum.yaml -o -
stdout_has '^calder: 1$'
stderr_has '^<stdout>: 1 group, 1 body, 1 node, 1 joint, 0 loops'
calder 3 convert pendulum.yaml -o missing/folder.yaml
stderr_has '^missing/folder.yaml: error: cannot be written'
echo 'calder: 1' >broken.yaml
calder 3 convert broken.yaml -o pendulum.yaml
stderr_has '^broken.yaml:'
grep -q '^bodies:' pendulum.yaml || fail "a refused conversion has touched its output"

exit $((failures > 0))
