//===- Fiber.cpp - Execution contexts, one for each GPU thread ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fiber.h"

#include <cstring>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTUNE_ADDRESS_SANITIZER 1
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace attune::emulator {

FiberStacks::~FiberStacks() {
  if (region)
    munmap(region, count * stride);
}

bool FiberStacks::reserve(size_t wanted) {
  if (wanted <= count)
    return true;
  void *fresh =
      mmap(nullptr, wanted * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED)
    return false;
  if (region)
    munmap(region, count * stride);
  region = static_cast<char *>(fresh);
  count = wanted;
  for (size_t i = 0; i < count; ++i)
    mprotect(region + i * stride, guard, PROT_NONE);
  return true;
}

// Only the callee-saved registers survive a call, so only they are kept. The stack pointer travels through memory.
#if defined(__x86_64__)
extern "C" void attune_emulator_switch(void **from, void *to);
asm(R"(
  .text
  .globl attune_emulator_switch
  .hidden attune_emulator_switch
  .type attune_emulator_switch, @function
attune_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size attune_emulator_switch, . - attune_emulator_switch
)");
static constexpr size_t returnAddress = 6; // behind the six saved registers
static constexpr size_t frameWords = 8;    // keeps the stack 16-byte aligned at the entry, as after a call
#elif defined(__aarch64__)
extern "C" void attune_emulator_switch(void **from, void *to);
asm(R"(
  .text
  .globl attune_emulator_switch
  .hidden attune_emulator_switch
  .type attune_emulator_switch, %function
attune_emulator_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size attune_emulator_switch, . - attune_emulator_switch
)");
static constexpr size_t returnAddress = 11;
static constexpr size_t frameWords = 20;
#else
#error "the emulator needs a context switch for this processor"
#endif

void prepareFiber(Fiber &fiber, char *stackBase, size_t stackBytes, void (*entry)()) {
  auto *top = reinterpret_cast<uint64_t *>(stackBase + stackBytes);
  uint64_t *frame = top - frameWords;
  std::memset(frame, 0, frameWords * sizeof(uint64_t));
  frame[returnAddress] = reinterpret_cast<uint64_t>(entry);
  fiber = {frame, nullptr, stackBase, stackBytes};
}

#ifdef ATTUNE_ADDRESS_SANITIZER
void switchFiber(Fiber &from, Fiber &to) {
  __sanitizer_start_switch_fiber(&from.fakeStack, to.stackBase, to.stackBytes);
  attune_emulator_switch(&from.stackPointer, to.stackPointer);
  const void *base;
  size_t bytes;
  __sanitizer_finish_switch_fiber(from.fakeStack, &base, &bytes);
}

void enterFiber() { __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr); }
#else
void switchFiber(Fiber &from, Fiber &to) { attune_emulator_switch(&from.stackPointer, to.stackPointer); }

void enterFiber() {}
#endif

} // namespace attune::emulator
