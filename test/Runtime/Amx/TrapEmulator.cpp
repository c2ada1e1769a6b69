//===- TrapEmulator.cpp - AMX instructions where the processor has none ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TrapEmulator.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

using namespace attune::test::amx;

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

namespace {
/// The 64 bytes that ldtilecfg reads.
struct Config {
  uint8_t palette, startRow, reserved[14];
  uint16_t columnBytes[8], noColumns[8];
  uint8_t rows[8], noRows[8];
};
static_assert(sizeof(Config) == 64);
} // namespace

static std::string expected(const std::string &what, int64_t got) {
  return "expected " + what + ", but got " + std::to_string(got);
}

/// Why a processor refuses the configuration (#GP); empty if it takes it.
static std::string refused(const Config &config) {
  if (config.palette != 1)
    return expected("palette 0 or 1", config.palette);
  if (config.startRow != 0)
    return expected("start_row 0", config.startRow);
  auto zero = [](auto &bytes) {
    return std::all_of(std::begin(bytes), std::end(bytes), [](auto byte) { return byte == 0; });
  };
  if (!zero(config.reserved) || !zero(config.noColumns) || !zero(config.noRows))
    return "expected reserved bytes that are 0, but got others";
  for (int tile = 0; tile < 8; ++tile) {
    std::string name = " of tmm" + std::to_string(tile);
    if (config.rows[tile] > 16)
      return expected("at most 16 rows" + name, config.rows[tile]);
    if (config.columnBytes[tile] > 64)
      return expected("at most 64 bytes a row" + name, config.columnBytes[tile]);
    if ((config.rows[tile] == 0) != (config.columnBytes[tile] == 0))
      return "expected rows and bytes a row that are both 0 or neither" + name + ", but got one of them";
  }
  return "";
}

static std::string loadConfig(const uint8_t *memory, TileFile &file) {
  Config config;
  std::memcpy(&config, memory, sizeof(config));
  if (config.palette == 0)
    return file = TileFile(), "";
  if (std::string reason = refused(config); !reason.empty())
    return reason;
  file = TileFile();
  file.configured = true;
  std::copy(std::begin(config.rows), std::end(config.rows), file.rows);
  std::copy(std::begin(config.columnBytes), std::end(config.columnBytes), file.columnBytes);
  return "";
}

