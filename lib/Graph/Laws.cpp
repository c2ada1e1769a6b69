//===- Laws.cpp - The registry of laws ------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/RewriteLaw.h"

using namespace attune;

std::vector<std::unique_ptr<graph::RewriteLaw>> graph::createLaws() {
  std::vector<std::unique_ptr<RewriteLaw>> laws;
  laws.push_back(createLinearizeLaw());
  laws.push_back(createFoldLaw());
  laws.push_back(createLowRankLaw());
  laws.push_back(createProjectLaw());
  laws.push_back(createProjectOutLaw());
  laws.push_back(createMapLaw());
  laws.push_back(createLaunchLaw());
  laws.push_back(createKeysLaw());
  return laws;
}
