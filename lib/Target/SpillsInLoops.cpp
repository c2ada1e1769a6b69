//===- SpillsInLoops.cpp - Which spills machine code pays for at each step -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler says how many bytes a kernel spills, not where. What it puts away before a loop and takes back after it
// costs nothing; what it reads in a loop is paid for at each step. So the code is asked: an instruction has 16 bytes,
// its kind in the lowest 12 bits. A loop is what lies between a branch back and its target. How far a branch jumps is
// counted from the next instruction:
//
//     compute capability 7.0 … 8.9    bits 32 to 63, in bytes
//                        9.0          bits 34 to 63 and, below them, 16 to 23, in words of 4 bytes
//
//===----------------------------------------------------------------------===//
#include "attune/Target/EmitDevice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace attune;

static constexpr size_t instructionBytes = 16;
static constexpr uint64_t kindMask = 0xfff, readSpilled = 0x983, writeSpilled = 0x387, jump = 0x947;
static constexpr llvm::StringLiteral codePrefix = ".text.";

namespace {
/// Instructions from `first` to `last`.
struct LoopRange {
  int64_t first, last;
  bool contains(int64_t place) const { return first <= place && place <= last; }
};
} // namespace

static uint64_t instruction(llvm::StringRef code, size_t place) {
  return llvm::support::endian::read64le(code.data() + place * instructionBytes);
}

/// Bytes that a branch jumps.
static int64_t distanceOf(uint64_t bits, unsigned capability) {
  auto high = static_cast<int32_t>(bits >> 32);
  if (capability < 90)
    return high;
  constexpr int64_t bytesPerWord = 4, lowValues = 256;
  return bytesPerWord * (lowValues * (high >> 2) + static_cast<int64_t>(bits >> 16 & 0xff));
}

static llvm::SmallVector<LoopRange> loopsOf(llvm::StringRef code, unsigned capability) {
  llvm::SmallVector<LoopRange> loops;
  for (int64_t place = 0, end = code.size() / instructionBytes; place < end; ++place) {
    uint64_t bits = instruction(code, place);
    int64_t target = place + 1 + distanceOf(bits, capability) / static_cast<int64_t>(instructionBytes);
    // A branch to itself is what the rest of a section is filled with.
    if ((bits & kindMask) == jump && 0 <= target && target < place)
      loops.push_back({target, place});
  }
  return loops;
}

int64_t attune::countSpillsInLoops(llvm::StringRef code, unsigned capability) {
  llvm::SmallVector<LoopRange> loops = loopsOf(code, capability);
  int64_t count = 0;
  for (int64_t place = 0, end = code.size() / instructionBytes; place < end; ++place) {
    uint64_t kind = instruction(code, place) & kindMask;
    bool isSpill = kind == readSpilled || kind == writeSpilled;
    count += isSpill && llvm::any_of(loops, [&](const LoopRange &loop) { return loop.contains(place); });
  }
  return count;
}

/// What is expected; nothing if the file is damaged, or none that is known.
template <typename T> static std::optional<T> valueOf(llvm::Expected<T> expected) {
  if (expected)
    return *expected;
  llvm::consumeError(expected.takeError());
  return std::nullopt;
}

/// The code of each kernel of a cubin; empty if it cannot be read.
static llvm::StringMap<llvm::StringRef> codeOf(llvm::StringRef cubin) {
  using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
  llvm::StringMap<llvm::StringRef> result;
  std::optional<File> file = valueOf(File::create(cubin));
  auto sections = file ? valueOf(file->sections()) : std::nullopt;
  if (!sections)
    return result;
  for (const auto &section : *sections) {
    std::optional<llvm::StringRef> name = valueOf(file->getSectionName(section));
    auto bytes = valueOf(file->getSectionContents(section));
    if (name && bytes && name->consume_front(codePrefix))
      result[*name] = llvm::toStringRef(*bytes);
  }
  return result;
}

/// 90 of sm_90a.
static unsigned capabilityOf(llvm::StringRef chip) {
  unsigned capability = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, capability);
  return capability;
}

void attune::findSpillsInLoops(Cubin &cubin, llvm::StringRef chip) {
  llvm::StringMap<llvm::StringRef> code = codeOf(cubin.bytes);
  for (KernelResources &kernel : cubin.kernels)
    if (auto found = code.find(kernel.name); found != code.end())
      kernel.inLoops = countSpillsInLoops(found->second, capabilityOf(chip));
}
