#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A run in the browser, without a browser: the server answers only pages of its own, sends the document and ticks, obeys
# commands, and a page that does not read holds nothing up.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

command -v python3 >/dev/null || exit 77
cat >model.yaml <<'YAML'
calder: 1
title: "</script>A slider"
bodies:
  cart: {mass: 2 kg, box: [1, 1, 1]}
  arm: {mass: 1 kg, rod: {from: [0, 0, 0], to: [1, 0, 0]}}
joints:
  rail: {type: prismatic, to: cart, axis: x}
  hinge: {type: revolute, from: cart, to: arm}
events:
  half <time>: {at: 2 s, do: {note: half of it is over}}
run: {duration: 4 s, method: rk4, step: 5 ms, output: {interval: 50 ms, signals: [q]}}
YAML

"$CALDER" run model.yaml -q --live --no-browser -d 0.01 >out 2>err
skip_without_server

# A client of RFC 6455: just enough to talk to the program.
cat >client.py <<'PY'
import base64, json, os, re, socket, struct, subprocess, sys, time

class Page:
    def __init__(self, port, origin=None, host=None, path="/live", receive=None):
        self.s = socket.socket()
        if receive:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.s.settimeout(3000)
        self.s.connect(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall((f"GET {path} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{port}'}\r\nUpgrade: websocket\r\n"
                        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
                        + (f"Origin: {origin}\r\n" if origin else "") + "\r\n").encode())
        self.buffer, self.last, self.events = b"", {}, []
        while b"\r\n\r\n" not in self.buffer:
            got = self.s.recv(4096)
            if not got:
                break
            self.buffer += got
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        self.answer = head.split(b"\r\n")[0].decode()

    def take(self, n):
        while len(self.buffer) < n:
            got = self.s.recv(1 << 16)
            if not got:
                raise EOFError
            self.buffer += got
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def message(self):
        first, size = self.take(2)
        size = struct.unpack(">H", self.take(2))[0] if size == 126 else struct.unpack(">Q", self.take(8))[0] if size == 127 else size
        return first & 15, self.take(size)

    def send(self, **command):
        text, mask = json.dumps(command).encode(), os.urandom(4)
        head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else bytes([0x81, 0xfe]) + struct.pack(">H", len(text))
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))

    def tick(self, wanted=lambda t, values: True):
        while True:
            kind, data = self.message()
            if kind == 2:
                magic, number, t = struct.unpack_from("<IId", data)
                assert magic == 0x4b435443
                self.raw = data
                if wanted(t, data):
                    return t
            elif kind == 1:
                message = json.loads(data)
                self.last = message
                if "event" in message:
                    self.events.append(message["event"])
                if "end" in message:
                    return None

    def text(self, key):
        """What the next message with this key says."""
        while True:
            kind, data = self.message()
            if kind == 2:
                self.raw = data
            elif key in json.loads(data):
                self.last = json.loads(data)
                return self.last[key]

    def state(self):
        return self.text("state")

    def error(self):
        return self.text("error")

    def pause(self):
        """The time at which it rests. A pause is known at once, and one more step may follow; not after a command that came later."""
        self.send(command="pause")
        while self.state()["running"]:
            pass
        self.send(command="parameter", parameter=-1, value=0)
        assert "finite value" in self.error()
        return self.tick()

