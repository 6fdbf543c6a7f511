#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every complete model on a page of docs/ runs without a doubt, and the example of docs/conventions.md gives the numbers of
# the table below it. The first model of docs/doubts.md is doubted, as the page says. A block that begins with "# NAME.yaml" is a
# file that other blocks of its page may name.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

python3 - "$SOURCE_DIR" <<'PY'
import re, sys
from pathlib import Path

for page in sorted(Path(sys.argv[1], "docs").glob("*.md")):
    for count, text in enumerate(re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)):
        named = re.match(r"# (\S+\.yaml)\n", text)
        if re.search(r"^calder: 1$", text, re.MULTILINE) and re.search(r"^run:", text, re.MULTILINE):
            folder = Path(page.stem)
            folder.mkdir(exist_ok=True)
            (folder / (named[1] if named else f"block{count}.yaml")).write_text(text)
PY
calder 0 check conventions/block0.yaml
skip_without_yaml
models=0
for model in */*.yaml; do
	models=$((models + 1))
	[ "$model" = doubts/block0.yaml ] && continue
	calder 0 run --strict "$model" -o page.csv
done
calder 1 run --strict doubts/block0.yaml -o page.csv
stderr_has 'a step of 0.05 s is too large for rk4: joint "hinge" moves at 77.46 rad/s at t = 0 s, which is unstable above 0.0365 s'
[ "$models" -ge 12 ] || fail "only $models models found"

calder 0 run conventions/block0.yaml -o page.csv
python '
import csv
row = {name.split(" [")[0]: float(value) for name, value in next(csv.DictReader(open("page.csv"))).items()}
wanted = {"force:hinge": 3, "reaction:hinge.mz": 5, "reaction:hinge.fx": 7.5, "reaction:hinge.fy": 20,
          "wrench:arm/tip.fx": -7.5, "device:wire.pull": 7.5, "energy:gravity": 0, "energy:elastic": 0.5,
          "balance:stored": 2.8125}
for name, value in wanted.items():
    assert abs(row[name] - value) < 1e-12, (name, row[name], value)'

exit $((failures > 0))
