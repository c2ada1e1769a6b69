"""The PTX images of a library, unpacked, and the bytes of all images for each of so many architectures."""
import lzma
import pathlib
import re
import struct
import sys
import zlib

SUM_BYTES = 4
data = pathlib.Path(sys.argv[1]).read_bytes()
architectures, total = int(sys.argv[2]), 0
# The properties, the size of the window, and that the length is not known.
for found in re.finditer(rb"\x5d.{4}\xff{8}", data, re.S):
    stream = lzma.LZMADecompressor(format=lzma.FORMAT_ALONE)
    try:
        image = stream.decompress(data[found.start():])
    except lzma.LZMAError:
        continue
    if not stream.eof or struct.unpack("<I", stream.unused_data[:SUM_BYTES])[0] != zlib.adler32(image):
        continue
    total += len(data) - found.start() - len(stream.unused_data) + SUM_BYTES
    for ptx in (text for text in image.split(b"\0") if b"\n.version " in text[:100]):
        print(*(re.search(pattern, ptx, re.M).group().decode() for pattern in (rb"^\.version \S+", rb"^\.target \w+")))
print(f"{'at most' if total <= 100_000 * architectures else 'MORE THAN'} 100 kB an architecture: {total // architectures} bytes")
