//===- WriteSpec.h - A spec as YAML ------------------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_FRONTEND_WRITESPEC_H
#define ATTUNE_FRONTEND_WRITESPEC_H

#include "attune/Frontend/Spec.h"

namespace attune {

/// The YAML of a spec: parsed again it is the same spec. Fields that have their default are left out.
std::string writeSpec(const Spec &spec);

/// The YAML of one mechanism, as a flow mapping on one line: `{kind: kernel, feature_map: {kind: elu1}}`.
std::string writeMechanism(const Mechanism &mechanism);

} // namespace attune

#endif // ATTUNE_FRONTEND_WRITESPEC_H
