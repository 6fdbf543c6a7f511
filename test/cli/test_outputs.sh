#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# No command overwrites what it reads, no file is written twice at once, and what cannot be written whole leaves what was
# there. Names that differ but lead to the same file (./x, links) are the same.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >model.yaml <<'YAML'
calder: 1
title: Outputs
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0, 0, -1]}, visual: {mesh: visual.stl}}
joints:
  hinge: {type: revolute, to: rod, axis: y}
state:
  hinge: {q: 60 deg}
run: {duration: 1 s, output: {interval: 100 ms, signals: [q, u]}}
YAML
printf 'solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n' >visual.stl
cat >arm.yaml <<'YAML'
calder: 1
bodies: {upper: {mass: 1, box: [1, 1, 1]}}
joints: {shoulder: {type: revolute, to: upper}}
interface: [upper]
YAML
cat >host.yaml <<'YAML'
calder: 1
bodies: {base: {mass: 1, box: [1, 1, 1]}}
joints: {slide: {type: prismatic, axis: x, to: base}}
subsystems: {arm: {file: arm.yaml, attach: {to: base, interface: upper, joint: {type: revolute}}}}
run: {duration: 0.1 s}
YAML
ln model.yaml hard.yaml
ln -s model.yaml soft.yaml
calder 0 run model.yaml -q -o run.h5
calder 0 run model.yaml -q -o run.csv --checkpoint run.ckpt
cp run.csv whole.csv

# ---- an output that is an input: refused, and the input is as it was
before=$(cat model.yaml visual.stl arm.yaml run.h5 run.csv run.ckpt | cksum)
refused() { # ARGUMENT...
	calder 2 "$@"
	stderr_has 'would overwrite|both write'
	stdout_empty
}
for same in model.yaml ./model.yaml "$work/model.yaml" hard.yaml soft.yaml; do
	refused run model.yaml -q -o $same
	refused run model.yaml -q --plot $same
	refused run model.yaml -q --checkpoint $same
	refused convert model.yaml -o $same
