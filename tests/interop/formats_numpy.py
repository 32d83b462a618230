"""numpy reads our npz, npy, indexed_binary and csv, and we read what numpy writes. Usage: formats_numpy.py INTEROP_FORMAT_FILES FOLDER"""
import csv
import os
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np

tool, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
count = 0


def path(name):
    return os.path.join(folder, name)


def check(condition, what):
    global count
    count += 1
    if not condition:
        sys.exit(f"formats_numpy: {what}")


def write(fmt, name, dims, samples, *more):
    text = subprocess.run([tool, "write", fmt, path(name), ",".join(map(str, dims)), str(samples), *map(str, more)],
                          check=True, capture_output=True, text=True).stdout
    return int(text)


def read(fmt, name, samples):
    done = subprocess.run([tool, "read", fmt, path(name), str(samples)], capture_output=True, text=True)
    if done.returncode != 0:
        return done.returncode, done.stderr.strip()
    rows = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    rows["dims"] = tuple(map(int, rows["dims"].split()))
    return 0, {k: v if k == "dims" else int(v) for k, v in rows.items()}


def crc(array):
    return zlib.crc32(array.tobytes(order="A"))


# Ours, read by numpy. dims, samples, element bytes
for dims, samples, element in [((3, 5), 1, 1), ((1732, 1816), 1, 1), ((64, 48), 7, 1), ((16, 3, 5), 2, 4), ((10, 10), 5000, 2), ((7,), 3, 8)]:
    dtype = np.dtype(f"u{element}")
    what = f"{dims} x {samples} of {dtype}"
    for zip_word in ([], ["zip"]):
        payload_crc = write("npz", "ours.npz", dims, samples, element, *zip_word)
        with np.load(path("ours.npz")) as file:
            check(sorted(file.files) == ["x", "y"], f"{what}: members {file.files}")
            x, y = file["x"], file["y"]  # zipfile checks the CRCs
        check(x.shape == (*dims, samples) and x.dtype == dtype and x.flags.c_contiguous, f"{what}: x is {x.shape} {x.dtype}")
        check(y.shape == (samples,) and y.dtype == np.int64 and not y.any(), f"{what}: y is {y.shape} {y.dtype}")
        check(crc(x) == payload_crc, f"{what}: payload of npz")
        with zipfile.ZipFile(path("ours.npz")) as archive:
            check(archive.testzip() is None, f"{what}: archive")
            check(all(i.compress_type == (8 if zip_word else 0) for i in archive.infolist()), f"{what}: method")
        # The same arrays written by numpy give the same file, byte for byte.
        (np.savez_compressed if zip_word else np.savez)(path("theirs.npz"), x=x, y=y)
        with open(path("ours.npz"), "rb") as a, open(path("theirs.npz"), "rb") as b:
            ours, theirs = a.read(), b.read()
            check(len(ours) == len(theirs) if not zip_word else True, f"{what}: {len(ours)} bytes, numpy writes {len(theirs)}")
            check(ours == theirs if not zip_word else True, f"{what}: not the bytes that numpy writes")
    payload_crc = write("npy", "ours.npy", dims, samples, element)
    x = np.load(path("ours.npy"))
    check(x.shape == (*dims, samples) and x.dtype == dtype and crc(x) == payload_crc, f"{what}: npy")
    np.save(path("theirs.npy"), x)
    with open(path("ours.npy"), "rb") as a, open(path("theirs.npy"), "rb") as b:
        check(a.read() == b.read(), f"{what}: npy bytes differ from numpy's")

# numpy's, read by us.
rng = np.random.default_rng(3)
for dims, samples, dtype in [((200, 300), 4, "u1"), ((50, 60, 3), 2, "f4"), ((1000,), 3, "i2"), ((40, 41), 5, "f8"), ((30, 31), 9, ">i4")]:
    dtype = np.dtype(dtype)
    x = np.frombuffer(rng.bytes(int(np.prod(dims)) * samples * dtype.itemsize), dtype=dtype).reshape(*dims, samples)
    labels = np.zeros(samples, dtype=np.int64)
    what = f"numpy's {dims} x {samples} of {dtype}"
    expected = {"dims": dims, "samples": samples, "element_bytes": dtype.itemsize, "crc": crc(x), "stream_samples": samples, "stream_crc": crc(x)}
    np.savez(path("their.npz"), x=x, y=labels)
    check(read("npz", "their.npz", 1) == (0, expected), f"{what}: npz gives {read('npz', 'their.npz', 1)}")
    np.savez(path("their.npz"), y=labels, meta=np.arange(3000), x=x)  # x last, behind others
    check(read("npz", "their.npz", 1) == (0, expected), f"{what}: npz, x last, gives {read('npz', 'their.npz', 1)}")
    np.savez(path("their.npz"), x=x, y=labels, **{f"extra_{i}": labels for i in range(60)})  # a directory longer than the tail
    check(read("npz", "their.npz", 1) == (0, expected), f"{what}: npz of 62 arrays gives {read('npz', 'their.npz', 1)}")
    np.savez_compressed(path("their.npz"), x=x, y=labels)
    check(read("npz", "their.npz", 1) == (0, expected), f"{what}: savez_compressed gives {read('npz', 'their.npz', 1)}")
    np.save(path("their.npy"), x)
    check(read("npy", "their.npy", samples) == (0, expected), f"{what}: npy gives {read('npy', 'their.npy', samples)}")
    # Fortran order: the same reads; the payload is the array's bytes as the file has them.
    fortran = np.asfortranarray(x)
    np.save(path("their.npy"), fortran)
    expected_f = expected | {"crc": crc(fortran), "stream_crc": crc(fortran)}
    check(read("npy", "their.npy", samples) == (0, expected_f), f"{what}: Fortran order gives {read('npy', 'their.npy', samples)}")

