"""What a person sees: feedbench on a pseudo-terminal, its screen kept by a terminal emulator (Debian's python3-pyte).

usage: progress_screen.py panel|launched|marked COMMAND...
  panel     the panel shows itself, becomes one line where the terminal becomes narrow, and goes at Ctrl-C; exit code 130
  launched  the panel shows itself through a launcher, and is gone at the end; exit code 0
  marked    the launcher puts marks before lines: plain lines, nothing is drawn; exit code 0
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

import pyte

LONGEST_S = 60


class Session:
    def __init__(self, command, columns, rows):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        leader, follower = pty.openpty()
        self.resize_to(leader, columns, rows)
        self.before = termios.tcgetattr(follower)
        self.pid = os.fork()
        if self.pid == 0:
            os.login_tty(follower) if hasattr(os, "login_tty") else self.login(follower)
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
            os.execvp(command[0], command)
        self.leader, self.follower = leader, follower  # the follower stays open: its settings are asked for at the end
        self.end = time.monotonic() + LONGEST_S
        self.status = None

    @staticmethod
    def login(fd):
        os.setsid()
        fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
        for stream in (0, 1, 2):
            os.dup2(fd, stream)

    @staticmethod
    def resize_to(fd, columns, rows):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.resize_to(self.leader, columns, rows)
        self.screen.resize(rows, columns)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n")

    def pump(self):
        if select.select([self.leader], [], [], 0.05)[0]:
            piece = os.read(self.leader, 65536)
            self.raw += piece
            self.stream.feed(piece)

    def until(self, what, condition):
        while not condition():
            if time.monotonic() > self.end:
                sys.exit(f"never seen: {what}; the screen is\n{self.text()}")
            if self.status is None:
                done, status = os.waitpid(self.pid, os.WNOHANG)
                if done:
                    self.status = os.waitstatus_to_exitcode(status)
            elif not select.select([self.leader], [], [], 0)[0] and not condition():
                sys.exit(f"it ended ({self.status}) before this was seen: {what}; the screen is\n{self.text()}")
            self.pump()

    def finish(self):
        self.until("its end", lambda: self.status is not None)
        while select.select([self.leader], [], [], 0.1)[0]:
            self.pump()
        return self.status


def expect(condition, what, session):
    if not condition:
        sys.exit(f"expected {what}; the screen is\n{session.text()}")


def panel_of(session):
    """First line, figures, rates, curve: directly below each other."""
    return re.search(r"^epoch \d+/\d+  \[[#.]{20}\] +\d+ %  \d+/\d+ steps  .*\n"
                     r"  (AU [\d.]+ %   )?\d+ stalled accelerators   \d+ reads in flight.*\n"
                     r"  MB/s now [\d.]+   sustained [\d.]+   lowest second [\d.]+\n"
                     r"  [▁▂▃▄▅▆▇█]+$", session.text(), re.M)


def main():
    kind, command = sys.argv[1], sys.argv[2:]
    session = Session(command, 100, 30)
    if kind == "marked":
        code = session.finish()
        expect(code == 0, f"exit code 0, found {code}", session)
        expect(re.search(rb"epoch 1/1  \[", session.raw) and b"\x1b" not in session.raw, "plain lines", session)
        print(f"{kind}: {len(session.raw)} bytes to the terminal, exit code {code}")
        return
    session.until("the whole panel", lambda: panel_of(session))
    if kind == "panel":
        expect(re.search(r"\d+\.\d\d CPU cores", session.text()), "CPU cores", session)
        session.until("the AU", lambda: re.search(r"^  AU [\d.]+ %", session.text(), re.M))
        above = session.text().split("\n")[0]
        session.resize(50, 30)
        session.until("one line", lambda: re.search(r"^epoch \d+/\d+ +\d+ %.*left$", session.text(), re.M)
                      and "MB/s now" not in session.text())
        expect(all(len(line) < 50 for line in session.text().split("\n") if line.startswith("epoch")), "short lines", session)
        session.resize(100, 30)
        session.until("the panel again", lambda: panel_of(session))
        expect(session.text().split("\n")[0][:40] == above[:40], f"the line above to stay: {above}", session)
        expect(session.text().count("MB/s now") == 1, "one panel", session)
        os.write(session.leader, b"\x03")
        code, right = session.finish(), 130
    else:
        code, right = session.finish(), 0
    expect(code == right, f"exit code {right}, found {code}", session)
    expect("MB/s now" not in session.text() and "stalled accelerators" not in session.text(), "no panel left", session)
    expect(session.screen.cursor.x == 0, "the cursor at the start of a line", session)
    expect(not session.screen.cursor.hidden, "a cursor that can be seen", session)
    expect(termios.tcgetattr(session.follower) == session.before, "the terminal's settings as they were", session)
    expect(b"\x1b[?" not in session.raw, "no mode of the terminal changed", session)
    print(f"{kind}: {len(session.raw)} bytes to the terminal, exit code {code}")


main()
