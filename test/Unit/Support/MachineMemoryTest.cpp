//===- MachineMemoryTest.cpp - Limits of control groups -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/MachineMemory.h"

#include "TemporaryFolder.h"

using namespace attune;

namespace {

struct Groups : TemporaryFolder {
  void limit(llvm::StringRef group, llvm::StringRef name, llvm::StringRef content) {
    EXPECT_FALSE(llvm::sys::fs::create_directories(file(group)));
    fileOf((group + "/" + name).str(), content);
  }
  int64_t of(llvm::StringRef list) { return groupMemory(str(), fileOf("list", list)); }
};

} // namespace

TEST(MachineMemory, OfAGroupIsTheLeastOfThoseAboveIt) {
  Groups groups;
  groups.limit("a", "memory.max", "5000\n");
  groups.limit("a/b", "memory.max", "max\n");
  groups.limit("a/c", "memory.max", "3000\n");
  EXPECT_EQ(groups.of("0::/a/b\n"), 5000);
  EXPECT_EQ(groups.of("0::/a/c\n"), 3000);
  EXPECT_EQ(groups.of("0::/\n"), INT64_MAX);
  groups.limit(".", "memory.max", "1000\n");
  EXPECT_EQ(groups.of("0::/a/b\n"), 1000);
  EXPECT_EQ(groups.of("0::/named/outside\n"), 1000);
  EXPECT_EQ(groups.of("0::/\n"), 1000);
}

TEST(MachineMemory, OfTheFirstVersionToo) {
  Groups groups;
  groups.limit("memory/a", "memory.limit_in_bytes", "5000\n");
  groups.limit("memory", "memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(groups.of("9:name=systemd:/\n4:cpu,memory:/a\n0::/\n"), 5000);
  EXPECT_EQ(groups.of("9:name=systemd:/\n4:memory:/b\n0::/\n"), 9223372036854771712);
}

TEST(MachineMemory, WithoutGroups) {
  EXPECT_EQ(groupMemory("/nowhere", "/nowhere"), INT64_MAX);
  EXPECT_GT(machineMemory(), 0);
}
