"""PIL reads our png and jpeg, and we read what PIL writes. Usage: formats_images.py INTEROP_FORMAT_FILES FOLDER"""
import io
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np
import PIL
from PIL import Image

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
        sys.exit(f"formats_images: {what}")


def write(fmt, name, dims):
    text = subprocess.run([tool, "write", fmt, path(name), ",".join(map(str, dims)), "1"], check=True, capture_output=True, text=True).stdout
    return int(text)


def read(fmt, name):
    done = subprocess.run([tool, "read", fmt, path(name), "1"], capture_output=True, text=True)
    if done.returncode != 0:
        return done.returncode, done.stderr.strip()
    rows = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    rows["dims"] = tuple(map(int, rows["dims"].split()))
    return 0, {k: v if k == "dims" else int(v) for k, v in rows.items()}


rng = np.random.default_rng(3)
for dims in [(1, 1), (8, 8), (2, 70000), (338, 338), (700, 500), (1000, 1)]:
    # Ours, decoded by PIL: png gives the payload back.
    payload_crc = write("png", "ours.png", dims)
    with Image.open(path("ours.png")) as image:
        image.load()  # PIL compares the chunks' checksums and the zlib stream's
        pixels = np.asarray(image)
    check(image.mode == "L" and pixels.shape == dims and pixels.dtype == np.uint8, f"png {dims}: {image.mode} {pixels.shape}")
    check(zlib.crc32(pixels.tobytes()) == payload_crc, f"png {dims}: payload")
    # PIL's png of the same pixels: as large as ours within a hundredth (its stored blocks are shorter), and read by us.
    Image.fromarray(pixels).save(path("theirs.png"), format="PNG", bits=8)
    if pixels.size > 10000:
        ours, theirs = os.path.getsize(path("ours.png")), os.path.getsize(path("theirs.png"))
        check(abs(ours - theirs) < theirs / 100, f"png {dims}: {ours} bytes, PIL's has {theirs}")
    # The tool shows pixels, which are comparable only where PIL chose no filter: read without them.
    code, found = read("png_framing", "theirs.png")
    check(code == 0 and found["dims"] == dims and found["samples"] == found["stream_samples"] == 1, f"PIL's png {dims}: {code} {found}")
    # jpeg: the very bytes that PIL makes of these pixels.
    if max(dims) <= 65500:
        check(write("jpeg", "ours.jpeg", dims) == payload_crc, f"jpeg {dims}: payload")
        made = io.BytesIO()
        Image.fromarray(pixels).save(made, format="JPEG", bits=8)
        with open(path("ours.jpeg"), "rb") as file:
            check(file.read() == made.getvalue(), f"jpeg {dims}: not the bytes that PIL writes")
        with Image.open(path("ours.jpeg")) as image:
            check(image.mode == "L" and np.asarray(image).shape == dims, f"jpeg {dims}: {image.mode} {image.size}")
        code, found = read("jpeg", "ours.jpeg")
        check(code == 0 and found["dims"] == dims and found["stream_samples"] == 1, f"jpeg {dims}: {code} {found}")

# PIL's, in other colours and ways.
grey = rng.integers(0, 255, size=(90, 110), dtype=np.uint8)
colours = rng.integers(0, 255, size=(90, 110, 3), dtype=np.uint8)
for name, fmt, image, options, dims in [
        ("rgb.png", "png", Image.fromarray(colours), {}, ()),
        ("bits.png", "png", Image.fromarray(grey > 100), {}, ()),
        ("palette.png", "png", Image.fromarray(colours).convert("P"), {}, ()),
        ("deep.png", "png", Image.fromarray((grey.astype(np.int32) * 256)), {}, ()),
        ("flat.png", "png", Image.fromarray(np.zeros_like(grey)), {"optimize": True}, (90, 110)),
        ("rgb.jpeg", "jpeg", Image.fromarray(colours), {"quality": 95}, ()),
        ("progressive.jpeg", "jpeg", Image.fromarray(colours), {"progressive": True, "optimize": True}, ()),
        ("grey.jpeg", "jpeg", Image.fromarray(grey), {"quality": 10, "comment": b"\xff\xd9"}, (90, 110))]:
    image.save(path(name), **options)
    code, found = read(f"{fmt}_framing", name)
    check(code == 0 and found["dims"] == dims and found["samples"] == found["stream_samples"] == 1, f"{name}: {code} {found}")
    with open(path(name), "rb") as file:
        whole = file.read()
    for size in (len(whole) // 2, len(whole) - 1):
        with open(path(f"cut.{fmt}"), "wb") as file:
            file.write(whole[:size])
        code, text = read(f"{fmt}_framing", f"cut.{fmt}")
        check(code == 3 and f"cut.{fmt}" in text and "\n" not in text, f"{name} cut to {size} bytes: exit {code}, {text}")

shutil.rmtree(folder)
print(f"formats_images: {count} checks with PIL {PIL.__version__}")
