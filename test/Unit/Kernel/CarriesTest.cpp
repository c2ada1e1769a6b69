//===- CarriesTest.cpp - Loops with carries that are not theirs ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All specs of this program run with their loops cut, too; here the carries are wrong, and cutting must show it.
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

static const std::string heads = "heads: 2, head_dim: 5, value_dim: 3, ";

TEST_F(Specs, CarriesOfSoftmax) { checkCarries({heads + "mechanism: {kind: softmax}", {{9, 70}}}); }

TEST_F(Specs, CarriesOfPowers) {
  checkCarries({heads + "mechanism: {kind: polynomial, degree: 4}", {{9, 70}}});
  checkCarries({heads + "mechanism: {kind: polysketch, degree: 4, size: 4}", {{9, 70}}, {"quadratic"}});
  // Of degree 8: from 16 on there is a maximum of lengths, which is a unit, and any number is one.
  checkCarries({heads + "mechanism: {kind: polysketch, degree: 8, size: 4}", {{9, 70}}, {"state"}});
}

TEST_F(Specs, CarriesOfStates) {
  checkCarries({heads + "mechanism: {kind: kernel, feature_map: {kind: elu1}}", {{9, 70}}, {"state"}});
  checkCarries({heads + "mechanism: {kind: kernel, feature_map: {kind: favor, features: 6}}", {{9, 70}}, {"state"}});
  checkCarries({heads + "mechanism: {kind: effatt}", {{9, 70}}});
}
