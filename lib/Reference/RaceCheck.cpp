//===- RaceCheck.cpp - Finds programs that meet in memory -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RaceCheck.h"

using namespace attune::reference;

RaceCheck::Accesses &RaceCheck::accessesOf(const Array &memory) {
  auto [entry, isNew] = buffers.try_emplace(memory.identity());
  if (isNew) {
    entry->second.reader.assign(memory.bufferCount(), nobody);
    entry->second.writer.assign(memory.bufferCount(), nobody);
  }
  return entry->second;
}

bool RaceCheck::read(const Array &memory, int64_t place) {
  Accesses &accesses = accessesOf(memory);
  int32_t &reader = accesses.reader[place];
  reader = reader == nobody || reader == current ? current : several;
  int32_t writer = accesses.writer[place];
  return isOrdered(writer);
}

bool RaceCheck::write(const Array &memory, int64_t place) {
  Accesses &accesses = accessesOf(memory);
  int32_t &writer = accesses.writer[place], reader = accesses.reader[place];
  bool alone = isOrdered(writer) && reader != several && isOrdered(reader);
  writer = current;
  return alone;
}
