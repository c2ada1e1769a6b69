"""Runs a command of attnc with SIGCHLD ignored, as some supervisors leave it to what they start: ignore_children.py COMMAND …"""

import os
import signal
import sys

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
