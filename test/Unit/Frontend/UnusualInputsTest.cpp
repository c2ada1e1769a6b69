//===- UnusualInputsTest.cpp - What must be refused, and what must not ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cases in which published code gives a wrong answer silently, each with the mathematics' verdict. What a spec cannot
// say is refused as an unknown key. The outputs of the accepted ones are judged where they run; `output 0` is no_keys.py.
//
//===----------------------------------------------------------------------===//
#include "BuiltSpec.h"

#include "attune/Frontend/SpecTensors.h"

#include <gmock/gmock.h>

using namespace attune;
using testing::HasSubstr;

namespace {

/// The messages and notes on a spec whose lines after the first are given.
std::string complaints(const std::string &rest) {
  SourceFile file("probe.yaml", specText(rest));
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Invalid) << rest;
  std::string text;
  llvm::raw_string_ostream os(text);
  print(diagnostics, file, os);
  return text;
}

std::string line(const std::string &mechanism, const std::string &more = "queries: 36\n") {
  return more + "mechanism: {" + mechanism + "}\n";
}

const std::string causal = "queries: 36\ncausal: true\n";

} // namespace

// odd p, p <= 0: reject, suggest p+1
TEST(Reject, OddDegree) {
  EXPECT_THAT(complaints(line("kind: polynomial, degree: 3")), HasSubstr("the next that will do is 4"));
  EXPECT_THAT(complaints(line("kind: polynomial, degree: 0")), HasSubstr("expected an even integer >= 2"));
  EXPECT_THAT(complaints(line("kind: polynomial, degree: -2")), HasSubstr("expected an even integer >= 2"));
}

// p' not 2^l: reject p'; r not 2^a: round r up changes the function, so ask
TEST(Reject, SketchesOfOtherSizes) {
  EXPECT_THAT(complaints(line("kind: polysketch, degree: 6, size: 8")), HasSubstr("the next that will do is 8"));
  EXPECT_THAT(complaints(line("kind: polysketch, degree: 2, size: 8")), HasSubstr("the next that will do is 4"));
  EXPECT_THAT(complaints(line("kind: polysketch, degree: 4, size: 24")), HasSubstr("the next that will do is 32"));
}

// h not 2^a: zero-pad h, which is exact
TEST(Accept, SketchOfAWidthThatIsNoPowerOfTwo) {
  Built built("attention: probe\ndtype: f32\nbatch: 1\nqueries: 8\nheads: 2\nhead_dim: 20\n"
              "mechanism: {kind: polysketch, degree: 4, size: 8}\n");
  EXPECT_EQ(show(built.only<attn::PolysketchOp>().getSigns().front().getType()), "tensor<2x32xf32>");
}

// m, r, k, b, C = 0; c1 outside [0, c]: reject
TEST(Reject, Zeros) {
  for (const char *mechanism :
       {"kind: kernel, feature_map: {kind: favor, features: 0}", "kind: polysketch, degree: 4, size: 0",
        "kind: softmax, low_rank: {rank: 0}", "kind: softmax, window: {length: 0}",
        "kind: softmax, window: {grid: [6, 6], size: [0, 6]}", "kind: eva, chunk: 0", "kind: agent, agents: 0"})
    EXPECT_THAT(complaints(line(mechanism)), HasSubstr("but got '0'")) << mechanism;
  std::string one = "  - {heads: ", rest = ", mechanism: {kind: softmax}}\n";
  EXPECT_THAT(complaints("queries: 8\nparts:\n" + one + "0" + rest + one + "4" + rest), HasSubstr("but got '0'"));
  EXPECT_THAT(complaints("queries: 8\nparts:\n" + one + "5" + rest), HasSubstr("add up to 4"));
}

// low-rank/FLuRKA/Agent with causal: reject, name the mixing operator
TEST(Reject, CausalMixing) {
  EXPECT_THAT(complaints(line("kind: softmax, low_rank: {rank: 4}", causal)), HasSubstr("E mixes all positions"));
  EXPECT_THAT(complaints(line("kind: kernel, feature_map: {kind: elu1}, low_rank: {rank: 4}", causal)),
              HasSubstr("E mixes all positions"));
  EXPECT_THAT(complaints(line("kind: agent, agents: 4", causal)), HasSubstr("mixes all tokens"));
  EXPECT_THAT(complaints(line("kind: effatt", causal)), HasSubstr("mixes all tokens"));
}

// E length != N: reject; list pad/slice options
TEST(Reject, CompressionOfAnotherLength) {
  Spec spec = parseGood(specText("queries: 6\nmechanism: {kind: softmax, low_rank: {rank: 2}}\n"));
  TemporaryFolder folder;
  auto write = [&](const char *name, llvm::ArrayRef<int64_t> shape) {
    EXPECT_FALSE(llvm::errorToBool(writeNpy(folder.file(name), HostTensor::zeros(ElementType::F32, shape))));
  };
  for (const char *name : {"q.npy", "k.npy", "v.npy"})
    write(name, {2, 4, 6, 16});
  write("e.npy", {1, 2, 8});
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, "probe.yaml", *TensorSource::open(folder.str()));
  ASSERT_FALSE(static_cast<bool>(loaded));
  std::string text = llvm::toString(loaded.takeError());
  EXPECT_THAT(text, HasSubstr("e.npy: error: expected shape [1, 2, 6], but got [1, 2, 8]"));
  EXPECT_THAT(text, HasSubstr("pad it with zero columns, slice its columns"));
}

