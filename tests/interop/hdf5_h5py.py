"""h5py reads our HDF5 files and steps.h5; we read files that h5py wrote. Usage: hdf5_h5py.py HDF5_FILES STEPS_MD FOLDER"""
import json
import os
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np

TOOL, STEPS_MD, FOLDER = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3]


def payload_of(array, chunks):
    """The bytes of a dataset in the order of payload offsets: chunks one after another, edges padded."""
    if not chunks:
        return array.tobytes()
    padding = [(0, -n % c) for n, c in zip(array.shape, chunks)]
    padded = np.pad(array, padding)
    split = []
    for n, c in zip(padded.shape, chunks):
        split += [n // c, c]
    rank = array.ndim
    order = [2 * i for i in range(rank)] + [2 * i + 1 for i in range(rank)]
    return padded.reshape(split).transpose(order).tobytes()


def content(first, count):
    offsets = np.arange(first, first + count, dtype=np.uint64)
    return (((offsets * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)) >> np.uint64(13)).astype(np.uint8)


def check_ours(name, shape, dtype="uint8", datasets=1, chunks=None, maxshape=None, compression=None):
    with h5py.File(f"{FOLDER}/{name}.hdf5", "r") as file:
        assert sorted(file) == sorted([f"records_{i}" for i in range(datasets)] + ["labels"]), sorted(file)
        labels = file["labels"]
        assert labels.shape == (shape[0],) and labels.dtype == np.int64 and not labels[:].any()
        begin = 0
        for i in range(datasets):
            data = file[f"records_{i}"]
            assert data.shape == shape and data.dtype == np.dtype(dtype), (name, data)
            assert data.chunks == chunks and data.compression == compression, (name, data.chunks, data.compression)
            assert data.maxshape == (maxshape or shape), (name, data.maxshape)
            expected = content(begin, len(payload_of(data[:], chunks)))
            begin += len(expected)
            # Padding is no part of the array: compare where the array's own bytes lie.
            mask = np.frombuffer(payload_of(np.full(shape, -1).astype(dtype), chunks), dtype=np.uint8) != 0
            got = np.frombuffer(payload_of(data[:], chunks), dtype=np.uint8)
            assert np.array_equal(got[mask], expected[mask]), f"{name}: records_{i} has other content"


def check_theirs():
    random = np.random.default_rng(1)
    cases = []
    for version in ("earliest", "latest"):
        for name, keys in {
            "contiguous": {},
            "chunked": {"chunks": (2, 50, 40)},
            "unlimited": {"chunks": (1, 50, 40), "maxshape": (None, 120, 75)},
            "unlimited_all": {"chunks": (1, 50, 40), "maxshape": (None, None, None)},
            "many_chunks": {"chunks": (1, 5, 5)},
            "gzip": {"chunks": (1, 50, 40), "compression": "gzip"},
            "guessed": {"chunks": True},
        }.items():
            path = f"{FOLDER}/theirs_{version}_{name}.hdf5"
            arrays = [random.integers(1, 255, (4, 120, 75), dtype=np.uint8) for _ in range(2)]
            with h5py.File(path, "w", libver=version) as file:
                for i, array in enumerate(arrays):
                    chunks = file.create_dataset(f"records_{i}", data=array, **keys).chunks
                file.create_dataset("labels", data=[0] * 4)
            cases.append((path, arrays, chunks))
    path = f"{FOLDER}/theirs_old_name.hdf5"  # older versions of the reference generator
    array = random.integers(1, 255, (3, 20, 30), dtype=np.uint8)
    with h5py.File(path, "w") as file:
        file.create_dataset("records", data=array)
    cases.append((path, [array], None))
    path = f"{FOLDER}/theirs_user_block.hdf5"  # addresses in the file do not count from its first byte
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("records_0", data=array)
        file.create_dataset("labels", data=[0] * 3)
    cases.append((path, [array], None))
    answers = subprocess.run([TOOL, "read"] + [case[0] for case in cases], check=True, capture_output=True, text=True)
    lines = answers.stdout.splitlines()
    assert len(lines) == len(cases), answers.stderr
    for (path, arrays, chunks), line in zip(cases, lines):
        said = json.loads(line)
        assert said == {"dims": list(arrays[0].shape[1:]), "sample_count": arrays[0].shape[0], "element_bytes": 1,
                        "datasets": len(arrays), "chunk_dims": list(chunks or [])}, (path, said)
        with open(path + ".payload", "rb") as file:
            got = np.frombuffer(file.read(), dtype=np.uint8)
        expected = np.frombuffer(b"".join(payload_of(a, chunks) for a in arrays), dtype=np.uint8)
        assert got.shape == expected.shape, (path, got.shape, expected.shape)
        # Values are 1..254, so 0 marks padding, whose bytes in the file are the library's business.
        assert np.array_equal(got[expected != 0], expected[expected != 0]), f"{path}: other content"


def check_refused():
    for name, keys in {"lzf": {"chunks": (1, 20, 30), "compression": "lzf"}, "shuffle": {"shuffle": True},
                       "float": {"dtype": "f4"}, "signed": {"dtype": "i1"}}.items():
        path = f"{FOLDER}/refused_{name}.hdf5"
        with h5py.File(path, "w") as file:
            file.create_dataset("records_0", data=np.ones((3, 20, 30), dtype=keys.pop("dtype", "u1")), **keys)
        run = subprocess.run([TOOL, "read", path], capture_output=True, text=True)
        assert run.returncode == 1 and path in run.stderr, (name, run)


def check_steps():
    with h5py.File(f"{FOLDER}/steps.h5", "r") as file:
        assert file.attrs["schema_version"] == 1
        assert file.attrs["time_origin_unix_ns"] == 1767265200 * 10**9
        run_id = file.attrs["run_id"]
        assert (run_id.decode() if isinstance(run_id, bytes) else run_id) == "20260101_120000"
        steps = file["steps"][:]
        assert steps.shape == (10000,) and steps.dtype.itemsize == 80
        i = np.arange(10000, dtype=np.uint64)
        assert np.array_equal(steps["think_end_ns"], i * 1000000 + 501000)
        assert np.array_equal(steps["accelerator_index"], i % 8)
        assert np.array_equal(steps["epoch_index"], i // 4000)
        assert np.array_equal(steps["bytes_delivered"], i * 146600628)
        documented = open(STEPS_MD, encoding="utf-8").read()
        for field in steps.dtype.names:
            assert f"`{field}`" in documented, f"docs/steps.md does not mention {field}"
    example = re.search(r"```python\n(.*?)```", documented, re.S).group(1)
    run = subprocess.run([sys.executable, "-c", example], cwd=FOLDER, check=True, capture_output=True, text=True)
    assert "accelerator 0: 1250 steps" in run.stdout, run.stdout


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
subprocess.run([TOOL, "write", FOLDER], check=True)
check_ours("contiguous", (1, 120, 75))
check_ours("samples", (9, 120, 75))
check_ours("datasets", (3, 120, 75), datasets=5)
check_ours("wide", (2, 120, 75), dtype="uint32")
check_ours("chunked", (4, 120, 75), chunks=(2, 50, 40))
check_ours("unlimited", (4, 120, 75), chunks=(1, 50, 40), maxshape=(None, 120, 75))
check_ours("unlimited_all", (4, 120, 75), chunks=(1, 50, 40), maxshape=(None, None, None))
check_ours("gzip", (4, 120, 75), chunks=(1, 50, 40), compression="gzip")
with h5py.File(f"{FOLDER}/guess.hdf5", "w") as scratch:  # what h5py itself chooses
    guess = scratch.create_dataset("x", (40, 120, 75), dtype="u1", compression="gzip").chunks
check_ours("gzip_guessed", (40, 120, 75), chunks=guess, compression="gzip")
check_theirs()
check_refused()
check_steps()
print("h5py reads our files, and we read its")
