//===- Isa.cpp - Instruction sets ----------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Isa.h"

using namespace attune::cpu;

static const llvm::StringRef avx2Features[] = {"+avx2", "+fma", "+f16c", "+bmi", "+bmi2", "+lzcnt", "+popcnt"};
static const llvm::StringRef avx512Features[] = {"+avx2",     "+fma",      "+f16c",     "+bmi",
                                                 "+bmi2",     "+lzcnt",    "+popcnt",   "+avx512f",
                                                 "+avx512bw", "+avx512dq", "+avx512vl", "-prefer-256-bit"};

static const llvm::StringRef avx512Bf16Features[] = {"+avx2",     "+fma",      "+f16c",     "+bmi",       "+bmi2",
                                                     "+lzcnt",    "+popcnt",   "+avx512f",  "+avx512bw",  "+avx512dq",
                                                     "+avx512vl", "+avx512bf16", "-prefer-256-bit"};

static const llvm::StringRef amxFeatures[] = {"+avx2",     "+fma",        "+f16c",     "+bmi",      "+bmi2",
                                              "+lzcnt",    "+popcnt",     "+avx512f",  "+avx512bw", "+avx512dq",
                                              "+avx512vl", "+avx512bf16", "+amx-tile", "+amx-bf16", "-prefer-256-bit"};

// A register block is blockRows × blockVectors accumulators, blockVectors of B and one broadcast: 6 × 4 + 4 + 1 of the
// 32 registers of AVX-512, 6 × 2 + 2 + 1 of the 16 of AVX2.
static const Isa isas[] = {
    {"avx2", "x86-64-v3", avx2Features, 8, 6, 2},
    {"avx512", "x86-64-v4", avx512Features, 16, 6, 4},
    {"avx512_bf16", "x86-64-v4", avx512Bf16Features, 16, 12, 2, /*bf16Dots=*/true},
    {"amx", "x86-64-v4", amxFeatures, 16, 12, 2, /*bf16Dots=*/true, /*tiles=*/true},
    // Host functions that only launch: what every x86-64 has.
    {"host", "x86-64", {}, 4, 6, 2},
};

const Isa *attune::cpu::findIsa(llvm::StringRef name) {
  for (const Isa &isa : isas)
    if (isa.name == name)
      return &isa;
  return nullptr;
}
