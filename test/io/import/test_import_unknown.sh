#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing of a robot file is dropped without a line of the import report: unknown attributes and elements, one of each in every
# element of the zoo, of the models with references, and of files that hold every kind of element (test/data/import); and
# each value of these files that has no effect.
set -u
if ! command -v python3 >/dev/null; then
	echo "no python3: skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$SOURCE_DIR/test/data/import" "$SOURCE_DIR/test/data/models" "$SOURCE_DIR/examples/zoo" "$work" || exit 1
cd "$work" || exit 1
for file in import/every.*; do
	"$CALDER" check --partial "$file" >out 2>&1 || { cat out; exit 1; }
	if grep "unknown" out; then
		echo "FAILED: something in $file is unknown"
		exit 1
	fi
done
mapfile -t files < <(find . -name '*.urdf' -o -name '*.sdf' -o -name '*.xml' | grep -v part/ | sort)
export PYTHONDONTWRITEBYTECODE=1
python3 "$SOURCE_DIR/test/io/import/plant_unknown.py" "$CALDER" "${files[@]}" || exit 1
python3 "$SOURCE_DIR/test/io/import/alter_values.py" "$CALDER" import/every.*