// b does not divide n, scheduling b: accept (short tail)
TEST(Accept, LengthsThatNoTileDivides) {
  Built chunked(specText("queries: 37\ncausal: true\npin: {linearize: chunked}\n"
                         "mechanism: {kind: kernel, feature_map: {kind: elu1}}\n"));
  EXPECT_EQ(chunked.ops(), "kernel");
}

// b does not divide n, semantic b (mixed, ELFATT, EVA): reject
TEST(Reject, BlocksThatDoNotFit) {
  for (const char *mechanism :
       {"kind: softmax, window: {length: 8}", "kind: eva, chunk: 8", "kind: eva, chunk: 6, window: {length: 8}",
        "kind: agent, agents: 8"})
    EXPECT_THAT(complaints(line(mechanism)), HasSubstr("a divisor of")) << mechanism;
  EXPECT_THAT(complaints(line("kind: polysketch, degree: 4, size: 8, local_exact: 8", causal)),
              HasSubstr("a divisor of queries = 36"));
  EXPECT_THAT(complaints(line("kind: softmax, window: {grid: [6, 6], size: [4, 6]}")), HasSubstr("a divisor of 6"));
}

// chunk does not divide window (causal EVA): reject
TEST(Reject, ChunksAcrossWindows) {
  EXPECT_THAT(complaints(line("kind: eva, chunk: 9, window: {length: 12}", causal)),
              HasSubstr("a divisor of window.length = 12"));
}

// causal linear with n != N: accept only with an incoming state, which a spec does not have
TEST(Reject, CausalLinearOfOtherLengths) {
  EXPECT_THAT(complaints(line("kind: kernel, feature_map: {kind: elu1}", "queries: 4\nkeys: 9\ncausal: true\n")),
              HasSubstr("queries = keys"));
}

// mask given to linear attention before phi: compile as after phi
TEST(Accept, LengthsGoToTheMechanism) {
  Built built(specText("queries: 8\nkey_lengths: true\nmechanism: {kind: kernel, feature_map: {kind: elu1}}\n"));
  EXPECT_EQ(Built::sourceOf(built.only<attn::KernelOp>().getLengths()), "key_lengths");
  EXPECT_EQ(Built::sourceOf(built.only<attn::KernelOp>().getKey()), "k");
}

// attention bias/ALiBi/dropout on P with kernel form: reject (not separable)
TEST(Reject, BiasesAndDropout) {
  for (const char *field : {"bias: true", "alibi: true", "dropout: 0.1"})
    EXPECT_THAT(complaints(line("kind: kernel, feature_map: {kind: elu1}, " + std::string(field))),
                HasSubstr("error: expected one of")) << field;
}

// naive FLuRKA with signed E and a normaliser: reject
TEST(Reject, NaiveFlurkaWithADenominator) {
  EXPECT_THAT(complaints(line("kind: kernel, feature_map: {kind: elu1}, low_rank: {rank: 4, order: after_map}, "
                              "denominator: {bias: 1}")),
              HasSubstr("a signed E makes the row sum change sign"));
}

// eps > 0 with data-dependent key stabiliser and causal: reject (leak)
TEST(Reject, LeakingStabilizer) {
  for (const char *kind : {"max", "projection"})
    EXPECT_THAT(complaints(line("kind: kernel, feature_map: {kind: favor, features: 8, epsilon: 1e-4, stabilizer: " +
                                    std::string(kind) + "}",
                                causal)),
                HasSubstr("leaks the future"));
}

// cosFormer position > M; RoPE odd d: reject
TEST(Reject, PositionsWithoutAnAngle) {
  EXPECT_THAT(complaints(line("kind: kernel, feature_map: {kind: cosformer, max_position: 35}")),
              HasSubstr("at least queries = 36"));
  SourceFile file("probe.yaml", "attention: probe\ndtype: f32\nbatch: 2\nqueries: 4\nheads: 4\nhead_dim: 5\nrope: {}\n"
                                "mechanism: {kind: softmax}\n");
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Invalid);
  EXPECT_THAT(diagnostics.sorted()[0].message(), HasSubstr("expected an even head_dim with rope, but got head_dim 5"));
}

// f16 with polynomial/sketch weights: force f32 weights
TEST(Accept, PowersInHalfPrecision) {
  Built built("attention: probe\ndtype: f16\nbatch: 1\nqueries: 8\nheads: 2\nhead_dim: 4\nqk_norm: {}\n"
              "mechanism: {kind: polynomial, degree: 8}\n");
  auto op = built.only<attn::PolynomialOp>();
  EXPECT_EQ(show(op.getQuery().getType()), "tensor<1x2x8x4xf32>");
  EXPECT_EQ(show(op.getOutput().getType()), "tensor<1x2x8x4xf16>");
}

// N = 0: a size is at least 1; all keys masked: output 0, see no_keys.py
TEST(Reject, NoKeysAtAll) {
  EXPECT_THAT(complaints("queries: 4\nkeys: 0\nmechanism: {kind: softmax}\n"), HasSubstr("but got '0'"));
}
