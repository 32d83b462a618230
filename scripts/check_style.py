#!/usr/bin/env python3
"""Checks the rules of the house on every source file; each message names the better way.

Usage: check_style.py [ROOT]      exit 1 where a rule is broken. Tests: tests/style/check_style_test.py.
"""
import os
import re
import subprocess
import sys

# The order of rooms: a room may include rooms with a smaller number; where a set is given, only those.
ROOMS = {
    "harness/types": (1, set()),
    "harness/engine": (2, {"harness/types"}),
    "storage/s3": (3, {"harness/types", "harness/engine"}),
    "storage": (3, {"harness/types", "harness/engine", "storage/s3", "storage/feedfs", "storage/feedfs/metadata", "storage/nfs"}),
    "storage/nfs": (3, {"harness/types", "harness/engine"}),
    "storage/feedfs/metadata": (3, {"harness/types"}),
    "storage/feedfs": (3, {"harness/types", "harness/engine", "storage/s3", "storage/feedfs/metadata"}),
    "storage/feedfs/mount": (4, {"harness/types", "harness/engine", "storage/feedfs", "storage/feedfs/metadata"}),
    "storage/feedfs/tool": (5, {"harness/types", "harness/engine", "storage/s3", "storage/feedfs", "storage/feedfs/metadata",
                                "storage/feedfs/mount"}),
    "formats": (3, {"harness/types"}),
    "harness/config": (3, {"harness/types"}),
    "harness/metrics": (3, {"harness/types"}),
    "harness/verdict": (3, {"harness/types"}),
    "reporters/html": (3, set()),
    "reporters": (3, {"harness/types", "reporters/html"}),
    "reporters/ingest": (4, {"harness/types", "harness/metrics", "reporters"}),
    "reporters/compare": (5, {"harness/types", "reporters/html", "reporters", "reporters/ingest"}),
    "reporters/submission": (6, {"harness/types", "harness/config", "harness/dataset", "reporters", "reporters/ingest"}),
    "reporters/gate": (4, {"harness/types", "harness/config", "harness/metrics", "reporters"}),
    "harness/cluster": (4, None),
    "harness/probes": (4, None),
    "harness/dataset": (5, None),
    "generators": (6, None),
    "harness/loader": (7, None),
    "harness/accelerator": (8, None),
    "workloads": (9, None),
    "harness/cli": (10, None),
}
LIBRARY_ONLY_IN = {
    "mpi.h": {"harness/cluster/mpi.cpp", "harness/cluster/mpi_signs.hpp", "storage/mpi_library.hpp"},
    "liburing.h": {"harness/engine/uring.cpp"},
    "curl/curl.h": {"storage/s3/easy.hpp"},
    "expat.h": {"storage/s3/xml.cpp"},
    "fuse3/fuse_lowlevel.h": {"storage/feedfs/mount/reply.hpp"},
    "lmdb.h": {"storage/feedfs/metadata/lmdb_environment.hpp", "storage/feedfs/metadata/lmdb_sync_point.hpp"},
    "hiredis/hiredis.h": {"storage/feedfs/metadata/redis_connection.cpp"},
}
CLOCKS = re.compile(
    r"\b(clock_gettime|clock_nanosleep|nanosleep|usleep|gettimeofday|timespec_get|random_device|getrandom|arc4random"
    r"|steady_clock|system_clock|high_resolution_clock|this_thread::sleep_\w+)\b|(?<![\w.>:])(sleep|rand|srand)\s*\(")
CALENDAR_ROOM = "harness/cli/"
FORBIDDEN_WORDS = {"util", "utils", "utility", "utilities", "common", "misc", "helper", "helpers", "manager", "managers"}
HEADER_WORDS = ("Thread:", "Owner:", "Units:", "Errors:")
LINE_LIMIT = 300
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|not implemented|unimplemented)\b")
CAPTURING_COROUTINE = re.compile(r"\[[^\]\s][^\]]*\]\s*\([^)]*\)[^{;]*->\s*(?:\w+::)*Task<")
ASSERTION = re.compile(r"\b(REQUIRE|CHECK|STATIC_REQUIRE|SUCCEED|FAIL)(_\w+)?\s*\(")
SCRIPT_ASSERTION = re.compile(r"\b(expect_\w+|fail|assert\w*|raise|sys\.exit|process\.exit)\b")


def files_of(root):
    """Tracked files and new ones; the ignored ones are nobody's business."""
    try:
        out = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True)
        names = out.stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        names = [os.path.relpath(os.path.join(d, f), root) for d, dirs, fs in os.walk(root) for f in fs
                 if not os.path.relpath(d, root).startswith(("build", ".git"))]
    return sorted(n for n in set(names) if n and os.path.isfile(os.path.join(root, n)))


def room_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in ROOMS:
        folder = os.path.dirname(folder)
    return folder or None


def without_comments(text):
    """Comments and string contents blanked, lines kept."""
    def blank(match):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        return '""' if token.startswith('"') else token
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text, flags=re.S)


