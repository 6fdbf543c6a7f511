#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# calder schema: the JSON schema and the tables that are in docs/, and what it says to arguments that it does not take.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

calder 0 schema --help
stdout_has '^example: calder schema'
calder 0 schema
cmp -s out "$SOURCE_DIR/docs/calder.schema.json" || fail "docs/calder.schema.json is out of date; ./dev docs"
calder 0 schema --markdown
stdout_has '^<!-- fields: spring -->$'
stdout_has '^\| `stiffness` \| \*\*required\*\*: number \[N m/rad or N/m\] \| > 0 \|$'
stdout_has '^Outputs: `length` \[m\], `pull` \[N\]\.$'
calder 0 schema --markdown --plan
stdout_has '^\| `sigma` \| \*\*required\*\*: number \| standard deviation of the natural logarithm \|$'
calder 0 schema --plan
stdout_has '"title": "Calder campaign plan'
calder 2 schema model.yaml
stderr_has "it takes no file; 'model.yaml' is not used"
calder 2 schema --nonsense
stderr_has "Try 'calder schema --help'"
exit $((failures > 0))
