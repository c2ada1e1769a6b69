//===- PtxStatements.h - Statements that several faults look for ---*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_PTXSTATEMENTS_H
#define ATTUNE_TEST_EMULATOR_PTXSTATEMENTS_H

namespace attune::test {

inline constexpr const char *mmaF16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {<d0>, <d1>, <d2>, <d3>}, "
                                      "{<a0>, <a1>, <a2>, <a3>}, {<b0>, <b1>}, {<c0>, <c1>, <c2>, <c3>};";
inline constexpr const char *mmaTf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {<d0>, <d1>, <d2>, <d3>}, "
                                       "{<a0>, <a1>, <a2>, <a3>}, {<b0>, <b1>}, {<c0>, <c1>, <c2>, <c3>};";
/// Operands in shared memory, both with k first; then A in registers, and B transposed.
inline constexpr const char *wgmmaShared =
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {<sums...>}, <a>, <b>, p, 1, 1, 0, 0;";
inline constexpr const char *wgmmaRegisters =
    "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {<sums...>}, {<a0>, <a1>, <a2>, <a3>}, <b>, p, 1, 1, 1;";
/// Values; products before it are those with keys.
inline constexpr const char *ldmatrixTransposed =
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {<a>, <b>, <c>, <d>}, [<from>];";

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_PTXSTATEMENTS_H
