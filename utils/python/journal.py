"""What a long run has done so far, in a file: a run that dies or hangs goes on after the work that it died of, and one
that is started again does nothing twice.

A worker writes a line when it begins a piece of work and one with the result; a supervisor starts the worker, ends it
when nothing has been written for too long, notes the piece that was begun and not finished, and starts it again.
"""

import json
import subprocess
import time

# Exit statuses of a worker: its device does not answer any more; there is none.
BROKEN, NO_DEVICE, KILLED = 3, 4, -1
RESTARTS = 20
TIME_UP = "the time was up"


class Journal:
    """Lines {"key", "value"} of finished work, and {"key"} of what was begun. `stamp` tells one run's work from another's;
    a file with another stamp is begun anew."""

    def __init__(self, path, stamp):
        self.path, self.results, self.begun = path, {}, None
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if not lines or lines[0] != json.dumps({"stamp": stamp}):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"stamp": stamp}) + "\n", encoding="utf-8")
            return
        for entry in filter(None, map(parsed, lines[1:])):
            self.begun = None if "value" in entry else entry["key"]
            if "value" in entry:
                self.results[entry["key"]] = entry["value"]

    def write(self, entry):
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def begin(self, key):
        self.begun = key
        self.write({"key": key})

    def finish(self, key, value):
        self.begun, self.results[key] = None, value
        self.write({"key": key, "value": value})


def parsed(line):
    """None for a line that was cut off."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None


def watched(command, path, silence, until):
    """(exit status, what happened) of a process that is ended when the file has not grown for `silence` seconds, twice
    that before its first line, or at the time `until`."""
    process = subprocess.Popen(list(map(str, command)))
    size = first = path.stat().st_size
    since = time.monotonic()
    while process.poll() is None:
        now = path.stat().st_size if path.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        waited = silence * (2 if size == first else 1)
        reason = TIME_UP if time.time() > until else f"no answer for {waited:.0f} s"
        if reason == TIME_UP or time.monotonic() - since > waited:
            process.kill()
            process.wait()
            return KILLED, reason
        time.sleep(0.05)
    return process.returncode, f"the process ended with status {process.returncode}"


def supervise(command, path, stamp, silence, died, until=float("inf")):
    """Runs a worker until it ends well, or until then; `died(key, reason)` is the result of a piece of work that ended it.
    Returns the last exit status, and the reason why the rest could not be done, or nothing."""
    for _ in range(RESTARTS):
        Journal(path, stamp)
        status, reason = watched(command, path, silence, until)
        if status in (0, NO_DEVICE):
            return status, ""
        if reason == TIME_UP:
            return 0, TIME_UP
        journal = Journal(path, stamp)
        if journal.begun is not None:
            journal.finish(journal.begun, died(journal.begun, reason))
        elif status != BROKEN:
            return status, reason
    return status, f"the process ended {RESTARTS} times"