class Checker:
    def __init__(self, root):
        self.root = root
        self.broken = []

    def report(self, path, line, message):
        self.broken.append(f"{path}:{line}: {message}")

    def check_name(self, path):
        for part in path.split("/"):
            for word in re.split(r"[_.\-]", part.lower()):
                if word in FORBIDDEN_WORDS:
                    self.report(path, 1, f"a drawer called '{word}' collects everything: name the one thing that it holds")

    def check_includes(self, path, text, files):
        room = room_of(path)
        for number, line in enumerate(text.splitlines(), 1):
            system = re.match(r"\s*#\s*include\s*<([^>]+)>", line)
            if system and system.group(1) in LIBRARY_ONLY_IN and not path.startswith("tests/bench/"):
                allowed = LIBRARY_ONLY_IN[system.group(1)]
                if path not in allowed:
                    self.report(path, number, f"<{system.group(1)}> belongs in {' and '.join(sorted(allowed))} alone: use the interface in that room")
            own = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not own:
                continue
            target = own.group(1)
            if path.startswith("tests/") and f"{os.path.dirname(path)}/{target}" in files:
                continue  # what the tests of one folder share
            if target not in files:
                self.report(path, number, f'"{target}" is not a file of this repository: includes are written from its root')
                continue
            other = room_of(target)
            if room is None or other is None or room == other:
                if room is not None and other is None:
                    self.report(path, number, f'"{target}" lies in no room: sources may not depend on tests or scripts')
                continue
            order, allowed = ROOMS[room]
            if allowed is not None and other not in allowed:
                self.report(path, number, f"{room} may include only {', '.join(sorted(allowed)) or 'the standard library'}, not {other}: "
                                          "pass the value in, or move what both need to harness/types")
            elif allowed is None and ROOMS[other][0] >= order:
                self.report(path, number, f"{room} ({order}) may not include {other} ({ROOMS[other][0]}): the order of rooms forbids circles; "
                                          "let the room with the larger number call")
            elif other.startswith("reporters") and allowed is None and room != "harness/cli":
                self.report(path, number, "reporters are used by harness/cli alone: put results into a RunResult")

    def check_source(self, path, text):
        code = without_comments(text)
        in_tests = path.startswith("tests/")
        for number, line in enumerate(code.splitlines(), 1):
            if not in_tests and not re.fullmatch(r"harness/engine/clock_\w+\.cpp", path) and not path.startswith(CALENDAR_ROOM):
                found = CLOCKS.search(line)
                if found:
                    self.report(path, number, f"'{found.group(0).strip('( ')}' would not run in virtual time: use engine::Clock, Reactor::sleep_until, "
                                              "nap_ns, or a named stream of types/random.hpp")
            if CAPTURING_COROUTINE.search(line):
                self.report(path, number, "a lambda coroutine dies before its captures are used: make it a function with parameters")
        for number, line in enumerate(text.splitlines(), 1):
            if UNFINISHED.search(line):
                self.report(path, number, "an unfinished mark: finish it, or file an issue and say here what holds today")

    def check_header(self, path, text):
        block = []
        for line in text.splitlines():
            if not line.startswith("//"):
                break
            block.append(line)
        missing = [w for w in HEADER_WORDS if w not in "\n".join(block)]
        if missing:
            self.report(path, 1, f"the comment at the top lacks {', '.join(missing)}: a header is a contract (see storage/backend.hpp)")
        if "#pragma once" not in text:
            self.report(path, 1, "no #pragma once")

    def check_test(self, path, text):
        if path.endswith(".cpp"):
            cases, assertions = len(re.findall(r"\bTEST_CASE\s*\(", text)), len(ASSERTION.findall(text))
            if assertions == 0:
                self.report(path, 1, "a test without an assertion cannot fail: say what must hold with REQUIRE or CHECK")
            elif assertions < cases:
                self.report(path, 1, f"{cases} cases but {assertions} assertions: every case must be able to fail")
        elif not SCRIPT_ASSERTION.search(text):
            self.report(path, 1, "a test without an assertion cannot fail: use the expect_ functions of tests/integration/lib.sh, or assert")

    def check_length(self, path, text, marks):
        lines = text.count("\n")
        limit = marks.get(path, LINE_LIMIT)
        if lines > limit:
            self.report(path, lines, f"{lines} lines, at most {limit}: one idea a file, split it"
                        + ("" if path in marks else " (scripts/long_files.txt is for files that cannot be)"))

    def run(self):
        names = files_of(self.root)
        files = set(names)
        marks = {}
        marks_path = os.path.join(self.root, "scripts/long_files.txt")
        if os.path.exists(marks_path):
            with open(marks_path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    if not line.strip() or line.startswith("#"):
                        continue
                    name, mark = line.split()[:2]
                    marks[name] = int(mark)
                    if name not in files:
                        self.report("scripts/long_files.txt", number, f"{name} is gone: remove its line")
        for path in names:
            if not path.startswith("results/"):
                self.check_name(path)
            if not path.endswith((".cpp", ".hpp", ".py", ".sh", ".mjs", ".js")):
                continue
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
                text = f.read()
            self.check_length(path, text, marks)
            if path in marks and text.count("\n") <= LINE_LIMIT:
                self.report("scripts/long_files.txt", 1, f"{path} has become short enough: remove its line, so that it stays so")
            if path.endswith((".cpp", ".hpp")):
                self.check_includes(path, text, files)
                self.check_source(path, text)
                if path.endswith(".hpp") and not path.startswith("tests/"):
                    self.check_header(path, text)
            if path.startswith("tests/") and (re.search(r"_test\.\w+$", path) or re.fullmatch(r"tests/integration/(?!lib\.sh$)[\w/]+\.sh", path)):
                self.check_test(path, text)
        return self.broken


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    broken = Checker(root).run()
    for line in broken:
        print(line)
    print(f"check_style: {len(broken)} broken rules" if broken else "check_style: every rule holds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