# indexed_binary, as the reference's reader takes it: both indexes, then a range a sample; and as its generator writes it.
for dims, samples in [((7,), 1), ((64, 48), 7), ((100,), 1000)]:
    what = f"indexed_binary {dims} x {samples}"
    payload_crc = write("indexed_binary", "ours.bin", dims, samples)
    data = np.fromfile(path("ours.bin"), dtype=np.uint8)
    offsets, sizes = (np.fromfile(path(f"ours.bin.{which}.idx"), dtype=np.int64) for which in ("off", "sz"))
    check(len(offsets) == len(sizes) == samples, f"{what}: {len(offsets)} offsets, {len(sizes)} sizes")
    taken = b"".join(data[o:o + s].tobytes() for o, s in zip(offsets, sizes))
    check(zlib.crc32(taken) == payload_crc and len(taken) == len(data), f"{what}: payload")
    with open(path("their.bin"), "wb") as file, open(path("their.bin.off.idx"), "wb") as off, open(path("their.bin.sz.idx"), "wb") as sz:
        size = int(np.prod(dims))
        records = rng.integers(255, size=size * samples, dtype=np.uint8)
        file.write(struct.pack("B" * len(records), *records))
        off.write(struct.pack("Q" * samples, *range(0, size * samples, size)))
        sz.write(struct.pack("Q" * samples, *([size] * samples)))
    expected = {"dims": (size,), "samples": samples, "element_bytes": 1, "crc": crc(records), "stream_samples": samples, "stream_crc": crc(records)}
    check(read("indexed_binary", "their.bin", 1) == (0, expected), f"{what}: theirs gives {read('indexed_binary', 'their.bin', 1)}")
    with open(path("their.bin.off.idx"), "wb") as off:  # where it writes a file in rounds, the reference begins again at 0
        off.write(struct.pack("Q" * samples, *([0] * samples)))
    code, found = read("indexed_binary_framing", "their.bin", 1)
    check(code == 0 and found["samples"] == found["stream_samples"] == samples, f"{what}: overlapping samples give {code} {found}")

# csv: Python's own reader and numpy's; and a table as pandas writes it (a name for each column but the first).
for dims, samples in [((1,), 1), ((12,), 3), ((40, 50), 11)]:
    what = f"csv {dims} x {samples}"
    payload_crc = write("csv", "ours.csv", dims, samples)
    values = int(np.prod(dims))
    with open(path("ours.csv"), newline="") as file:
        names, *rows = csv.reader(file)
    check(names == [""] + [str(i) for i in range(values)], f"{what}: names")
    check([int(row[0]) for row in rows] == list(range(samples)), f"{what}: numbers of rows")
    check(zlib.crc32(bytes(int(v) for row in rows for v in row[1:])) == payload_crc, f"{what}: payload")
    table = np.loadtxt(path("ours.csv"), delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)
    check(table.shape == (samples, values + 1) and crc(table[:, 1:].astype(np.uint8, order="C")) == payload_crc, f"{what}: numpy's payload")
    records = rng.integers(255, size=(samples, values), dtype=np.uint8)
    with open(path("their.csv"), "w") as file:
        file.write("," + ",".join(map(str, range(values))) + "\n")
        file.writelines(f"{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(records))
    code, found = read("csv", "their.csv", 1)
    check(code == 0 and found["samples"] == found["stream_samples"] == samples and found["crc"] == found["stream_crc"] == crc(records), f"{what}: theirs gives {code} {found}")

# What we do not read is refused in words.
for name, array, words in [("object", np.array([{"a": 1}, None]), "number type"), ("struct", np.zeros(3, dtype=[("a", "i4"), ("b", "f8")]), "structured")]:
    np.savez(path("bad.npz"), x=array)
    code, text = read("npz", "bad.npz", 1)
    check(code == 3 and words in text, f"{name} array: exit {code}, {text}")
np.savez(path("bad.npz"), images=np.zeros((4, 4)))
code, text = read("npz", "bad.npz", 1)
check(code == 3 and "no array 'x'" in text, f"npz without x: exit {code}, {text}")

shutil.rmtree(folder)
print(f"formats_numpy: {count} checks with numpy {np.__version__}")
