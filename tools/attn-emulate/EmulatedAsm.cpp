//===- EmulatedAsm.cpp - The inline assembly that the emulator knows ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/EmulatedAsm.h"

using namespace attune;

// The operands stand in the order of the intrinsic's.
static constexpr EmulatedAsm table[] = {
    {"exp2", "ex2.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.ex2.approx.ftz.f32"},
    {"log2", "lg2.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.lg2.approx.ftz.f"},
    {"reciprocal", "rcp.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.rcp.approx.ftz.f"},
    {"rsqrt", "rsqrt.approx.ftz.f32 $0, $1;", "=f,f", "llvm.nvvm.rsqrt.approx.ftz.f"},
    {"tanh", "tanh.approx.f32 $0, $1;", "=f,f", "llvm.nvvm.tanh.approx.f32"},
    {"to-tf32", "cvt.rna.tf32.f32 $0, $1;", "=r,f", "llvm.nvvm.f2tf32.rna"},
    {"to-f16x2", "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f", "llvm.nvvm.ff2f16x2.rn"},
    {"to-bf16x2", "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", "llvm.nvvm.ff2bf16x2.rn"},
    {"copy-commit", "cp.async.commit_group;", "", "llvm.nvvm.cp.async.commit.group"},
    {"copy-wait-all", "cp.async.wait_all;", "", "llvm.nvvm.cp.async.wait.all"},
    {"warp-barrier", "bar.warp.sync $0;", "r", "llvm.nvvm.bar.warp.sync"},
    {"mma-f16",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
     "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"},
    {"mma-bf16",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
     "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", "llvm.nvvm.mma.m16n8k16.row.col.bf16"},
};

llvm::ArrayRef<EmulatedAsm> attune::emulatedAsmTable() { return table; }

const EmulatedAsm *attune::findEmulatedAsm(llvm::StringRef text) {
  for (const EmulatedAsm &entry : table)
    if (entry.text == text.trim())
      return &entry;
  return nullptr;
}
