//===- ApartTest.cpp - Tensors that share memory --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Footprint.h"
#include "ToyData.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace toy;
using namespace attune::rt;

namespace {

//===----------------------------------------------------------------------===//
// Footprints
//===----------------------------------------------------------------------===//

struct Layout {
  uint64_t address;
  std::vector<int64_t> sizes, strides;
  uint32_t dtype = ATTUNE_RT_F32;
};

Footprint footprintOf(const Layout &layout) {
  std::vector<uint64_t> slots = {layout.address};
  slots.insert(slots.end(), layout.sizes.begin(), layout.sizes.end());
  slots.insert(slots.end(), layout.strides.begin(), layout.strides.end());
  return attune::rt::footprintOf(SlotView{slots.data(), static_cast<uint32_t>(layout.sizes.size())}, layout.dtype);
}

/// Addresses of all bytes, once for each element that has them.
std::multiset<uint64_t> bytesOf(const Layout &layout) {
  std::vector<uint64_t> starts = {layout.address};
  int64_t width = elementBytes(layout.dtype);
  for (size_t dim = 0; dim < layout.sizes.size(); ++dim) {
    std::vector<uint64_t> next;
    for (uint64_t start : starts)
      for (int64_t i = 0; i < layout.sizes[dim]; ++i)
        next.push_back(start + static_cast<uint64_t>(i * layout.strides[dim] * width));
    starts = next;
  }
  std::multiset<uint64_t> bytes;
  for (uint64_t start : starts)
    for (int64_t byte = 0; byte < width; ++byte)
      bytes.insert(start + static_cast<uint64_t>(byte));
  return bytes;
}

bool anyTwice(const std::multiset<uint64_t> &bytes) {
  return std::set<uint64_t>(bytes.begin(), bytes.end()).size() != bytes.size();
}

bool anyShared(const std::multiset<uint64_t> &a, const std::multiset<uint64_t> &b) {
  for (uint64_t byte : a)
    if (b.count(byte))
      return true;
  return false;
}

Layout draw(std::mt19937 &random) {
  auto below = [&](int count) { return static_cast<int64_t>(random() % static_cast<unsigned>(count)); };
  Layout layout{1000, {}, {}, random() % 2 ? ATTUNE_RT_F32 : ATTUNE_RT_F16};
  layout.address += static_cast<uint64_t>(below(60) * elementBytes(layout.dtype));
  for (int64_t dim = below(4); dim >= 0; --dim) {
    layout.sizes.push_back(1 + below(4));
    layout.strides.push_back(below(30) - 8);
  }
  if (random() % 2)
    layout.strides.back() = 1;
  return layout;
}

TEST(Footprint, OfDrawnLayoutsAgreesWithTheBytes) {
  std::mt19937 random(7);
  int itself[2] = {}, others[2] = {};
  for (int i = 0; i < 20000; ++i) {
    Layout a = draw(random), b = draw(random);
    std::multiset<uint64_t> of = bytesOf(a), ofOther = bytesOf(b);
    bool stays = std::find(a.strides.begin(), a.strides.end(), 0) != a.strides.end(); // told by the strides
    bool twice = anyTwice(of), shared = anyShared(of, ofOther);
    ASSERT_EQ(overlap(footprintOf(a), footprintOf(b)), shared) << i;
    if (!stays)
      ASSERT_EQ(overlapsItself(footprintOf(a)), twice) << i;
    ++itself[twice], ++others[shared];
  }
  for (int count : {itself[0], itself[1], others[0], others[1]})
    EXPECT_GT(count, 2000);
}

/// Of sizes as they are met: told at once, whatever the order of the dimensions and however long they are.
TEST(Footprint, OfSlicesOfOneTensor) {
  int64_t batch = 64, tokens = 1 << 20, heads = 64, width = 128, row = 3 * heads * width;
  auto slice = [&](int64_t which) {
    return Layout{uint64_t(1) << 40 | static_cast<uint64_t>(which * heads * width * 4),
                  {batch, heads, tokens, width},
                  {tokens * row, width, row, 1}};
  };
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(overlap(footprintOf(slice(i)), footprintOf(slice(j))), i == j);
  Layout shifted = slice(1);
  shifted.address -= 4;
  EXPECT_TRUE(overlap(footprintOf(slice(0)), footprintOf(shifted)));
  EXPECT_FALSE(overlapsItself(footprintOf(slice(0))));
}

TEST(Footprint, ThatCannotBeToldCountsAsShared) {
  int64_t most = 1 << 20;
  Layout odd{4096, {most, most, most, 1}, {most - 3, most - 1, most + 7, 1}};
  EXPECT_TRUE(overlapsItself(footprintOf(odd)));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// What run says of tensors that `change` has placed; empty if it runs and is right.
template <typename Change> std::string saidOf(Change change, int64_t queries = 6, int64_t keys = 9) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(2, queries, keys);
  c.addOptional();
  change(c);
  attune_status status = run(handle.get(), c.tensors);
  EXPECT_TRUE(status == ATTUNE_ERROR_ARGUMENT || c.wrongOutputs() == 0);
  return status ? message() : "";
}

std::string shares(const char *output, const char *other, const char *how) {
  return std::string("toy_run: argument '") + output + "': expected memory of its own, but got memory of argument '" +
         other + "', which is " + how + " while the output is written";
}

TEST(Apart, OutputsAndInputs) {
  EXPECT_EQ(saidOf([](Case &) {}), "");
  EXPECT_EQ(saidOf([](Case &c) { c.q.tensor.data = c.o.tensor.data; }), shares("o", "q", "read"));
  std::vector<float> both(2048); // of which the one begins with the last element of the other
  EXPECT_EQ(saidOf([&](Case &c) { c.v.tensor.data = both.data(), c.o.tensor.data = both.data() + c.v.elements() - 1; }),
            shares("o", "v", "read"));
  EXPECT_EQ(saidOf([&](Case &c) { c.o.tensor.data = both.data(), c.keyLengths.tensor.data = both.data() + c.o.elements() - 1; }),
            shares("o", "key_lengths", "read"));
  EXPECT_EQ(saidOf([](Case &c) { c.lse.tensor.data = c.q.data() + 4; }), shares("lse", "q", "read"));
}

/// A final state may lie where the initial one does, element by element.
TEST(Apart, InPlace) {
  EXPECT_EQ(saidOf([](Case &c) { c.finalState.tensor.data = c.initialState.data(); }), "");
  EXPECT_EQ(saidOf([](Case &c) { c.finalState.tensor.data = c.initialState.data() + 1; }), shares("final_state", "initial_state", "read"));
  EXPECT_EQ(saidOf([](Case &c) {
              c.finalState.tensor.data = c.initialState.data();
              c.finalState.strides = {15, 30, 5, 1}; // head 1 of entry 0 is head 0 of entry 1
              c.finalState.tensor.strides = c.finalState.strides.data();
            }),
            shares("final_state", "initial_state", "read"));
  EXPECT_EQ(saidOf([](Case &c) { c.finalState.tensor.data = c.v.data(); }), shares("final_state", "v", "read"));
}

TEST(Apart, OutputsAndOutputs) {
  EXPECT_EQ(saidOf([](Case &c) { c.lse.tensor.data = c.o.data() + 7; }), shares("o", "lse", "written"));
  std::vector<float> both(2048);
  EXPECT_EQ(saidOf([&](Case &c) { c.lse.tensor.data = both.data(), c.finalState.tensor.data = both.data() + c.lse.elements() - 1; }),
            shares("lse", "final_state", "written"));
}

TEST(Apart, ElementsOfAnOutput) {
  auto expected = "toy_run: argument 'o': expected strides that keep its elements apart, but some share an address; give "
                  "the output memory of its own";
  EXPECT_EQ(saidOf([](Case &c) { c.o.strides[2] = 4; }), expected);                     // rows of 5 that begin 4 apart
  EXPECT_EQ(saidOf([](Case &c) { c.o.strides[1] = c.o.strides[2]; }), expected);        // head 1 is row 1
  EXPECT_EQ(saidOf([](Case &c) { c.o.strides[0] = c.o.strides[1] * 3; }), expected);    // entries that overlap
  EXPECT_EQ(saidOf([](Case &c) { c.o.strides[0] = -c.o.strides[1]; }), expected);
}

/// q, k, v and o may be slices of one tensor of tokens.
TEST(Apart, SlicesThatInterleaveAreFine) {
  int64_t row = 4 * 3 + 2 * 3 + 2 * 5 + 4 * 5;
  std::vector<float> all(static_cast<size_t>(2 * 9 * row));
  EXPECT_EQ(saidOf(
                [&](Case &c) {
                  float *next = all.data();
                  uint32_t seed = 1;
                  for (Tensor *tensor : {&c.q, &c.k, &c.v, &c.o}) {
                    tensor->tensor.data = next;
                    next += tensor->shape[1] * tensor->shape[3];
                    tensor->strides = {9 * row, tensor->shape[3], row, 1};
                    tensor->tensor.strides = tensor->strides.data();
                    for (int64_t b = 0; b < 2; ++b)
                      for (int64_t h = 0; h < tensor->shape[1]; ++h)
                        for (int64_t i = 0; i < 9; ++i)
                          for (int64_t f = 0; f < tensor->shape[3]; ++f)
                            tensor->at({b, h, i, f}) = static_cast<float>(seed++ % 5);
                  }
                },
                9, 9),
            "");
}

TEST(Apart, InputsMayShareMemory) {
  EXPECT_EQ(saidOf([](Case &c) { c.k.tensor.data = c.q.tensor.data; }, 9, 9), "");
}

TEST(Apart, TheWorkspace) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(2, 50, 60); // the plan with a state in the workspace
  size_t bytes = 0;
  ASSERT_EQ(toy_workspace(handle.get(), &c.tensors, &bytes), ATTUNE_OK);
  ASSERT_GT(bytes, 0u);
  std::vector<char> memory(c.q.bytes.size() + c.o.bytes.size() + bytes + 128);
  char *start = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  for (auto [tensor, name] : {std::pair{&c.q, "q"}, {&c.o, "o"}}) {
    void *own = tensor->tensor.data;
    tensor->tensor.data = start + bytes - 4;
    EXPECT_EQ(toy_run(handle.get(), &c.tensors, start, memory.size(), nullptr), ATTUNE_ERROR_ARGUMENT);
    EXPECT_EQ(message(), std::string("toy_run: argument 'workspace': expected memory of its own, but got memory of "
                                     "argument '") +
                             name + "'");
    tensor->tensor.data = start + bytes; // room past what the run needs is the caller's
    EXPECT_EQ(toy_run(handle.get(), &c.tensors, start, memory.size(), nullptr), ATTUNE_OK) << message();
    tensor->tensor.data = own;
  }
}

} // namespace
