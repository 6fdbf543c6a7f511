#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The golden runner compares every quantity that a case may hold: each of them wrong by 1e-6, and one that it does not know,
# make a case fail (tools/golden_mutations).
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$SOURCE_DIR/tools/golden_mutations" "$CALDER" "$SOURCE_DIR/test/data/golden" "$work/cases"
