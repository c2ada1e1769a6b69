//===- ExpectedShuffles.h - Shuffles that layouts call for -*- C++ -*-----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_EXPECTEDSHUFFLES_H
#define ATTUNE_TEST_EMULATOR_EXPECTEDSHUFFLES_H

#include "attune/Commands/RunTensors.h"
#include "attune/Pipeline/Compilation.h"

namespace attune::test {

/// Of all warps of a run, its prepare plan included. The compilation is at its tile stage. Nothing, with a diagnostic,
/// if the kernels cannot be executed.
std::optional<uint64_t> expectedShuffles(Compilation &compilation, attnc::RunTensors &tensors);

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_EXPECTEDSHUFFLES_H