def start(*arguments):
    run = subprocess.Popen([os.environ["CALDER"], "run", *arguments, "--live", "--no-browser"], stderr=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    port = int(re.search(r"127\.0\.0\.1:(\d+)/", run.stderr.readline()).group(1))
    return run, port
PY

cat >talk.py <<'PY'
from client import *
run, port = start("model.yaml", "-q")
for host, origin in ((None, "http://evil.example"), ("evil.example", None), (None, f"http://127.0.0.1:{port + 1}")):
    assert " 101" not in Page(port, origin, host).answer, (host, origin)
page = Page(port, f"http://127.0.0.1:{port}")
assert " 101" in page.answer, page.answer
kind, data = page.message()
assert kind == 1 and b"<" not in data
document = json.loads(data)["document"]
assert document["title"] == "</script>A slider" and [b["name"] for b in document["bodies"]] == ["cart", "arm"]
assert [s["name"] for s in document["signals"]] == ["q:rail", "q:hinge"] and "frames" not in document
size = 16 + 8 * 2 + 4 * (7 + 6) * 2
value = lambda k: struct.unpack_from("<d", page.raw, 16 + 8 * k)[0]
page.tick()
assert len(page.raw) == size and value(0) == 0
t0 = page.pause()
time.sleep(0.2)
assert page.tick() == t0, "it continues while it is paused"
# a step is the time between two pictures, 1/60 s, in whole steps of the solver
page.send(command="step", count=3)
t1 = page.tick(lambda t, d: t > t0 + 0.05 - 1e-9)
assert t1 < t0 + 0.055 + 1e-9, (t0, t1)
time.sleep(0.2)
assert page.tick() == t1, "it continues after the steps"
# both bodies together weigh 3 kg: a push of 6 N for a while, and the speed stays
page.send(command="force", body=0, point=[0, 0, 0], force=[6, 0, 0])
page.send(command="resume")
page.tick(lambda t, d: t > t1 + 0.5)
assert value(0) > 0.1, value(0)
page.send(command="release")
page.send(command="joint", joint=1, dof=0, value=1.0)
page.send(command="nonsense", body=-7)
page.send(command="force", body=99, point=[0, 0, 0], force=[6, 0, 0])
page.send(command="speed", value=0)
end = page.tick(lambda t, d: False)
assert end is None and "over" in page.last["end"], page.last
assert abs(value(1) - 1) < 0.05, value(1)      # the slider pulled the hinge to 1 rad
assert [(e["t"], e["name"]) for e in page.events] == [(2, 'half <time>')], page.events
assert run.wait(3000) == 0
PY
python3 talk.py || fail "talk.py"

# ---- waits for a page, releases what a slider holds, and stays at the end
cat >lab.py <<'PY'
from client import *
import signal
run, port = start("model.yaml", "-q", "-d", "0.05", "--wait", "--stay")
time.sleep(1)
assert run.poll() is None, "it did not wait"
page = Page(port)
at_end = lambda page: "end of the run" in page.state().get("text", "")
while not at_end(page):
    pass
later = Page(port)  # a later page gets the last moment, and that it is the last one
while not at_end(later):
    pass
assert abs(later.tick() - 0.05) < 1e-9
assert run.poll() is None, "it did not stay"
later.send(command="reset")  # and can go back to the start
assert later.tick(lambda t, d: t < 0.05) is not None
while not at_end(later):
    pass
run.send_signal(signal.SIGINT)
run.wait(3000)
# results cannot be taken back: with a file the end is the end
run, port = start("model.yaml", "-q", "-d", "0.5", "-o", "run.csv", "--wait", "--stay")
page = Page(port)
page.send(command="keep")
assert "writes results" in page.error(), page.last
assert page.tick(lambda t, d: False) is None
later = Page(port)
assert later.tick(lambda t, d: False) is None, "a later page does not get the end"
run.send_signal(signal.SIGINT)
run.wait(3000)

run, port = start("model.yaml", "-q", "-d", "1000000", "--wait")
page = Page(port)
page.tick()
value = lambda k: struct.unpack_from("<d", page.raw, 16 + 8 * k)[0]
page.send(command="joint", joint=1, dof=0, value=1.0)
page.tick(lambda t, d: struct.unpack_from("<d", d, 24)[0] > 0.3)
page.send(command="release_joint", joint=1, dof=0)
page.send(command="release_joint", joint=7, dof=-1)
page.send(command="speed", value=0)
page.tick(lambda t, d: struct.unpack_from("<d", d, 24)[0] > 1.5)  # held, it would not go beyond 1 rad
run.send_signal(signal.SIGINT)
run.wait(3000)
PY
python3 lab.py || fail "lab.py"

# ---- parameters and moments: what is changed acts, is refused with a reason, is logged, and goes back with the moment
cat >bench.yaml <<'YAML'
calder: 1
bodies:
  cart: {mass: 2 kg, box: [1, 1, 1]}
  ball: {mass: 1 kg, sphere: 0.1}
  far: {mass: 1 kg, sphere: 0.1}
joints:
  rail: {type: prismatic, to: cart, axis: x}
  fall: {type: prismatic, to: ball, axis: z, dof: {damping: 1 kg/s}}
  other: {type: prismatic, to: far, axis: y}
devices:
  motor: {type: servo, joint: rail, reference: 1 m, proportional: 8, derivative: 8}
  floor:
    type: contact
    material: {stiffness: 1e5, dissipation: 1, friction_dynamic: 0.3}
    shapes:
      ground: {type: plane}
      ball: {node: ball, type: sphere, radius: 0.1}
state: {fall: {q: 0.0995}}
gravity: [0, 0, -9.81]
run: {duration: 1000000 s, method: rk4, step: 2 ms, output: {interval: 50 ms, signals: [q, u, balance]}}
YAML
calder 0 parameters bench.yaml
stdout_has "device:motor.proportional = 8 N/m"
stdout_has "device:motor.integral = 0  .fixed: it is 0 in the model: there is none.$"
stdout_has "body:cart.mass = 2 kg  .above 0.$"
stdout_has "device:floor.ball.friction_dynamic = 0.3 1  .from 0.$"
calder 0 parameters --json bench.yaml
python3 -c 'import json,sys; json.load(open("out"))' || fail "parameters --json"

cat >laboratory.py <<'PY'
from client import *
import signal
run, port = start("bench.yaml", "--wait", "--stay", "-q")
page = Page(port)
kind, data = page.message()
document = json.loads(data)["document"]
names = [p["name"] for p in document["live"]["parameters"]]
of = lambda name: names.index(name)
value = lambda k: struct.unpack_from("<d", page.raw, 16 + 8 * k)[0]
column = {s["name"]: i for i, s in enumerate(document["signals"])}
now = lambda name: value(column[name])
t0 = page.pause()
page.send(command="keep")
while len(moments := page.text("moments")) < 2:
    pass
assert moments[0] == {"moment": 0, "t": 0} and moments[1]["t"] == t0, moments
# the contact of the ball with the floor: m g upwards where it touches
arrows = [a["name"] for a in document["arrows"]]
assert arrows[0] == "device:floor.x1" and document["arrows"][0]["kind"] == "contact", arrows
at = lambda k: struct.unpack_from("<6f", page.raw, len(page.raw) - 24 * len(arrows) + 24 * k)
page.send(command="step", count=300)
page.tick(lambda t, d: t > t0 + 4.9)
force = sum(at(k)[5] for k in range(4))
assert abs(abs(force) - 9.81) < 0.05, force
# a parameter that is refused stays as it is, and one that is not acts
page.send(command="parameter", parameter=of("body:cart.mass"), value=-3)
assert "body:cart.mass cannot be -3: give a finite number above 0 kg" in page.error()
page.send(command="parameter", parameter=of("device:motor.integral"), value=3)
assert "there is none" in page.error()
for parameter, wrong in ((99999, 1), (-1, 1), (1.5, 1), ("x", 1), (0, "many"), (0, None)):
    page.send(command="parameter", parameter=parameter, value=wrong)
    assert "finite value" in page.error()
for command in ("return", "forget"):
    for moment in (99, 16, -1, "a") + ((0,) if command == "forget" else ()):
        page.send(command=command, moment=moment)
        error = page.error() if command == "return" or moment != 16 else "moment"
        assert "moment" in error, error
before = now("balance:error") if "balance:error" in column else None
page.send(command="parameter", parameter=of("device:motor.proportional"), value=100)
assert page.text("parameter") == {"index": of("device:motor.proportional"), "value": 100}
page.send(command="parameter", parameter=of("body:cart.mass"), value=7)
page.text("parameter")
event = page.text("event")
assert event["name"] == "parameter" and "set body:cart.mass to 7 kg, from 2" in event["text"] or "motor" in event["text"], event
later = Page(port)  # who comes later gets the numbers as they are
later_document = json.loads(later.message()[1])["document"]
changed = {p["name"]: p["value"] for p in later_document["live"]["parameters"]}
if changed["body:cart.mass"] != 7:
    while (p := later.text("parameter"))["index"] != of("body:cart.mass"):
        pass
    assert p["value"] == 7
# back to the moment: the state and the numbers of then
page.send(command="return", moment=moments[1]["moment"])
back = {}
while back != {"device:motor.proportional": 8, "body:cart.mass": 2}:
    p = page.text("parameter")
    back[names[p["index"]]] = p["value"]
assert page.tick(lambda t, d: t == t0) == t0
page.send(command="reset")
assert page.tick(lambda t, d: t == 0) == 0
run.send_signal(signal.SIGINT)
run.communicate(timeout=3000)
assert run.returncode == 128 + signal.SIGINT, run.returncode
PY
python3 laboratory.py || fail "laboratory.py"

# ---- what a page changes is in the log, and a scenario that makes the same change has the same bits
cat >log.py <<'PY'
from client import *
import signal
run, port = start("bench.yaml", "--wait", "-o", sys.argv[1], "-q", "--no-replay", "--interval", "0.01", "-d", "2")
page = Page(port)
names = [p["name"] for p in json.loads(page.message()[1])["document"]["live"]["parameters"]]
t = page.pause()
page.send(command="parameter", parameter=names.index("device:motor.proportional"), value=90)
page.text("parameter")
page.send(command="speed", value=0)
page.send(command="resume")
assert page.tick(lambda s, d: False) is None
run.communicate(timeout=3000)
print(repr(t))
PY
when=$(python3 log.py page.csv) || fail "log.py"
sed "s/^run:.*/events: {tune: {at: $when, do: {set: device:motor.proportional, value: 90}}}\n&/" bench.yaml >same.yaml
calder 0 run same.yaml -q -d 2 --interval 0.01 -o same.csv --live --no-browser
cmp page.csv same.csv || fail "a change by a page and by an event have other bits"
if "$CALDER" run bench.yaml -q -d 0.01 -o probe.h5 2>err && command -v h5dump >/dev/null; then
	python3 log.py page.h5 >when || fail "log.py page.h5"
	h5dump -d /events/actions page.h5 | grep -q '"set device:motor.proportional"' || fail "the log does not name the parameter"
	h5dump -d /events/log page.h5 | grep -q ' 90$' || fail "the log has not the value"
fi

# ---- a page that does not read: 2000 bodies are 104 kB a tick, 6.2 MB/s, more than the buffers between the two take
python3 - >large.yaml <<'PY'
print("calder: 1\nbodies:")
for i in range(2000):
    print(f"  b{i}: {{mass: 1, sphere: 0.1}}")
print("joints:")
for i in range(2000):
    print(f"  j{i}: {{type: {'free' if i == 0 else 'weld'}, {'' if i == 0 else f'from: b{i - 1}, '}to: b{i}}}")
print("run: {duration: 5 s, method: rk4, step: 50 ms, output: {interval: 1 s, signals: [energy]}}")
PY
cat >stall.py <<'PY'
from client import *
run, port = start("large.yaml", "--json")
stalled = Page(port, receive=4096)
reader = Page(port)
last = 0
def seen(t, data):
    global last
    last = t
assert reader.tick(seen) is None and last == 5, f"the other page got ticks up to {last} s"
json.loads(run.communicate(timeout=3000)[0])
assert run.returncode == 0
PY
python3 stall.py || fail "stall.py"

calder 2 run model.yaml --live=99999
stderr_has "takes the number of a port"
calder 2 run model.yaml --wait
stderr_has "--wait needs --live"
calder 2 run model.yaml --stay
stderr_has "--stay needs --live"
calder 2 run model.yaml --live --real-time
stderr_has "has a pace of its own"

exit $((failures > 0))
