"""A language server that does as it is told: `scripted_server.py [BEHAVIOUR ...]`.

It answers every request with its params, and obeys notifications `do/write` (text to stdout, as it is), `do/die` (exit
status, or a negative signal), `do/stderr` and `do/publish` (params to publish). Behaviours: `ignore-exit`,
`ignore-eof`, `ignore-term`, `hold-workspace` (no answer to `workspace/diagnostic`), `child` (starts a child that
ignores SIGTERM and says its pid), `die-at-start`, and `slow-shutdown`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); signal.pause()"


def send(message: dict[str, object]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive() -> dict[str, object] | None:
    length = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            message: dict[str, object] = json.loads(sys.stdin.buffer.read(length))
            return message
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return None


def die(how: int) -> None:
    sys.stdout.flush()
    if how < 0:
        os.kill(os.getpid(), -how)
    os._exit(how)


def main(behaviours: list[str]) -> int:
    if "die-at-start" in behaviours:
        print("cannot read its configuration", file=sys.stderr)
        return 7
    if "ignore-term" in behaviours:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "child" in behaviours:
        child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        send({"method": "child", "params": {"pid": child.pid}})
    shut_down = False
    while True:
        message = receive()
        if message is None:
            if "ignore-eof" in behaviours:
                signal.pause()
            return 0 if shut_down else 1
        params: object = message.get("params")
        match message.get("method"):
            case "initialize":
                send({"id": message["id"], "result": {"capabilities": {}}})
            case "shutdown":
                shut_down = True
                send({"id": message["id"], "result": None})
            case "exit":
                if "ignore-exit" in behaviours:
                    signal.pause()
                return 0 if shut_down else 1
            case "do/write":
                os.write(1, str(params).encode())
            case "do/die":
                die(int(str(params)))
            case "do/stderr":
                print(params, file=sys.stderr, flush=True)
            case "do/publish":
                send({"method": "textDocument/publishDiagnostics", "params": params})
            case "do/ask":
                send({"id": 1, "method": "server/asks", "params": params})
            case "never" | "initialized":
                pass
            case "workspace/diagnostic" if "hold-workspace" in behaviours:
                pass
            case _:
                if "id" in message and "method" in message:
                    send({"id": message["id"], "result": params})
                else:
                    send({"method": "heard", "params": message})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
