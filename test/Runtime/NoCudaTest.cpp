//===- NoCudaTest.cpp - A device library where there is no driver ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace toy;

namespace {

TEST(NoCuda, TheDriverIsNamed) {
  if (dlopen("libcuda.so.1", RTLD_NOW))
    GTEST_SKIP() << "this machine has a driver";
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.device_type = kDLCUDA;
  toy_handle *handle = nullptr;
  EXPECT_EQ(toy_create(&options, &handle), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_NE(message().find("toy_create: expected the NVIDIA driver libcuda.so.1, but it cannot be opened"),
            std::string::npos)
      << message();
  EXPECT_NE(message().find("install the driver"), std::string::npos);
}

} // namespace
