//===- TrapEmulator.h - AMX instructions where the processor has none -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A processor without AMX, or a process without the permission to use its tiles, answers each of its instructions with
// SIGILL. A handler of that signal executes the instruction on tiles of its own, one file of them a thread, and goes on
// behind it. So tests run the machine code that users get, on any x86-64 processor with FMA. Instructions that are
// known: ldtilecfg, sttilecfg, tilerelease, tilezero, tileloadd, tileloaddt1, tilestored, tdpbf16ps.
//
// What a processor would refuse ends the process, with a message that names the instruction and the reason: so does a
// `start_row` that is not 0, which only an interrupted instruction leaves.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RUNTIME_AMX_TRAPEMULATOR_H
#define ATTUNE_TEST_RUNTIME_AMX_TRAPEMULATOR_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace attune::test::amx {

enum class Operation { LoadConfig, StoreConfig, Release, Zero, Load, Store, Product };

const char *nameOf(Operation operation);

/// One instruction. Registers of the processor are numbered as instructions number them; -1: none.
struct Instruction {
  Operation operation;
  int tile = 0;   ///< ModRM.reg: what is loaded, stored, zeroed or summed
  int first = 0;  ///< of a product: ModRM.rm
  int second = 0; ///< of a product: VEX.vvvv
  int base = -1, index = -1;
  bool fromNext = false; ///< the address counts from the next instruction
  int scale = 0;         ///< the index counts 2^scale bytes
  int64_t displacement = 0;
  int64_t bytes = 0; ///< of the instruction
};

/// The instruction that begins there, if it is one of those above.
std::optional<Instruction> decode(const uint8_t *code);

/// The tiles of a thread (palette 1).
struct TileFile {
  bool configured = false;
  uint8_t rows[8] = {};
  uint16_t columnBytes[8] = {};
  alignas(64) uint8_t tiles[8][16][64] = {};
};

/// Executes the instruction; what a processor would refuse is returned in words, and nothing is changed. `next` is the
/// address of the next instruction.
std::string execute(const Instruction &instruction, const int64_t registers[16], int64_t next, TileFile &file);

/// Whether the processor has tiles and this process may use them; it asks for that.
bool processorHasTiles();

/// From now on AMX instructions of this process are executed here, unless the processor has tiles: then it executes all.
void install();

/// Products of tiles that threads of this process have executed here.
uint64_t productsExecuted();

} // namespace attune::test::amx

#endif // ATTUNE_TEST_RUNTIME_AMX_TRAPEMULATOR_H
