//===- PtxOperandFaults.cpp - Operands of PTX in another order --------------===//
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

static PtxEdit behind(std::string statement, PtxEdit edit) {
  edit.after = std::move(statement);
  return edit;
}

llvm::ArrayRef<Fault> test::ptxOperandFaults() {
  static const Fault faults[] = {
      inPtx("causal", "ptx-mma-rows", "registers of A: upper and lower rows", wrongValues,
            exchange(mmaF16, "a0", "a1")),
      inPtx("causal", "ptx-mma-columns", "registers of A: left and right columns", wrongValues,
            exchange(mmaF16, "a1", "a2")),
      inPtx("causal", "ptx-mma-b", "registers of B", wrongValues, exchange(mmaF16, "b0", "b1")),
      inPtx("causal", "ptx-mma-result", "registers of the result: upper and lower rows", wrongValues,
            exchange(mmaF16, "d0", "d2")),
      inPtx("causal", "ptx-mma-sum", "registers of the sum: neighbouring columns", wrongValues,
            behind(ldmatrixTransposed, exchange(mmaF16, "c0", "c1"))),
      inPtx("causal", "ptx-ldmatrix", "matrices that ldmatrix gives", wrongValues,
            exchange("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {<a>, <b>, <c>, <d>}, [<from>];", "a", "b")),
      inPtx("causal", "ptx-cvt-pair", "which half of a register a weight goes to", wrongValues,
            exchange("cvt.rn.f16x2.f32 <d>, <high>, <low>;", "high", "low")),
      inPtx("causal", "ptx-sub", "the maximum minus the logit", wrongValues,
            exchange("sub.rn.f32 <d>, <a>, <b>; ex2.approx.ftz.f32 <e>, <d2>; mul.rn.f32 <f>, <g>, <h>;", "a", "b")),
      inPtx("causal", "ptx-selp", "bytes of rows that exist and of those that do not", wrongValues,
            {"selp.b32 <d>, 16, 0, <p>;", "selp.b32 <d>, 0, 16, <p>;"}),
      inPtx("causal", "ptx-copy-addresses", "where a copy comes from and where it goes to",
            reported(FindingKind::OutOfBounds),
            exchange("cp.async.cg.shared.global [<to>], [<from>], 16, <bytes>;", "to", "from")),
      inPtx("causal", "ptx-shfl-operands", "the lanes and the clamp of a shuffle", wrongValues,
            exchange("shfl.sync.bfly.b32 <d>, <a>, <lanes>, <clamp>, -1;", "lanes", "clamp")),
      inPtx("causal", "ptx-mad-operands", "row and column of an address", wrongValues,
            exchange("mad.lo.s64 <d>, <pitch>, <row>, <column>; shl.b64 <e>, <f>, 1; add.s64 <g>, <h>, <i>; selp.b64",
                     "row", "column")),
      inPtx("causal", "ptx-store-parts", "registers of a wide store", wrongValues,
            exchange("st.global.v4.b32 [<to>], {<a>, <b>, <c>, <d>};", "b", "c")),
      inPtx("causal", "ptx-mov-parts", "halves of a register", wrongValues,
            exchange("mov.b32 <d>, {<low>, <high>};", "low", "high")),
      inPtx("causal", "ptx-grid", "what is subtracted from what, in the place of a block", wrongValues,
            exchange("mul.lo.s32 <m>, <q>, <n>; sub.s32 <d>, <a>, <b>;", "a", "b")),
      inPtx("chunked", "ptx-selp-mask", "pairs that count and pairs that do not", wrongValues,
            exchange("selp.f32 <d>, <a>, <b>, <p>;", "a", "b")),
      inPtx("favor", "ptx-tf32-b", "registers of B", wrongValues, exchange(mmaTf32, "b0", "b1")),
      inPtx("favor", "ptx-tf32-rest", "the rest of an operand of f32, with the wrong sign", wrongValues,
            exchange("and.b32 <high>, <sum>, -8192; sub.rn.f32 <low>, <a>, <b>;", "a", "b")),
      inPtx("favor", "ptx-shared-parts", "registers of a wide load from shared memory", wrongValues,
            exchange("ld.shared.v2.b32 {<a>, <b>}, [<from>]; add.s32 <c>, <d>, 4096;", "a", "b")),
      inPtx("merged", "ptx-cas-operands", "what a counter must be and what it becomes", wrongValues,
            exchange("atom.relaxed.gpu.global.cas.b64 <d>, [<at>], <compared>, <new>;", "compared", "new")),
      inPtx("warpgroups", "ptx-wgmma-descriptors", "the descriptors of A and B", wrongValues,
            exchange(wgmmaShared, "a", "b")),
      inPtx("warpgroups", "ptx-wgmma-registers", "registers of A", wrongValues, exchange(wgmmaRegisters, "a0", "a1")),
  };
  return faults;
}
