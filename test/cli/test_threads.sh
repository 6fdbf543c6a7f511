#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs on several threads as a user meets them: the same lines for any number of threads in the same branches, also after a
# restart, paced by the clock and in the browser; what small models say; the cut as a table and as JSON; wrong options.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

model=$SOURCE_DIR/examples/chain128.yaml

# ---- the same bits -------------------------------------------------------------------------------

for threads in 1 2 5; do
	calder 0 run "$model" -d 0.05 --threads $threads --branches 4 -o "$threads.csv"
	stdout_has '^  parallel    [0-9]+ branches on [12345] threads?$'
done
for threads in 2 5; do
	cmp -s 1.csv $threads.csv || fail "$threads threads give other numbers than one"
done
calder 0 run "$model" -d 0.05 -o whole.csv
stdout_lacks "parallel"

# The file can say it, an option overrides it.
sed 's/^run: *{/run: {threads: 2, branches: 4, /; s/^run:$/run:\n  threads: 2\n  branches: 4/' "$model" >threads.yaml
calder 0 run threads.yaml -d 0.05 -o file.csv
stdout_has '^  parallel    [0-9]+ branches on [12] threads?$'
cmp -s 1.csv file.csv || fail "threads of the file give other numbers"
calder 0 run threads.yaml -d 0.05 --branches 1 --json
stdout_has '"branches": 1, "threads": 1}'
sed 's/threads: 2/threads: 0/' threads.yaml >none.yaml
calder 3 run none.yaml
stderr_has 'none.yaml:[0-9]+:[0-9]+: error: .*"threads" is a whole number from 1 to 256'

# A checkpoint does not know of threads.
calder 0 run "$model" -d 0.03 --threads 1 --branches 4 -i 0.01 --checkpoint half.ckpt -o half.csv -q
calder 0 run "$model" -d 0.06 --threads 2 --branches 4 -i 0.01 --restart half.ckpt -o rest.csv -q
calder 0 run "$model" -d 0.06 --threads 3 --branches 4 -i 0.01 -o all.csv -q
diff <(tail -n 2 rest.csv) <(tail -n 2 all.csv) >/dev/null || fail "a restart with other threads gives other numbers"

# ---- what is not cut -------------------------------------------------------------------------------

calder 0 run "$SOURCE_DIR/examples/pendulum.yaml" -d 0.1 --threads 4
stdout_has "^  parallel    in one piece, by one thread: a partition would not be faster$"
calder 0 info --branches 4 "$SOURCE_DIR/examples/pendulum.yaml"
stdout_has "^  branches one for 4 workers: a partition would not be faster$"

# ---- the cut ---------------------------------------------------------------------------------------

calder 0 info --branches 4 "$model"
stdout_has '^  branches [0-9]+ for 4 workers, predicted speedup [1-4]\.[0-9]+$'
stdout_has '^ +branch +parent +first body +bodies +dof +loops +work +way +thread$'
stdout_has '^ +0 +ground +b001 +[0-9]+ +[0-9]+ +0 +[0-9.]+ % +- +0$'
stdout_has '^ +[0-9]+ +[0-9]+ +b[0-9]+ +[0-9]+ +[0-9]+ +0 +[0-9.]+ % +(joined|sequential) +[0-3]$'
if command -v python3 >/dev/null; then
	calder 0 info --json --branches 3 "$model"
	python '
import json
branches = json.load(open("out"))["groups"][0]["branches"]
assert branches["workers"] == 3 and branches["partitioned"] and branches["predicted_speedup"] > 1.1, branches
assert sum(b["bodies"] for b in branches["list"]) == 128 and sum(b["dof"] for b in branches["list"]) == 128, branches
assert abs(sum(b["work"] for b in branches["list"]) - 1) < 1e-12, branches
assert all(b["parent"] is None or b["parent"] < k for k, b in enumerate(branches["list"])), branches
assert {b["thread"] for b in branches["list"]} == {0, 1, 2}, branches
'
fi
calder 0 info --json "$model"
stdout_lacks '"branches"'

# ---- at the pace of the clock, and in the browser ----------------------------------------------------

calder 0 run "$model" -d 0.1 --real-time --threads 2 --branches 4
stdout_has "parallel +[0-9]+ branches on"
stdout_has "paced|late"
"$CALDER" run "$model" -d 0.01 -q --live --no-browser >out 2>err
if ! grep -q "no web server" err; then
	calder 0 run "$model" -d 0.01 --threads 2 -q --live --no-browser
fi

# ---- wrong options -----------------------------------------------------------------------------------

for value in 0 1.5 300 x; do
	calder 2 run "$model" --threads $value
	calder 2 run "$model" --branches $value
	calder 2 info "$model" --branches $value
	stderr_has "whole number from 1 to 256"
done
calder 2 info "$model" --branches

exit $((failures > 0))