done
refused run model.yaml -q --plot visual.stl
refused run host.yaml -q -o arm.yaml
refused run model.yaml -q -d 2 --restart run.ckpt -o ./run.ckpt
refused run model.yaml -q -o new.csv --plot ./new.csv
refused run model.yaml -q -o new.csv --checkpoint new.csv
refused run model.yaml -q --plot new.svg --checkpoint new.svg
refused convert host.yaml -o arm.yaml
refused view run.h5 --html run.h5
refused view run.h5 --json ./run.h5
refused view run.h5 --html visual.stl
refused view model.yaml --html model.yaml
refused view model.yaml --html visual.stl
refused view model.yaml --json ./visual.stl
refused view host.yaml --html arm.yaml
ln -s visual.stl visual.png
refused render run.h5 -o visual.png
printf 't [s],hinge [rad]\n0,0\n0.1,0.1\n0.2,0.2\n' >motion.csv
for link in json h5 mat csv svg; do ln -s model.yaml soft.$link; done
for file in soft.json soft.h5 soft.mat soft.csv; do refused linearize model.yaml -o $file; done
refused linearize model.yaml -o new.json -o ./new.json
for plot in --bode --step-plot; do refused linearize model.yaml --input force:hinge --output q:hinge $plot soft.svg; done
refused linearize model.yaml --input force:hinge --output q:hinge --bode new.svg --step-plot ./new.svg
refused trim model.yaml -o hard.yaml
refused trim model.yaml -o visual.stl
refused inverse model.yaml motion.csv -o ./motion.csv
refused inverse model.yaml motion.csv -o visual.stl
refused inverse model.yaml motion.csv --plot soft.svg
refused inverse model.yaml motion.csv -o new.svg --plot new.svg
refused check model.yaml --fix hard.yaml
rm soft.json soft.h5 soft.mat soft.csv soft.svg visual.png motion.csv
cp run.h5 ghost.h5
refused view run.h5 --ghost ghost.h5 --html ghost.h5
refused plot run.csv -o run.csv
refused plot run.h5 -o run.h5
refused modes "$SOURCE_DIR/examples/flexible_arm.yaml" --body upper --plot new.svg --write new.svg
cp "$SOURCE_DIR"/test/data/fe/rod* "$SOURCE_DIR"/test/data/fe/beam* . && ln -s rod_mesh.inp soft.inp
mkdir parts && mv beam.pch parts/deep.pch
echo "INCLUDE 'parts/all.pch'" >deck.bdf && echo "INCLUDE 'deep.pch'" >parts/all.pch # a file that a file includes
calder 0 modes rod.inp
calder 0 modes deck.bdf
decks=$(cat rod* parts/* | cksum)
for file in rod.inp rod.sti rod_mesh.inp ./soft.inp; do
	refused modes rod.inp --plot $file
	refused modes rod.inp --write $file
done
for file in parts/all.pch "$work/parts/deep.pch"; do
	refused modes deck.bdf --plot "$file"
	refused modes deck.bdf --write "$file"
done
[ "$(cat rod* parts/* | cksum)" = "$decks" ] || fail "a file of a finite element model has changed"
mkdir sweep && cp model.yaml sweep/report.html
random_plan sweep/report.html rod hinge
refused sweep plan.yaml -o sweep
cmp -s sweep/report.html model.yaml || fail "the model of a campaign was overwritten"
[ "$(cat model.yaml visual.stl arm.yaml run.h5 run.csv run.ckpt | cksum)" = "$before" ] || fail "an input has changed"
[ ! -e new.csv ] && [ ! -e new.svg ] || fail "something was written"
calder 0 run model.yaml -q -d 2 --restart run.ckpt --checkpoint run.ckpt # the next one takes the place of the last
calder 0 run model.yaml -q -o /dev/null --plot /dev/null

# ---- links are followed, and nothing is left beside
ln -s target.csv link.csv
calder 0 run model.yaml -q -o link.csv
[ -L link.csv ] && cmp -s target.csv whole.csv || fail "the file that a link names was not written"
calder 0 run model.yaml -q -o run.csv --plot run.svg --checkpoint run.ckpt
calder 0 view run.h5 --html run.html
calder 0 convert model.yaml -o out.yaml
# shellcheck disable=SC2010 # names are ours
! ls | grep -E '\.(part|lock)$' || fail "something is left beside the outputs"

# ---- what cannot be written whole leaves what was there
echo kept >kept.html
cp kept.html kept.svg
head -c 3000 run.h5 >broken.h5
calder 3 view broken.h5 --html kept.html
last=(plot whole.csv -o kept.svg)
(ulimit -f 1; exec "$CALDER" "${last[@]}") 2>&1 | cat >err
grep -q '^kept.svg: error: cannot be written: File too large' err || fail "a limit on the size of files"
limited() { # BLOCKS ARGUMENT...: with a limit on the size of files; nothing is left of those that do not fit
	local blocks=$1 code=0
	shift
	last=("$@")
	(ulimit -f "$blocks"; exec "$CALDER" "$@") >out 2>err </dev/null || code=$?
	[ "$code" -eq 3 ] || fail "exit code $code instead of 3 of a file that does not fit"
	grep -Eq 'cannot be written|could not be written' err || fail "nothing is said of a file that does not fit"
}
for kind in json csv mat h5; do
	limited 4 linearize "$SOURCE_DIR/examples/station.yaml" -o large.$kind
	[ ! -e large.$kind ] || fail "part of large.$kind"
done
random_plan model.yaml rod hinge
sed -i 's/cases: 2/cases: 200/' plan.yaml
calder 0 sweep plan.yaml -q -o campaign
rows=$(stat -c %s campaign/cases.csv)
rm campaign/cases.*
limited $((rows / 1024 + 1)) sweep --merge campaign # the table fits
[ -e campaign/cases.csv ] && [ ! -e campaign/cases.h5 ] || fail "part of the tables"
calder 0 sweep --merge campaign
[ -e campaign/cases.h5 ] || fail "tables that fit"
for file in kept.html kept.svg; do [ "$(cat $file)" = kept ] || fail "$file is not as it was"; done
mkdir closed && cp whole.csv closed/run.csv && chmod 555 closed
if ! touch closed/probe 2>/dev/null; then # root writes everywhere
	calder 3 run model.yaml -q -o closed/run.csv
	stderr_has 'its folder must be writable'
fi
chmod 755 closed
calder 3 run model.yaml -q -o . --no-replay
stderr_has 'Is a directory'

# ---- two writers: the second gets an error, the first its file; a writer that was killed stands in nobody's way
start() { # OUTPUT...: a run that is at work until it is ended
	"$CALDER" run model.yaml -q --real-time -d 600 --flush 0.02 "$@" 2>first &
	writer=$!
}
for output in '-o busy.h5' '-o busy.csv' '--checkpoint busy.ckpt -o other.csv'; do
	file=${output#* } file=${file%% *}
	# shellcheck disable=SC2086 # two words
	start $output
	for _ in $(seq 3000); do
		[ -e "$file.lock" ] && { [ -e "$file" ] || [ -e other.csv ]; } && break
		sleep 0.02
	done
	# shellcheck disable=SC2086
	calder 3 run model.yaml -q $output
	stderr_has "^$file: error: another writer has this file \(process $writer\)"
	kill -KILL $writer
	wait $writer 2>/dev/null
	# shellcheck disable=SC2086
	calder 0 run model.yaml -q $output
	[ ! -e "$file.lock" ] && [ ! -e "$file.part" ] || fail "$file: something is left"
	rm -f other.csv
done
cmp -s busy.csv whole.csv || fail "the file after a killed writer is another one"

# ---- the file of a run in progress can be read, and so can the one before until the new one is readable
h5python=$(python_with h5py)
if [ -n "$h5python" ]; then
	cat >reader.py <<'PY'
import h5py, os, subprocess
# runs that replace each other's file, one after the other: at every moment there is one that can be read
reads = 0
for _ in range(8):
    run = subprocess.Popen([os.environ["CALDER"], "run", "model.yaml", "-q", "-o", "busy.h5", "-i", "1e-3", "-d", "20", "--flush", "0.01"])
    while run.poll() is None:
        with h5py.File("busy.h5", "r") as f:
            assert "streams" in f
        reads += 1
    assert run.returncode == 0
assert reads > 20, reads
PY
	last=(run -o busy.h5)
	$h5python reader.py || fail "busy.h5 cannot be read while it is written"
fi

exit $((failures > 0))
