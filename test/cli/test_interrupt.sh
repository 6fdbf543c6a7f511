#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# SIGINT and SIGTERM end every run in order, whatever it does at that moment: computing, sleeping, paused by a page. And
# what cannot be printed is an error, whatever the command.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

command -v python3 >/dev/null || exit 77
cat >model.yaml <<'YAML'
calder: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0, 0, -1]}}
joints:
  hinge: {type: revolute, to: rod, axis: y}
state:
  hinge: {q: 60 deg}
run: {duration: 1e9 s, method: rk4, step: 1 ms, output: {interval: 10 s, signals: [q, u]}}
YAML
cat >support.py <<'PY'
import os, re, signal, subprocess, sys, time
CALDER, LIMIT = os.environ["CALDER"], 600 # s: only hangs take so long

def start(*arguments):
    return subprocess.Popen([CALDER, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def end(run, number, stops=True):
    run.send_signal(number)
    out, err = run.communicate(timeout=LIMIT)
    assert run.returncode == 128 + number, (number, run.returncode, err)
    assert re.search(r"^calder run: interrupted at t = [0-9.e+]+ s", err, re.M), err
    return err

def wait_for(path, size=1):
    t = time.time()
    while not (os.path.exists(path) and os.path.getsize(path) >= size):
        assert time.time() - t < LIMIT, path
        time.sleep(0.02)
PY

# ---- a plain run: with an interval of 1e8 s it would compute for minutes until the next sample
cat >plain.py <<'PY'
from support import *
for number in signal.SIGINT, signal.SIGTERM:
    for extra in [], ["-i", "1e8"], ["--real-time=1e-3"], ["-i", "0", "-m", "dopri5"]:
        if os.path.exists("run.csv"):
            os.remove("run.csv")
        run = start("model.yaml", "-q", "-o", "run.csv", "--flush", "0.02", *extra)
        wait_for("run.csv")
        time.sleep(0.2)
        end(run, number)
        lines = open("run.csv").read().splitlines()
        assert lines[0].startswith("t [s]") and all(line.count(",") == 2 for line in lines), lines[-1]
        assert not os.path.exists("run.csv.lock")
try:
    import h5py
except ImportError:
    sys.exit(0)
run = start("model.yaml", "-q", "-o", "run.h5", "--flush", "0.02")
wait_for("run.h5")
end(run, signal.SIGINT)
with h5py.File("run.h5") as f:
    assert f["status/closed"][()] == 1, "the file was not closed"
PY
last=(run model.yaml)
: >out >err
h5python=$(python_with h5py)
${h5python:-python3} plain.py || fail "plain.py"

# ---- with a page that has paused it, or asks for a speed at which a step takes hours
"$CALDER" run model.yaml -q --live --no-browser -d 0.01 >out 2>err
if ! grep -q "no web server" err; then
	cat >live.py <<'PY'
from support import *
import base64, json, socket
def talk(*commands, extra=()):
    run = start("model.yaml", "-q", "--live", "--no-browser", "-m", "rk4", "--step", "10ms", "--checkpoint", "run.ckpt", *extra)
    port = int(re.search(r"127\.0\.0\.1:(\d+)/", run.stderr.readline()).group(1))
    page = socket.create_connection(("127.0.0.1", port), LIMIT)
    page.sendall((f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n").encode())
    for command in commands:
        text = json.dumps(command).encode()
        page.sendall(bytes([0x81, 0x80 | len(text)]) + bytes(4) + text)
    time.sleep(0.4)
    return run, page
def hears(page):
    """A message of state comes, after those that are on their way."""
    page.settimeout(0.1)
    t = time.time()
    while time.time() - t < 0.3: # ticks may come all the time
        try:
            page.recv(1 << 20)
        except OSError:
            pass
    page.settimeout(LIMIT)
    got, t = b"", time.time()
    while got.count(b'"state"') < 1 and time.time() - t < LIMIT:
        got = got[-100:] if got.count(b'"state"') == 0 else got
        got += page.recv(1 << 20)
    return got.count(b'"state"') >= 1
for commands in ([{"command": "pause"}], [{"command": "speed", "value": 1e-6}], [{"command": "speed", "value": 1e-308}],
                 [{"command": "pause"}, {"command": "step", "count": 3}]):
    for number in (signal.SIGINT, signal.SIGTERM) if len(commands) == 1 else (signal.SIGTERM,):
        if os.path.exists("run.ckpt"):
            os.remove("run.ckpt")
        run, page = talk(*commands)
        assert hears(page), (commands, "pages hear nothing")
        assert "--restart run.ckpt" in end(run, number)
        assert os.path.getsize("run.ckpt") > 100, "the checkpoint is missing"
        page.close()
# a page that has asked for almost no speed can ask for another one
run, page = talk({"command": "speed", "value": 1e-6}, {"command": "speed", "value": 0}, extra=("-d", "10"))
out, err = run.communicate(timeout=LIMIT)
assert run.returncode == 0, (run.returncode, err)
PY
	last=(run model.yaml --live)
	python3 live.py || fail "live.py"
fi

# ---- what was printed has to arrive
if [ -w /dev/full ]; then
	cat >small.yaml <<'YAML'
calder: 1
bodies: {rod: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0, 0, -1]}}}
joints: {hinge: {type: revolute, to: rod, axis: y}}
run: {duration: 0.1 s, output: {interval: 10 ms, signals: [q]}}
YAML
	calder 0 run small.yaml -q -o small.csv
	calder 0 run small.yaml -q -o small.h5
	random_plan small.yaml rod hinge
	full() {
		last=("$@")
		local code=0
		"$CALDER" "$@" >/dev/full 2>err </dev/null || code=$?
		: >out
		[ "$code" -eq 3 ] || fail "exit code $code on a full stdout"
		grep -Eq 'No space left on device|could not be written' err || fail "nothing is said of a full stdout"
	}
	full --help
	full --version
	full help run
	for command in info check run sweep plot signals parameters view render modes linearize trim operators inverse identify pose methods mesh convert \
		fmu schema golden models bench; do full $command --help; done
	full info small.yaml
	full info --json small.yaml
	full check small.yaml
	full check --json small.yaml
	full run small.yaml
	full run small.yaml --json
	full run small.yaml -q -o -
	full run small.yaml -q --plot -
	full plot small.csv
	full view small.h5 --html -
	full view small.h5 --json -
	full convert small.yaml -o -
	full convert small.yaml -o small2.yaml
	for command in linearize trim operators signals 'pose --node rod --rpy 0,0,0' 'inverse --drive hinge=t' 'modes --system'; do
		# shellcheck disable=SC2086
		full $command small.yaml
		# shellcheck disable=SC2086
		[ "$command" = signals ] || [[ "$command" == inverse* ]] || full $command --json small.yaml
	done
	full trim small.yaml -o -
	full inverse --drive hinge=t small.yaml -o -
	full methods
	full schema
	full models "$SOURCE_DIR/test/data/golden"
	full modes "$SOURCE_DIR/examples/flexible_arm.yaml"
	full golden "$SOURCE_DIR/test/data/golden/$(ls "$SOURCE_DIR/test/data/golden" | head -n 1)"
	full sweep --list plan.yaml
fi

exit $((failures > 0))
