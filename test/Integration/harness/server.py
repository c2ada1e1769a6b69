"""attune-serve: many commands of attnc in one process."""

import pathlib
import subprocess
import tempfile


class Server:
    """A process that is started again where a command ended it."""

    def __init__(self, program="attune-serve"):
        self.program, self.process = program, None
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")

    def call(self, *words):
        """(exit status, what was said). A process that died by signal s answers −s."""
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            stderr=self.log)
        start = self.log.seek(0, 2)
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            status = int(answer)
        else:
            status, self.process = self.process.wait(), None
        self.log.seek(start)
        return status, self.log.read()

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
        self.log.close()


def npy(folder, name):
    return pathlib.Path(folder) / f"{name}.npy"