static void storeConfig(uint8_t *memory, const TileFile &file) {
  Config config = {};
  config.palette = file.configured;
  std::copy(std::begin(file.rows), std::end(file.rows), config.rows);
  std::copy(std::begin(file.columnBytes), std::end(file.columnBytes), config.columnBytes);
  std::memcpy(memory, &config, sizeof(config));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static std::string tileName(int tile) { return "tmm" + std::to_string(tile); }

/// Why a processor refuses the product (#UD); empty if it takes it.
static std::string refused(const Instruction &op, const TileFile &file) {
  int c = op.tile, a = op.first, b = op.second;
  if (a == b || a == c || b == c)
    return "expected three tiles, but got one of them twice";
  for (int tile : {a, b, c})
    if (file.rows[tile] == 0)
      return "expected a tile that is configured, but " + tileName(tile) + " has no rows";
  for (int tile : {a, b, c})
    if (file.columnBytes[tile] % 4 != 0)
      return expected("whole words in a row of " + tileName(tile), file.columnBytes[tile]);
  if (file.rows[a] != file.rows[c])
    return expected("as many rows of " + tileName(a) + " as of " + tileName(c) + ", " + std::to_string(file.rows[c]),
                    file.rows[a]);
  if (file.columnBytes[b] != file.columnBytes[c])
    return expected("as many bytes a row of " + tileName(b) + " as of " + tileName(c) + ", " +
                        std::to_string(file.columnBytes[c]),
                    file.columnBytes[b]);
  if (file.columnBytes[a] / 4 != file.rows[b])
    return expected("as many rows of " + tileName(b) + " as pairs in a row of " + tileName(a) + ", " +
                        std::to_string(file.columnBytes[a] / 4),
                    file.rows[b]);
  return "";
}

static float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// A row of the result: sums of the first and of the second numbers of the pairs, by multiply-adds, then both added.
/// The caller lets denormal numbers be 0.
static void addRow(const uint8_t *a, const uint8_t (*b)[64], int pairs, int columns, uint8_t *c) {
  float low[16] = {}, high[16] = {}, sums[16];
  for (int k = 0; k < pairs; ++k) {
    uint32_t pair, others[16];
    std::memcpy(&pair, a + 4 * k, sizeof(pair));
    std::memcpy(others, b[k], sizeof(others));
    float first = asFloat(pair << 16), second = asFloat(pair & 0xffff0000);
    for (int n = 0; n < 16; ++n) {
      low[n] = __builtin_fmaf(first, asFloat(others[n] << 16), low[n]);
      high[n] = __builtin_fmaf(second, asFloat(others[n] & 0xffff0000), high[n]);
    }
  }
  std::memcpy(sums, c, sizeof(sums));
  for (int n = 0; n < columns; ++n)
    sums[n] += low[n] + high[n];
  std::memcpy(c, sums, sizeof(sums));
}

static std::atomic<uint64_t> products{0};

static void multiply(const Instruction &op, TileFile &file) {
  unsigned control = _mm_getcsr();
  _mm_setcsr(0x9fc0); // round to nearest, denormal numbers are 0, no traps
  for (int row = 0; row < file.rows[op.tile]; ++row)
    addRow(file.tiles[op.first][row], file.tiles[op.second], file.columnBytes[op.first] / 4,
           file.columnBytes[op.tile] / 4, file.tiles[op.tile][row]);
  _mm_setcsr(control);
  products.fetch_add(1, std::memory_order_relaxed);
}

uint64_t attune::test::amx::productsExecuted() { return products.load(); }

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Rows of a tile to or from memory.
static std::string move(const Instruction &op, uint8_t *memory, int64_t stride, TileFile &file) {
  int tile = op.tile;
  if (file.rows[tile] == 0)
    return "expected a tile that is configured, but " + tileName(tile) + " has no rows";
  if (op.operation == Operation::Load)
    std::memset(file.tiles[tile], 0, sizeof(file.tiles[tile]));
  for (int row = 0; row < file.rows[tile]; ++row) {
    uint8_t *there = memory + row * stride, *here = file.tiles[tile][row];
    if (op.operation == Operation::Load)
      std::memcpy(here, there, file.columnBytes[tile]);
    else
      std::memcpy(there, here, file.columnBytes[tile]);
  }
  return "";
}

std::string attune::test::amx::execute(const Instruction &op, const int64_t registers[16], int64_t next,
                                       TileFile &file) {
  int64_t address = op.displacement + (op.fromNext ? next : 0) + (op.base < 0 ? 0 : registers[op.base]);
  int64_t index = op.index < 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(registers[op.index]) << op.scale);
  bool config = op.operation == Operation::LoadConfig || op.operation == Operation::StoreConfig;
  auto *memory = reinterpret_cast<uint8_t *>(address + (config ? index : 0));
  if (op.operation == Operation::Release)
    return file = TileFile(), "";
  if (op.operation == Operation::LoadConfig)
    return loadConfig(memory, file);
  if (op.operation == Operation::StoreConfig)
    return storeConfig(memory, file), "";
  if (!file.configured)
    return "expected tiles that are configured, but there was no ldtilecfg before, or a tilerelease after it";
  if (op.operation == Operation::Load || op.operation == Operation::Store)
    return move(op, memory, index, file);
  if (op.operation == Operation::Zero && file.rows[op.tile] == 0)
    return "expected a tile that is configured, but " + tileName(op.tile) + " has no rows";
  if (op.operation == Operation::Zero)
    return std::memset(file.tiles[op.tile], 0, sizeof(file.tiles[op.tile])), "";
  if (std::string reason = refused(op, file); !reason.empty())
    return reason;
  return multiply(op, file), "";
}

//===----------------------------------------------------------------------===//
// The signal
//===----------------------------------------------------------------------===//

/// Of the running thread; found without an allocation, as a handler must not make one.
static thread_local TileFile threadFile __attribute__((tls_model("initial-exec")));

static struct sigaction previous;

/// As instructions number them.
static constexpr int registerOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static void onIllegal(int, siginfo_t *, void *context) {
  greg_t *machine = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  auto *code = reinterpret_cast<const uint8_t *>(machine[REG_RIP]);
  std::optional<Instruction> instruction = decode(code);
  if (!instruction) { // not ours: it raises the signal again
    sigaction(SIGILL, &previous, nullptr);
    return;
  }
  int64_t registers[16];
  for (int i = 0; i < 16; ++i)
    registers[i] = machine[registerOrder[i]];
  int64_t next = machine[REG_RIP] + instruction->bytes;
  std::string reason = execute(*instruction, registers, next, threadFile);
  if (!reason.empty()) {
    std::string text = std::string("amx: ") + nameOf(instruction->operation) + ": " + reason + "\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
    abort();
  }
  machine[REG_RIP] = next;
}

bool attune::test::amx::processorHasTiles() {
  constexpr long request = 0x1023, contents = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool has = __builtin_cpu_supports("amx-bf16") && syscall(SYS_arch_prctl, request, contents) == 0;
  return has;
}

void attune::test::amx::install() {
  // Such a processor takes configurations without a signal, so all or nothing is its own.
  if (processorHasTiles())
    return;
  struct sigaction action = {};
  action.sa_sigaction = onIllegal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, previous.sa_sigaction ? nullptr : &previous);
}
