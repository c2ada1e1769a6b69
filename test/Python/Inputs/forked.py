"""Children of a fork."""

import os
import signal
import threading
import time
import traceback

SECONDS = 20


def in_child(body):
    """What became of a child that runs `body`: its exit status, 0 if it ended well; negative: the signal that ended it, as
    it does a child that hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        status = 1
        try:
            body()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Meanwhile:
    """Another thread is inside of `context` for as long as this is entered."""

    def __init__(self, context):
        self.context, self.inside, self.leave = context, threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._hold)

    def _hold(self):
        with self.context:
            self.inside.set()
            self.leave.wait()

    def __enter__(self):
        self.thread.start()
        self.inside.wait()

    def __exit__(self, *error):
        self.leave.set()
        self.thread.join()


def until(condition):
    while not condition():
        time.sleep(0.001)
