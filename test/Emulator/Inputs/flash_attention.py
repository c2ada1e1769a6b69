"""Prints a hand-made flash-attention kernel at the nvgpu level, correct or with one planted fault.

One head, d = 64, f16. A block of four warps takes 64 queries, 16 a warp; the keys come in tiles of 64 through two
stages of cp.async. The scores stay in registers: the accumulator fragment of Q K^T is the A fragment of P V.

    for each tile of keys:
        wait for its K and V; barrier; start the copies of the next tile into the other stage
        S = Q K^T                                   [16, 64] a warp, in mma fragments
        m' = max(m, row max S);  P = 2^(scale (S - m'));  r = 2^(scale (m - m'))
        l = r l + row sum P;  O = r O + P V
    O / l
"""

import argparse

TILE, D, STAGES, THREADS = 64, 64, 2, 128
CHUNK = 8  # elements of a 16-byte copy, and of a row of an 8x8 matrix
FAULTS = ("no-barrier", "no-wait", "no-swizzle", "no-alignment", "short-tile", "divergent-shuffle", "early-exit",
          "wrong-lane", "unfinished-copy")

QUERY_TILE = f"memref<{TILE}x{D}xf16, #gpu.address_space<workgroup>>"
C_TYPE = "vector<2x2xf32>"
A_TYPE = "vector<4x2xf16>"
MATH = "fastmath<nnan,nsz,contract>"


