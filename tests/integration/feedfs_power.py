"""Replays a trace of a feedfs writer's system calls up to any point, as a loss of power may leave it, and checks the volume.

Usage: feedfs_power.py TRACE VOLUME WORK FEEDFS POINTS SEED [lie]

TRACE: of strace -f -y -xx over the hidden unit test ".power_writer" on VOLUME, which was copied to WORK/before just before.
Kept at a point: what fdatasync or fsync of its file covered, and writes to descriptors opened with O_DSYNC. Since then each write to a
file is kept, lost or torn into 512-byte sectors by itself; a file whose folder was not synced since it was made may be missing; a changed
length may be the old or the new one. `lie`: syncs count for nothing, which the check must notice. Then `feedfs fsck --repair`
and `feedfs export` are run, and the files compared with what the writer had done: everything up to its last "durable" must be there,
everything behind it as a prefix of its operations. LMDB's lock file lives in shared memory and is left out.
"""
import os, random, re, shutil, subprocess, sys

O_DSYNC = re.compile(r"O_D?SYNC")
CALL = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
HEX = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
SECTOR = 512


def unhex(text):
    return bytes.fromhex(text.replace("\\x", ""))


def calls(trace):
    """(name, arguments, result) in order; interrupted calls are joined."""
    unfinished = {}
    for line in open(trace, errors="replace"):
        if "<unfinished ...>" in line:
            pid, rest = line.split(" ", 1)
            unfinished[pid] = rest.strip().replace("<unfinished ...>", "")
            continue
        resumed = re.match(r"^(\d+) +<\.\.\. \w+ resumed>(.*)", line)
        if resumed and resumed.group(1) in unfinished:
            line = f"{resumed.group(1)} {unfinished.pop(resumed.group(1))}{resumed.group(2)}"
        match = CALL.match(line)
        if match and int(match.group(4)) >= 0:
            yield match.group(2), match.group(3), int(match.group(4))


def path_of(argument):
    """of "3<\\x2f...>" or of a quoted name"""
    match = re.match(r'^\d+<((?:\\x[0-9a-f]{2})*)>', argument) or HEX.search(argument)
    return unhex(match.group(1)).decode() if match else ""


def descriptor_of(argument):
    return int(re.match(r"^(\d+)", argument).group(1))


def journal(trace, volume, marks):
    """(kind, path, offset, data or size) of everything below the volume, and the marks."""
    dsync = {}
    position = {}
    entries = []
    for name, arguments, result in calls(trace):
        if name == "openat":
            path = unhex(HEX.search(arguments).group(1)).decode()
            dsync[result] = bool(O_DSYNC.search(arguments))
            position[result] = 0
            if path.startswith(volume) and "O_CREAT" in arguments and not path.endswith("lock.mdb"):
                entries.append(("create", path, 0, b""))
            continue
        if name == "unlink":
            path = path_of(arguments)
            if path.startswith(volume): entries.append(("unlink", path, 0, b""))
            continue
        if not arguments or not arguments[0].isdigit(): continue
        path = path_of(arguments)
        if path == marks and name == "write":
            entries.append(("mark", unhex(HEX.search(arguments).group(1)).decode().strip(), 0, b""))
        if not path.startswith(volume) or path.endswith("lock.mdb"): continue
        fd = descriptor_of(arguments)
        if name == "lseek":
            position[fd] = result
        elif name in ("pwrite64", "pwritev", "writev", "write"):
            data = b"".join(unhex(piece) for piece in HEX.findall(arguments))[:result]
            assert len(data) == result, f"{name} of {result} bytes, the trace shows {len(data)}"
            offset = int(arguments.rsplit(", ", 1)[1]) if name.startswith("p") else position[fd]
            if not name.startswith("p"): position[fd] = offset + result
            entries.append(("write", path, offset, data))
            if dsync.get(fd): entries.append(("sync_write", path, offset, data))
        elif name in ("fdatasync", "fsync"):
            entries.append(("sync", path, 0, b""))
        elif name == "ftruncate":
            entries.append(("length", path, int(arguments.rsplit(", ", 1)[1]), b""))
        elif name == "fallocate":
            entries.append(("reserve", path, sum(int(x) for x in arguments.split(", ")[-2:]), b""))
        elif name in ("msync", "sync_file_range", "renameat", "fsetxattr"):
            sys.exit(f"the trace holds {name}, of which this program knows nothing")
    return entries


