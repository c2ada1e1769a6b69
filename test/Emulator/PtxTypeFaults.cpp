//===- PtxTypeFaults.cpp - Types, roundings, widths, predicates and directives of PTX ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fault.h"
#include "PtxStatements.h"

using namespace attune;
using namespace attune::test;

llvm::ArrayRef<Fault> test::ptxTypeFaults() {
  static const Fault faults[] = {
      inPtx(
          "causal", "ptx-mma-type", "operands read as bf16", wrongValues,
          {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}),
      inPtx("causal", "ptx-mma-layout", "B by rows, which no such product has", refused("product that is not modelled"),
            {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32"}),
      inPtx("causal", "ptx-trans-missing", "values by rows", wrongValues,
            {ldmatrixTransposed, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {<a>, <b>, <c>, <d>}, [<from>];"}),
      inPtx("causal", "ptx-trans-added", "queries by columns", wrongValues,
            {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {<a>, <b>, <c>, <d>}, [<from>];", ldmatrixTransposed}),
      inPtx("causal", "ptx-mask-unsigned", "places before the diagonal's tile, read without their sign", wrongValues,
            {"setp.gt.s32 <p>, <distance>, <column>; selp.f32", "setp.gt.u32 <p>, <distance>, <column>; selp.f32", "",
             0, true}),
      inPtx("causal", "ptx-bound-unsigned", "a bound that is always below", wrongValues,
            {"max.s64 <d>, <a>, -1073741824;", "max.u64 <d>, <a>, -1073741824;"}),
      inPtx("causal", "ptx-round-weights", "weights cut off", refused("but got '.rz'"),
            {"cvt.rn.f16x2.f32 <d>, <a>, <b>;", "cvt.rz.f16x2.f32 <d>, <a>, <b>;", "", 0, true}),
      inPtx("causal", "ptx-round-output", "the output cut off", refused("but got '.rz'"),
            {"cvt.rn.f16.f32 <d>, <a>;", "cvt.rz.f16.f32 <d>, <a>;", "", 0, true}),
      inPtx("causal", "ptx-store-width", "half of a wide store", wrongValues,
            {"st.global.v4.b32 [<to>], {<a>, <b>, <c>, <d>};", "st.global.v2.b32 [<to>], {<a>, <b>};"}),
      inPtx("causal", "ptx-function", "another function", wrongValues,
            {"ex2.approx.ftz.f32 <d>, <a>;", "lg2.approx.ftz.f32 <d>, <a>;"}),
      inPtx("causal", "ptx-guard", "rows that do not exist are stored too", reported(FindingKind::OutOfBounds),
            {"@<p> bra <label>; selp.b32 <a>, <b>, <c>, <q>;", "selp.b32 <a>, <b>, <c>, <q>;", "", 0, true}),
      inPtx("causal", "ptx-negated", "the loop is left where it is entered", wrongValues,
            {"@<p> bra <label>; cp.async.wait_group 0;", "@!<p> bra <label>; cp.async.wait_group 0;"}),
      inPtx("causal", "ptx-relation", "one tile more", wrongValues,
            {"setp.ge.s64 <p>, <a>, <b>;", "setp.gt.s64 <p>, <a>, <b>;"}),
      inPtx("causal", "ptx-threads", "kernels for 64 threads, launched with 128",
            refused("expected a block of 64, 1, 1 threads"), {".reqntid 128, 1, 1", ".reqntid 64, 1, 1"}),
      inPtx("causal", "ptx-thread-shape", "kernels for as many threads in two dimensions",
            refused("expected a block of 64, 2, 1 threads"), {".reqntid 128, 1, 1", ".reqntid 64, 2, 1"}),
      inPtx("causal", "ptx-most-threads", "kernels for at most 64 threads, launched with 128",
            refused("expected at most 64 threads a block"), {".reqntid 128, 1, 1", ".maxntid 64, 1, 1"}),
      inPtx("causal", "ptx-blocks", "more blocks on a multiprocessor than it has threads for",
            refused("as its .minnctapersm says"), {".reqntid 128, 1, 1", ".reqntid 128, 1, 1 .minnctapersm 32"}),
      inPtx("causal", "ptx-version", "instructions that came later than the text",
            refused("expected a .version that has sm_80"), {".version 7.8", ".version 6.5"}),
      inPtx("causal", "ptx-shared-size", "shared memory of its own, and too little", reported(FindingKind::OutOfBounds),
            {".extern .shared .align 128 .b8 attune_shared[];", ".shared .align 128 .b8 attune_shared[1024];"}),
      inPtx("causal", "ptx-shared-alignment", "shared memory at any even address", reported(FindingKind::Misaligned),
            {".extern .shared .align 128 .b8 attune_shared[];", ".extern .shared .align 2 .b8 attune_shared[];"}),
      inPtx("causal", "ptx-target", "code for a newer device", refused("its .target is sm_90"),
            {".target sm_80", ".target sm_90"}),
      inPtx("favor", "ptx-shared-width", "half of a wide store to shared memory",
            reported(FindingKind::UninitialisedRead),
            {"st.shared.v2.b32 [<to>], {<a>, <b>};", "st.shared.b32 [<to>], <a>;", "", 0, true}),
      inPtx("chunked", "ptx-sign", "a difference in the place of a sum", wrongValues,
            {"add.rn.f32 <d>, <a>, <b>;", "sub.rn.f32 <d>, <a>, <b>;"}),
      inPtx("warpgroups", "ptx-wgmma-type", "operands read as bf16", wrongValues,
            {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16",
             "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"}),
  };
  return faults;
}
