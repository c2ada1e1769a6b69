"""What a cubin, an ELF file, says of its kernels."""

import struct

# Of .nv.info, the entries of format 4 have a size and a value of that many bytes, others two bytes in place of the size.
# These are (symbol, number).
SIZED, FRAME_SIZE, REGISTERS = 4, 0x11, 0x2F
SECTION, SYMBOL_SIZE = struct.Struct("<IIQQQQIIQQ"), 24

# Of machine code an instruction has 16 bytes, its kind in the lowest 12 bits. lib/Target/SpillsInLoops.cpp reads the same.
INSTRUCTION, KIND, READ_SPILLED, WRITE_SPILLED, BRANCH = struct.Struct("<IiQ"), 0xFFF, 0x983, 0x387, 0x947
HOPPER = 90


def jumped(low, high, capability):
    """Bytes that a branch jumps, counted from the next instruction."""
    return high if capability < HOPPER else 4 * (256 * (high >> 2) + (low >> 16 & 0xFF))


def spills_in_loops(code, capability):
    """How many instructions between a branch and a target before it write or read spilled registers."""
    kinds, loops = [], []
    for at, (low, high, _) in enumerate(INSTRUCTION.iter_unpack(code)):
        kinds.append(low & KIND)
        target = at + 1 + jumped(low, high, capability) // INSTRUCTION.size
        if kinds[-1] == BRANCH and 0 <= target < at:
            loops.append(range(target, at + 1))
    return sum(kind in (READ_SPILLED, WRITE_SPILLED) and any(at in loop for loop in loops) for at, kind in enumerate(kinds))


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

    def kernels(self, capability):
        """(name, registers, bytes of stack, instructions that spill in loops) of each kernel; 90 is sm_90a."""
        registers, stacks = self.numbers(REGISTERS), self.numbers(FRAME_SIZE)
        codes = {name.removeprefix(".text."): self.bytes_of(header)
                 for name, header in self.sections.items() if name.startswith(".text.")}
        return [(name, registers[name], stacks[name], spills_in_loops(code, capability)) for name, code in codes.items()]