class Emitter:
    """Appends operations and names their results; constants are collected for the kernel's head."""

    def __init__(self):
        self.lines, self.constants, self.count = [], {}, 0

    def do(self, text):
        self.lines.append("    " + text)

    def op(self, text):
        self.count += 1
        self.do(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def const(self, value):
        self.constants[value] = f"%c{value}"
        return f"%c{value}"

    def index(self, name, a, b):
        b = self.const(b) if isinstance(b, int) else b
        return self.op(f"arith.{name} {a}, {b} : index")

    def plus(self, a, constant):
        return self.index("addi", a, constant) if constant else a

    def float(self, name, a, b):
        return self.op(f"arith.{name} {a}, {b} {MATH} : f32")

    def exp2(self, a):
        return self.op(f'llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"({a}) : (f32) -> f32')

    def shuffle(self, a, distance):
        self.count += 1
        self.do(f"%v{self.count}, %v{self.count}p = gpu.shuffle xor {a}, %i{distance}, %i32 : f32")
        return f"%v{self.count}"

    def mma(self, a, b, c):
        return self.op(f"nvgpu.mma.sync({a}, {b}, {c}) {{mmaShape = [16, 8, 16]}} "
                       f": ({A_TYPE}, vector<2x2xf16>, {C_TYPE}) -> {C_TYPE}")


class Kernel:
    def __init__(self, keys, fault):
        self.e, self.keys, self.fault = Emitter(), keys, fault
        self.rows = TILE - 1 if fault == "short-tile" else TILE  # of a stage in shared memory
        self.stages = f"memref<{STAGES}x{self.rows}x{D}xf16, #gpu.address_space<workgroup>>"
        self.matrix = f"memref<{keys}x{D}xf16>"

    def chunk(self, chunk, row):
        """The column of a 16-byte chunk: XOR with the row spreads a column of chunks over all banks."""
        if self.fault != "no-swizzle":
            chunk = self.e.index("xori", chunk, self.e.index("remui", row, 8))
        return self.e.index("muli", chunk, CHUNK)

    def copy_tile(self, target, target_type, stage, source, first_row):
        e, tokens = self.e, []
        for part in range(TILE * D // CHUNK // THREADS):
            number = e.plus("%tid", THREADS * part)
            row, chunk = e.index("divui", number, CHUNK), e.index("remui", number, CHUNK)
            place = ", ".join(([stage] if stage else []) + [row, self.chunk(chunk, row)])
            tokens.append(e.op(f"nvgpu.device_async_copy {source}[{e.index('addi', first_row, row)}, "
                               f"{e.index('muli', chunk, CHUNK)}], {target}[{place}], {CHUNK} {{bypassL1}} "
                               f": {self.matrix} to {target_type}"))
        return tokens

    def commit(self, tokens):
        return self.e.op(f"nvgpu.device_async_create_group {', '.join(tokens)}")

    def fragment(self, source, source_type, stage, row, chunk, transpose=False):
        place = ", ".join(([stage] if stage else []) + [row, self.chunk(chunk, row)])
        return self.e.op(f"nvgpu.ldmatrix {source}[{place}] {{numTiles = 4 : i32, "
                         f"transpose = {str(transpose).lower()}}} : {source_type} -> {A_TYPE}")

    def half(self, fragment, offset):
        return self.e.op(f"vector.extract_strided_slice {fragment} {{offsets = [{offset}, 0], sizes = [2, 2], "
                         f"strides = [1, 1]}} : {A_TYPE} to vector<2x2xf16>")

    def lanes(self):
        e = self.e
        e.do("%tid = gpu.thread_id x")
        e.do("%block = gpu.block_id x")
        self.first_query = e.index("muli", "%block", TILE)
        self.lane = e.index("remui", "%tid", 32)
        self.warp_row = e.index("muli", e.index("divui", "%tid", 32), 16)
        self.low3, self.low4 = e.index("remui", self.lane, 8), e.index("remui", self.lane, 16)
        self.bit3 = e.index("remui", e.index("divui", self.lane, 8), 2)
        self.bit4 = e.index("divui", self.lane, 16)

    def scores(self, stage):
        """S = Q K^T: eight accumulators of [16, 8]; one ldmatrix gives K for 16 keys and 16 features."""
        e = self.e
        query_row = e.index("addi", self.warp_row, self.low4)
        queries = [self.fragment("%sq", QUERY_TILE, None, query_row, e.plus(self.bit4, 2 * k)) for k in range(4)]
        key_row = e.index("addi", self.low3, e.index("muli", self.bit4, 8))
        scores = ["%zero"] * 8
        for n in range(4):
            for k in range(4):
                keys = self.fragment("%sk", self.stages, stage, e.plus(key_row, 16 * n), e.plus(self.bit3, 2 * k))
                for side in range(2):
                    scores[2 * n + side] = e.mma(queries[k], self.half(keys, 2 * side), scores[2 * n + side])
        return [[[e.op(f"vector.extract {s}[{r}, {c}] : f32 from {C_TYPE}") for c in range(2)] for r in range(2)]
                for s in scores]

    def across_quad(self, name, value):
        """Combines the four lanes that share a row."""
        for distance in (1, 2):
            if self.fault == "divergent-shuffle" and name == "addf" and distance == 2:
                return self.shuffle_in_branch(value)
            if self.fault == "wrong-lane" and name == "maxnumf" and distance == 2:
                distance = 4
            value = self.e.float(name, value, self.e.shuffle(value, distance))
        return value

    def shuffle_in_branch(self, value):
        e = self.e
        low = e.op(f"arith.cmpi ult, {self.lane}, {e.const(16)} : index")
        e.count += 1
        name = f"%v{e.count}"
        e.do(f"{name} = scf.if {low} -> (f32) {{")
        e.do(f"scf.yield {e.shuffle(value, 2)} : f32")
        e.do(f"}} else {{ scf.yield {value} : f32 }}")
        return e.float("addf", value, name)

    def softmax(self, row, scores):
        """The new maximum, the correction of the old, the sum, and P of one of a lane's two rows."""
        e, entries = self.e, [s[row][c] for s in scores for c in range(2)]
        maximum = entries[0]
        for entry in entries[1:]:
            maximum = e.float("maxnumf", maximum, entry)
        maximum = e.float("maxnumf", self.across_quad("maxnumf", maximum), f"%m{row}")
        shift = e.float("mulf", maximum, "%scale")
        correction = e.exp2(e.float("subf", e.float("mulf", f"%m{row}", "%scale"), shift))
        weights = [e.exp2(e.float("subf", e.float("mulf", entry, "%scale"), shift)) for entry in entries]
        total = weights[0]
        for weight in weights[1:]:
            total = e.float("addf", total, weight)
        total = e.float("addf", e.float("mulf", f"%l{row}", correction), total)
        return maximum, correction, total, weights

    def weights_as_operand(self, weights):
        """Four A fragments of P: accumulators 2k and 2k + 1 are the columns of fragment k."""
        e, fragments = self.e, []
        for k in range(4):
            fragment = "%zeroA"
            for position, (tile, row) in enumerate([(2 * k, 0), (2 * k, 1), (2 * k + 1, 0), (2 * k + 1, 1)]):
                pair = e.op(f"vector.from_elements {weights[row][2 * tile]}, {weights[row][2 * tile + 1]} : vector<2xf32>")
                pair = e.op(f"arith.truncf {pair} : vector<2xf32> to vector<2xf16>")
                fragment = e.op(f"vector.insert {pair}, {fragment}[{position}] : vector<2xf16> into {A_TYPE}")
            fragments.append(fragment)
        return fragments

    def accumulate(self, stage, corrections, weights):
        e, output = self.e, []
        for n in range(8):
            factor = e.op(f"vector.from_elements {corrections[0]}, {corrections[0]}, {corrections[1]}, "
                          f"{corrections[1]} : {C_TYPE}")
            output.append(e.op(f"arith.mulf %o{n}, {factor} {MATH} : {C_TYPE}"))
        for k in range(4):
            row = e.plus(self.low4, 16 * k)
            for n in range(4):
                values = self.fragment("%sv", self.stages, stage, row, e.plus(self.bit4, 2 * n), transpose=True)
                for side in range(2):
                    output[2 * n + side] = e.mma(weights[k], self.half(values, 2 * side), output[2 * n + side])
        return output

    def tile(self):
        e = self.e
        if self.fault != "no-wait":
            e.do("nvgpu.device_async_wait %group {numGroups = 0 : i32}")
        if self.fault == "early-exit":
            e.do(f"scf.if {e.op(f'arith.cmpi ult, %tid, {e.const(96)} : index')} {{ gpu.barrier }}")
        elif self.fault != "no-barrier":
            e.do("gpu.barrier")
        stage = e.index("remui", e.index("divui", "%key", TILE), STAGES)
        free = e.op(f"arith.subi {e.const(1)}, {stage} : index")
        following = e.plus("%key", TILE)
        limit = e.const(self.keys + (TILE if self.fault == "unfinished-copy" else 0))
        e.do(f"scf.if {e.op(f'arith.cmpi ult, {following}, {limit} : index')} {{")
        source_row = following
        if self.fault == "unfinished-copy":  # the last iteration fetches a tile that nobody waits for
            source_row = e.index("remui", following, self.keys)
        self.commit(self.copy_tile("%sk", self.stages, free, "%K", source_row) +
                    self.copy_tile("%sv", self.stages, free, "%V", source_row))
        e.do("}")
        scores = self.scores(stage)
        rows = [self.softmax(row, scores) for row in range(2)]
        output = self.accumulate(stage, [r[1] for r in rows], self.weights_as_operand([r[3] for r in rows]))
        return [r[0] for r in rows] + [r[2] for r in rows] + output

    def store(self):
        e = self.e
        group, quad = e.index("divui", self.lane, 4), e.index("remui", self.lane, 4)
        inverse = [e.float("divf", "%one", self.across_quad("addf", f"%r#{2 + row}")) for row in range(2)]
        first = e.index("addi", e.index("addi", self.first_query, self.warp_row), group)
        for row in range(2):
            for n in range(8):
                pair = e.op(f"vector.extract %r#{4 + n}[{row}] : vector<2xf32> from {C_TYPE}")
                factor = e.op(f"vector.broadcast {inverse[row]} : f32 to vector<2xf32>")
                pair = e.op(f"arith.truncf {e.op(f'arith.mulf {pair}, {factor} : vector<2xf32>')} "
                            ": vector<2xf32> to vector<2xf16>")
                column = e.plus(e.index("muli", quad, 2), 8 * n)
                e.do(f"vector.store {pair}, %O[{e.plus(first, 8 * row)}, {column}] : {self.matrix}, vector<2xf16>")

    def body(self):
        e = self.e
        self.lanes()
        e.do(f"%group = {self.prologue()}")
        names = ["m0", "m1", "l0", "l1"] + [f"o{n}" for n in range(8)]
        starts = ["%lowest"] * 2 + ["%nothing"] * 2 + ["%zero"] * 8
        types = ", ".join(["f32"] * 4 + [C_TYPE] * 8)
        carried = ", ".join(f"%{name} = {start}" for name, start in zip(names, starts))
        e.do(f"%r:12 = scf.for %key = {e.const(0)} to {e.const(self.keys)} step {e.const(TILE)} "
             f"iter_args({carried}) -> ({types}) {{")
        e.do(f"scf.yield {', '.join(self.tile())} : {types}")
        e.do("}")
        self.store()

    def prologue(self):
        zero = self.e.const(0)
        tokens = self.copy_tile("%sq", QUERY_TILE, None, "%Q", self.first_query)
        tokens += self.copy_tile("%sk", self.stages, zero, "%K", zero)
        tokens += self.copy_tile("%sv", self.stages, zero, "%V", zero)
        return f"nvgpu.device_async_create_group {', '.join(tokens)}"

    def text(self):
        self.body()
        align = "" if self.fault == "no-alignment" else " {llvm.align = 128 : i64}"
        head = [f"gpu.module @m {{\n  gpu.func @attention(%Q: {self.matrix}, %K: {self.matrix}, %V: {self.matrix}, "
                f"%O: {self.matrix}, %scale: f32)\n      workgroup(%sq: {QUERY_TILE}{align}, %sk: {self.stages}{align}, "
                f"%sv: {self.stages}{align}) kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{"]
        head += [f"    {name} = arith.constant {value} : index" for value, name in sorted(self.e.constants.items())]
        head += [f"    %i{value} = arith.constant {value} : i32" for value in (1, 2, 4, 32)]
        head += ["    %lowest = arith.constant 0xFF800000 : f32", "    %nothing = arith.constant 0.0 : f32",
                 "    %one = arith.constant 1.0 : f32", f"    %zero = arith.constant dense<0.0> : {C_TYPE}",
                 f"    %zeroA = arith.constant dense<0.0> : {A_TYPE}"]
        return "\n".join(head + self.e.lines + ["    gpu.return\n  }\n}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=256)
    parser.add_argument("--fault", choices=FAULTS)
    args = parser.parse_args()
    print(Kernel(args.keys, args.fault).text())


if __name__ == "__main__":
    main()
