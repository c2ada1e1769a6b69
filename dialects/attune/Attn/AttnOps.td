//===- AttnOps.td - All ops of the attn dialect -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "attune/Attn/AttnExact.td"
include "attune/Attn/AttnKernel.td"
include "attune/Attn/AttnPower.td"
include "attune/Attn/AttnBlocks.td"
include "attune/Attn/AttnBlocked.td"
include "attune/Attn/AttnLayer.td"
include "attune/Attn/AttnGradient.td"
include "attune/Attn/AttnFeaturePairs.td"
include "attune/Attn/AttnSaved.td"
