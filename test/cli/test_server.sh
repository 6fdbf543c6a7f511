#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The server of live runs and of `calder view` among clients that mean no good: requests that never end, more pages than
# there is room for, frames of others; and methods other than GET.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

command -v python3 >/dev/null || exit 77
cat >model.yaml <<'YAML'
calder: 1
bodies: {cart: {mass: 2 kg, box: [1, 1, 1]}}
joints: {rail: {type: prismatic, to: cart, axis: x}}
state: {rail: {u: 1}}
run: {duration: 1000 s, method: rk4, step: 5 ms, output: {interval: 50 ms, signals: [q]}}
YAML
"$CALDER" run model.yaml -q --live --no-browser -d 0.01 >out 2>err
skip_without_server
"$CALDER" run model.yaml -q -o run.h5 -d 1 || fail "run.h5"

cat >server.py <<'PY'
import os, re, signal, socket, subprocess, time
LIMIT = 600 # s: only hangs take so long

def start(*arguments):
    run = subprocess.Popen([os.environ["CALDER"], *arguments, "--no-browser"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                           text=True)
    return run, int(re.search(r"127\.0\.0\.1:(\d+)/", run.stderr.readline()).group(1))

def ask(port, method="GET", path="/"):
    """Head and body of an answer."""
    s = socket.create_connection(("127.0.0.1", port), LIMIT)
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    got = b""
    while True:
        part = s.recv(1 << 16)
        if not part:
            break
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    return head.decode(), body

def watch(port):
    """A page's socket, and what it is answered first."""
    s = socket.create_connection(("127.0.0.1", port), LIMIT)
    s.sendall((f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n").encode())
    got = b""
    while b"\r\n\r\n" not in got:
        part = s.recv(4096)
        assert part, got
        got += part
    return s, got.decode(errors="replace")

def is_open(s):
    s.setblocking(False)
    try:
        return len(s.recv(1, socket.MSG_PEEK)) > 0
    except BlockingIOError:
        return True

def stop(run):
    run.send_signal(signal.SIGTERM)
    run.wait(LIMIT)

for arguments in ("run", "model.yaml", "-q", "--live"), ("view", "run.h5"):
    run, port = start(*arguments)
    head, body = ask(port)
    assert " 200 " in head.splitlines()[0] and len(body) > 10000, head
    assert "frame-ancestors 'none'" in head and "X-Frame-Options: DENY" in head, head
    length = re.search(r"Content-Length: (\d+)", head).group(1)
    assert int(length) == len(body), (length, len(body))
    head, body = ask(port, "HEAD")
    assert " 200 " in head.splitlines()[0] and f"Content-Length: {length}" in head and body == b"", (head, len(body))
    for method in "POST", "PUT", "DELETE":
        head, body = ask(port, method)
        assert " 405 " in head.splitlines()[0] and "Allow: GET, HEAD" in head, head
    assert " 404 " in ask(port, "GET", "/etc/passwd")[0].splitlines()[0]
    # requests that never end: the page comes while they are open, and they are ended by the server
    for attempt in range(5): # on a machine that is busy they may be ended before the page is asked for
        half = [socket.create_connection(("127.0.0.1", port), LIMIT) for i in range(40)]
        for s in half:
            s.sendall(b"GET / HT")
        assert " 200 " in ask(port)[0].splitlines()[0]
        still_open = sum(is_open(s) for s in half)
        for s in half:
            s.settimeout(LIMIT)
            while s.recv(4096):
                pass
        if still_open == len(half):
            break
    else:
        raise AssertionError("half requests hold the page up")
    stop(run)

# more pages than there is room for: those get a clear answer, and room again when others leave
run, port = start("run", "model.yaml", "-q", "--live")
pages = []
for i in range(16):
    pages.append(watch(port))
    pages[-1][0].settimeout(LIMIT)
    assert pages[-1][0].recv(1, socket.MSG_PEEK) # it has its place once the document comes
pages += [watch(port) for i in range(24)]
answers = [answer.splitlines()[0] for s, answer in pages]
assert sum(" 101 " in a for a in answers) == 16 and sum(" 503 " in a for a in answers) == 24, answers
refused = next(answer for s, answer in pages if " 503 " in answer)
assert "as many pages watch this run as can" in refused, refused
head, body = ask(port)
assert " 503 " in head.splitlines()[0] and b"as many pages watch this run as can" in body, (head, body)
for s, answer in pages:
    s.close()
t = time.time()
while " 200 " not in ask(port)[0].splitlines()[0]:
    assert time.time() - t < LIMIT, "no room though all have left"
    time.sleep(0.05)
assert " 101 " in watch(port)[1]
assert run.poll() is None
stop(run)
PY
last=(run model.yaml --live)
: >out >err
python3 server.py || fail "server.py"

exit $((failures > 0))
