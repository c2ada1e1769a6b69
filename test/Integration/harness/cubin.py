"""What a cubin, an ELF file, says of its kernels."""

import struct

# Of .nv.info, the entries of format 4 have a size and a value of that many bytes, others two bytes in place of the size.
# These are (symbol, number).
SIZED, FRAME_SIZE, REGISTERS = 4, 0x11, 0x2F
SECTION, SYMBOL_SIZE = struct.Struct("<IIQQQQIIQQ"), 24


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

    def name_of(self, symbol):
        symbols = self.bytes_of(self.sections[".symtab"])
        return self.text(self.sections[".strtab"], struct.unpack_from("<I", symbols, SYMBOL_SIZE * symbol)[0])

    def numbers(self, wanted):
        """{kernel: number} of the entries of one kind."""
        info = self.bytes_of(self.sections[".nv.info"])
        numbers, at = {}, 0
        while at < len(info):
            form, kind, size = struct.unpack_from("<BBH", info, at)
            if (form, kind) == (SIZED, wanted):
                symbol, number = struct.unpack_from("<II", info, at + 4)
                numbers[self.name_of(symbol)] = number
            at += 4 + (size if form == SIZED else 0)
        return numbers

    def kernels(self):
        """(name, registers, bytes of stack) of each kernel."""
        registers, stacks = self.numbers(REGISTERS), self.numbers(FRAME_SIZE)
        names = (name.removeprefix(".text.") for name in self.sections if name.startswith(".text."))
        return [(name, registers[name], stacks[name]) for name in names]
