//===- PtxImmediateFaults.cpp - Other constants in PTX ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A descriptor of wgmma (PTX ISA, "Matrix Descriptor Format") with keys first, swizzled 128 bytes wide, has beside its
// address 1 << 62 | 64 << 32 | 1 << 16: the swizzle, the stride of 1024 bytes, the leading offset of 16.
//
//===----------------------------------------------------------------------===//
#include "Fault.h"
#include "PtxStatements.h"

using namespace attune;
using namespace attune::test;

/// Of the first product with A in shared memory, without its address.
static constexpr uint64_t fieldsOfA = 1ull << 62 | 64ull << 32 | 1ull << 16;

static PtxEdit descriptor(uint64_t fields) {
  return {"or.b64 <d>, <address>, " + std::to_string(fieldsOfA) + ";",
          "or.b64 <d>, <address>, " + std::to_string(fields) + ";"};
}

llvm::ArrayRef<Fault> test::ptxImmediateFaults() {
  static const Fault faults[] = {
      inPtx("causal", "ptx-scale", "a logit is not scaled", wrongValues,
            {"mul.rn.f32 <d>, <a>, 0f3E38AA3B;", "mul.rn.f32 <d>, <a>, 0f3F800000;"}),
      inPtx("causal", "ptx-wait-count", "the newest group is not waited for", reported(FindingKind::CopyInFlight),
            {"cp.async.wait_group 0;", "cp.async.wait_group 1;", "", 1}),
      inPtx("causal", "ptx-copy-size", "half of each row's piece", wrongValues,
            {"cp.async.cg.shared.global [<to>], [<from>], 16, <bytes>;",
             "cp.async.cg.shared.global [<to>], [<from>], 16, 8;"}),
      inPtx("causal", "ptx-shift", "rows half as far apart", wrongValues,
            {"shl.b32 <d>, <a>, 7;", "shl.b32 <d>, <a>, 6;", "cp.async.wait_group 0;"}),
      inPtx("causal", "ptx-load-offset", "a matrix from the rows before", wrongValues,
            {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {<a>, <b>, <c>, <d>}, [<from>+2048];",
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {<a>, <b>, <c>, <d>}, [<from>+1024];"}),
      inPtx("causal", "ptx-row-mask", "eight rows of sixteen", wrongValues,
            {"and.b32 <d>, <a>, 15;", "and.b32 <d>, <a>, 7;", "cp.async.wait_group 0;"}),
      inPtx("causal", "ptx-bfe", "the place and the length of a field", wrongValues,
            {"bfe.u32 <d>, <a>, 2, 3;", "bfe.u32 <d>, <a>, 3, 2;"}),
      inPtx("causal", "ptx-shfl-clamp", "every lane is the last of its segment", wrongValues,
            {"shfl.sync.bfly.b32 <d>, <a>, 1, 31, -1; max.f32", "shfl.sync.bfly.b32 <d>, <a>, 1, 0, -1; max.f32"}),
      inPtx(
          "causal", "ptx-shfl-lanes", "sums of other rows", wrongValues,
          {"shfl.sync.bfly.b32 <d>, <a>, 2, 31, -1; add.rn.f32", "shfl.sync.bfly.b32 <d>, <a>, 4, 31, -1; add.rn.f32"}),
      inPtx("causal", "ptx-shfl-members", "lanes that shuffle and are no members", reported(FindingKind::InactiveLane),
            {"shfl.sync.bfly.b32 <d>, <a>, 1, 31, -1;", "shfl.sync.bfly.b32 <d>, <a>, 1, 31, 65535;"}),
      inPtx("causal", "ptx-first-maximum", "a maximum that begins with infinity", wrongValues,
            {"mov.b32 <m>, 0fFF800000;", "mov.b32 <m>, 0f7F800000;"}),
      inPtx("causal", "ptx-store-offset", "columns of an output row 16 places before", wrongValues,
            {"st.global.v4.b32 [<to>+64], {<a>, <b>, <c>, <d>};", "st.global.v4.b32 [<to>+32], {<a>, <b>, <c>, <d>};"}),
      inPtx("causal", "ptx-grid-step", "blocks half as far apart", wrongValues,
            {"mul.wide.s32 <d>, <a>, 64;", "mul.wide.s32 <d>, <a>, 32;"}),
      inPtx("causal", "ptx-tile-step", "every second tile of keys", wrongValues,
            {"add.s64 <d>, <a>, 64;", "add.s64 <d>, <a>, 128;",
             "cp.async.wait_group 0; bar.sync 0; add.s32 <a>, <b>, 1;"}),
      inPtx("causal", "ptx-parameter", "another stride of the output", reported(FindingKind::OutOfBounds),
            {"ld.param.b64 <d>, [causal_softmax_param_34];", "ld.param.b64 <d>, [causal_softmax_param_33];"}),
      inPtx("lengths", "ptx-width", "the last columns of a row are not stored", wrongValues,
            {"setp.gt.u32 <p>, <column>, 19;", "setp.gt.u32 <p>, <column>, 15;", "rcp.rn.f32 <a>, <b>;", 0, true}),
      inPtx("lengths", "ptx-length-pitch", "the length of another entry", reported(FindingKind::OutOfBounds),
            {"mul.wide.u32 <d>, <entry>, 4; add.s64 <e>, <f>, <g>; ld.global.b32",
             "mul.wide.u32 <d>, <entry>, 8; add.s64 <e>, <f>, <g>; ld.global.b32"}),
      inPtx("favor", "ptx-tf32-mask", "an operand of f32 without its rest", wrongValues,
            {"and.b32 <d>, <a>, -8192;", "and.b32 <d>, <a>, -1;", "", 0, true}),
      inPtx("warpgroups", "ptx-descriptor-stride", "eight rows on, half as far", wrongValues,
            descriptor(1ull << 62 | 32ull << 32 | 1ull << 16)),
      inPtx("warpgroups", "ptx-descriptor-swizzle", "a swizzle 64 bytes wide", wrongValues,
            descriptor(2ull << 62 | 64ull << 32 | 1ull << 16)),
      inPtx("warpgroups", "ptx-descriptor-address", "32 bytes on", wrongValues, descriptor(fieldsOfA + 2)),
      inPtx("warpgroups", "ptx-wgmma-clear", "sums that are not cleared", wrongValues,
            {"setp.ne.b32 p, 0, 0;", "setp.ne.b32 p, 1, 0;", "", 0, true}),
      inPtx("warpgroups", "ptx-wgmma-sign", "a product is subtracted", wrongValues,
            {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {<sums...>}, <a>, <b>, p, 1, 1, 0, 0;",
             "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {<sums...>}, <a>, <b>, p, -1, 1, 0, 0;"}),
      inPtx("warpgroups", "ptx-wgmma-transposed", "keys as if they lay transposed", wrongValues,
            {wgmmaShared, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {<sums...>}, <a>, <b>, p, 1, 1, 0, 1;"}),
  };
  return faults;
}
