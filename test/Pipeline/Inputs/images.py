"""The PTX images of a library, unpacked, and the bytes of all images for each of them."""
import pathlib
import re
import sys
import zlib

data = pathlib.Path(sys.argv[1]).read_bytes()
count = total = position = 0
while (position := data.find(b"\x78\xda", position)) >= 0:
    stream = zlib.decompressobj()
    try:
        image = stream.decompress(data[position:])
    except zlib.error:
        image = b""
    if not stream.eof:
        position += 1
        continue
    packed = len(data) - position - len(stream.unused_data)
    total += packed
    position += packed
    if b".version" in image:
        count += 1
        print(*(re.search(pattern, image, re.M).group().decode() for pattern in (rb"^\.version \S+", rb"^\.target \w+")))
print(f"{'at most' if total <= 100_000 * count else 'MORE THAN'} 100 kB an architecture: {total // max(count, 1)} bytes")
