#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Robot files that Calder writes are read by the programs that they are for, where these are installed: tools/check_exports.
set -u
if ! command -v python3 >/dev/null; then
	echo "no python3: skipped"
	exit 77
fi
"$CALDER" info "$SOURCE_DIR/examples/zoo/arm.urdf" >/dev/null 2>&1 || { echo "built without expat: skipped"; exit 77; }
"$SOURCE_DIR/tools/check_exports" "$(dirname "$(dirname "$CALDER")")"