class Disk:
    def __init__(self, before):
        self.files = {}
        for folder, _, names in os.walk(before):
            for name in names:
                if name != "lock.mdb":
                    with open(os.path.join(folder, name), "rb") as f: self.files[os.path.relpath(os.path.join(folder, name), before)] = bytearray(f.read())
        self.pending = {}
        self.unnamed = set()  # made, and their folder not synced since

    @staticmethod
    def put(data, entry, sectors=None):
        kind, _, offset, content = entry
        if kind in ("length", "reserve"):
            if kind == "length": del data[offset:]
            if len(data) < offset: data.extend(bytes(offset - len(data)))
            return
        if len(data) < offset: data.extend(bytes(offset - len(data)))
        for at in range(0, len(content), SECTOR) if sectors else [0]:
            piece = content[at:at + SECTOR] if sectors else content
            if sectors is None or sectors(at):
                if len(data) < offset + at: data.extend(bytes(offset + at - len(data)))
                data[offset + at:offset + at + len(piece)] = piece

    def step(self, entry, volume, lies):
        kind, path, offset, content = entry
        name = os.path.relpath(path, volume)
        if kind == "create":
            if name not in self.files:
                self.files[name] = bytearray()
                self.unnamed.add(name)
        elif kind in ("write", "length", "reserve"):
            self.pending.setdefault(name, []).append(entry)
        elif kind == "sync_write":
            if lies: return
            self.pending[name].remove(("write", path, offset, content))
            self.put(self.files[name], entry)
        elif kind == "sync" and not lies:
            for one in self.pending.pop(name, []): self.put(self.files[name], one)
            self.unnamed -= {n for n in self.unnamed if os.path.dirname(n) == name}

    def remains(self, rng):
        left = {}
        for name, data in self.files.items():
            if name in self.unnamed and rng.random() < 0.5: continue
            data = bytearray(data)
            entries = list(self.pending.get(name, []))
            mood = rng.randrange(4)
            if mood > 1: rng.shuffle(entries)
            for one in entries:
                fate = 0 if mood == 1 else 1 if mood == 0 else rng.randrange(3)
                if fate == 0: self.put(data, one)
                elif fate == 2 and one[0] == "write":
                    cut = rng.randrange(len(one[3]) + 1)
                    self.put(data, one, rng.choice([lambda at: at < cut, lambda at: at >= cut, lambda at: rng.random() < 0.5]))
            left[name] = data
        return left


def content(index):
    text = f"{index}\n"
    while len(text) < index * 7919 % 9000: text += f"{index * 31 + len(text)} "
    return text.encode()


def states(count):
    """of the files after 0, 1, 2, ... operations"""
    now = {}
    yield dict(now)
    for index in range(count):
        name = f"f{index * 13 % 29}"
        if index % 11 == 7: now.pop(name, None)
        else: now[name] = content(index)
        yield dict(now)


def main():
    trace, volume, work, feedfs, points, seed = sys.argv[1:7]
    lies = "lie" in sys.argv[7:]
    entries = journal(trace, volume, os.path.normpath(os.path.join(volume, "../marks")))
    operations = sum(1 for e in entries if e[0] == "mark" and e[1].startswith("begin"))
    expected = list(states(operations))
    rng = random.Random(int(seed))
    chosen = set(rng.sample(range(len(entries)), min(int(points), len(entries))))
    disk = Disk(os.path.join(work, "before"))
    begun = durable = looked = 0
    for index, entry in enumerate(entries):
        if entry[0] == "mark":
            word, number = entry[1].split()
            if word == "begin": begun = int(number) + 1
            if word == "durable": durable = int(number) + 1
        elif entry[0] != "unlink":
            disk.step(entry, volume, lies)
        if index not in chosen: continue
        place = os.path.join(work, "crashed")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(os.path.join(work, "before"), place, ignore=lambda _, names: [n for n in names if n == "lock.mdb"])
        for name in os.listdir(os.path.join(place, "data")): os.unlink(os.path.join(place, "data", name))
        for name, data in disk.remains(rng).items():
            with open(os.path.join(place, name), "wb") as f: f.write(data)
        wrong = None
        fsck = subprocess.run([feedfs, "fsck", place, "--repair", "--data"], capture_output=True, text=True)
        if fsck.returncode > 1: wrong = f"fsck: exit code {fsck.returncode}: {fsck.stdout[-600:]}{fsck.stderr[-600:]}"
        copy = os.path.join(work, "copy")
        shutil.rmtree(copy, ignore_errors=True)
        if not wrong:
            export = subprocess.run([feedfs, "export", place, copy, "--quiet"], capture_output=True, text=True)
            if export.returncode: wrong = f"export: exit code {export.returncode}: {export.stderr[-600:]}"
        if not wrong:
            found = {name: open(os.path.join(copy, name), "rb").read() for name in os.listdir(copy)}
            if not any(found == state for state in expected[durable:begun + 1]):
                nearest = min(expected[durable:begun + 1], key=lambda state: sum(state.get(n) != found.get(n) for n in state | found))
                differ = {n: (len(nearest[n]) if n in nearest else None, len(found[n]) if n in found else None) for n in nearest | found if nearest.get(n) != found.get(n)}
                wrong = f"the files are those of no state from {durable} to {begun} operations; bytes (expected, found) in the nearest: {differ}"
        looked += 1
        if wrong:
            print(f"point {index} of {len(entries)} ({entry[0]} {entry[1]}), {durable} operations durable, {begun} begun: {wrong}")
            sys.exit(1)
    print(f"{looked} points of {len(entries)} system calls, {operations} operations: nothing lost")
    if looked < 20: sys.exit("too few points: this shows nothing")


main()
