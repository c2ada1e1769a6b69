//===- Fiber.h - Execution contexts, one for each GPU thread ----*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_FIBER_H
#define ATTUNE_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

namespace attune::emulator {

/// A suspended flow of control: its stack pointer, and what the address sanitizer wants to know of its stack.
struct Fiber {
  void *stackPointer = nullptr;
  void *fakeStack = nullptr;
  const void *stackBase = nullptr;
  size_t stackBytes = 0;
};

/// Stacks of equal size with an inaccessible gap below each, so that an overflow faults instead of corrupting another
/// thread. Code compiled without much register allocation has frames of some bytes for each value; a page that is never
/// touched costs nothing.
class FiberStacks {
public:
  static constexpr size_t stackBytes = 512 * 1024;
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  ~FiberStacks();

  /// Makes at least `count` stacks; false if there is no memory.
  bool reserve(size_t count);
  char *base(size_t index) const { return region + index * stride + guard; }
  bool contains(size_t index, const void *address) const {
    return uintptr_t(address) - uintptr_t(base(index)) < stackBytes;
  }

private:
  static constexpr size_t guard = 64 * 1024;
  static constexpr size_t stride = stackBytes + guard;
  char *region = nullptr;
  size_t count = 0;
};

/// Prepares a fiber that starts in `entry` when it is first switched to; `entry` must never return.
void prepareFiber(Fiber &fiber, char *stackBase, size_t stackBytes, void (*entry)());

/// Suspends the running flow into `from` and goes on with `to`.
void switchFiber(Fiber &from, Fiber &to);

/// To be called first thing in a fiber's entry.
void enterFiber();

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_FIBER_H
