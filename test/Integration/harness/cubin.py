"""What a cubin, an ELF file, says of its kernels."""

import struct

# A section of code has its number of registers above its symbol. Of .nv.info, the entries of format 4 have a size and a
# value of that many bytes, others two bytes in place of the size; entry 0x11 is (symbol, bytes of stack).
REGISTERS_SHIFT = 24
SIZED, FRAME_SIZE = 4, 0x11
SECTION = struct.Struct("<IIQQQQIIQQ")


class Cubin:
    def __init__(self, data):
        self.data = data
        offset, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        raw = [SECTION.unpack_from(data, offset + i * size) for i in range(count)]
        self.sections = {self.text(raw[names], header[0]): header for header in raw}

    def bytes_of(self, header):
        return self.data[header[4]:header[4] + header[5]]

    def text(self, table, offset):
        strings = self.bytes_of(table)
        return strings[offset:strings.index(b"\0", offset)].decode()

    def stacks(self):
        """{name of a kernel: bytes of stack a thread}"""
        symbols, info = self.bytes_of(self.sections[".symtab"]), self.bytes_of(self.sections[".nv.info"])
        stacks, at = {}, 0
        while at < len(info):
            form, kind, size = struct.unpack_from("<BBH", info, at)
            if (form, kind) == (SIZED, FRAME_SIZE):
                symbol, stack = struct.unpack_from("<II", info, at + 4)
                stacks[self.text(self.sections[".strtab"], struct.unpack_from("<I", symbols, 24 * symbol)[0])] = stack
            at += 4 + (size if form == SIZED else 0)
        return stacks

    def kernels(self):
        """(name, registers, bytes of stack) of each kernel."""
        stacks = self.stacks()
        named = ((name.removeprefix(".text."), header) for name, header in self.sections.items()
                 if name.startswith(".text."))
        return [(name, header[7] >> REGISTERS_SHIFT, stacks[name]) for name, header in named]
