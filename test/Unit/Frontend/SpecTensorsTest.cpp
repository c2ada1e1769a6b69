//===- SpecTensorsTest.cpp - The tensors of specs: names, shapes, loading, drawing -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecText.h"

#include "attune/Frontend/SpecTensors.h"
#include "attune/Support/MachineMemory.h"

#include <gmock/gmock.h>

using namespace attune;
using testing::HasSubstr;

namespace {

/// `name[2, ?, 3]` of each tensor.
std::vector<std::string> show(const std::vector<SpecTensor> &tensors) {
  std::vector<std::string> result;
  for (const SpecTensor &tensor : tensors) {
    std::string text = tensor.name + ":" + nameOf(tensor.type).str();
    for (const Size &size : tensor.shape)
      text += " " + (size ? std::to_string(*size) : std::string("?"));
    result.push_back(text);
  }
  return result;
}

void write(const TemporaryFolder &folder, const std::string &name, ElementType type, llvm::ArrayRef<int64_t> shape) {
  HostTensor tensor = HostTensor::zeros(type, shape);
  EXPECT_FALSE(llvm::errorToBool(writeNpy(folder.file(name + ".npy"), tensor)));
}

/// Loads q, k, v of the given shapes for `spec`; the message if it fails, else "".
std::string load(const Spec &spec, llvm::ArrayRef<int64_t> q, llvm::ArrayRef<int64_t> k, llvm::ArrayRef<int64_t> v,
                 LoadedTensors *out = nullptr) {
  TemporaryFolder folder;
  write(folder, "q", ElementType::F32, q);
  write(folder, "k", ElementType::F32, k);
  write(folder, "v", ElementType::F32, v);
  llvm::Expected<TensorSource> source = TensorSource::open(folder.str());
  EXPECT_TRUE(static_cast<bool>(source));
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, "probe.yaml", *source);
  if (!loaded)
    return llvm::toString(loaded.takeError());
  if (out)
    *out = std::move(*loaded);
  return "";
}

} // namespace

TEST(SpecTensors, InputsAndOutput) {
  Spec spec = parseGood("attention: probe\ndtype: bf16\nbatch: '?'\nqueries: '?'\nkeys: 9\nheads: 4\nkv_heads: 2\n"
                        "head_dim: 16\nvalue_dim: 8\nkey_lengths: true\nmechanism: {kind: softmax}\n");
  EXPECT_THAT(show(inputTensors(spec)),
              testing::ElementsAre("q:bf16 ? 4 ? 16", "k:bf16 ? 2 9 16", "v:bf16 ? 2 9 8", "key_lengths:i32 ?"));
  EXPECT_THAT(show({outputTensor(spec)}), testing::ElementsAre("o:bf16 ? 4 ? 8"));
  EXPECT_TRUE(parameterTensors(spec).empty());
}

TEST(SpecTensors, ParametersOfALayer) {
  Spec spec = parseGood(specText("queries: 8\nkv_heads: 2\nprojection: {model_dim: 32, bias: true}\n"
                                 "mechanism: {kind: softmax, low_rank: {rank: 4, tied: false, per_head: true}}\n"));
  EXPECT_THAT(show(inputTensors(spec)), testing::ElementsAre("x:f32 2 8 32"));
  EXPECT_THAT(show(parameterTensors(spec)),
              testing::ElementsAre("wq:f32 32 64", "wk:f32 32 32", "wv:f32 32 32", "wo:f32 64 32", "bq:f32 64",
                                   "bk:f32 32", "bv:f32 32", "bo:f32 32", "e:f32 2 4 8", "f:f32 2 4 8"));
  EXPECT_EQ(outputTensor(spec).name, "y");
}

TEST(SpecTensors, ParametersOfParts) {
  Spec spec = parseGood(specText("queries: 8\ncausal: true\nparts:\n"
                                 "  - {heads: 1, mechanism: {kind: kernel, feature_map: {kind: favor, features: 6}}}\n"
                                 "  - {heads: 3, mechanism: {kind: polysketch, degree: 8, size: 2}}\n"));
  std::vector<std::string> names = show(parameterTensors(spec));
  EXPECT_EQ(names.front(), "part0.omega:f32 1 6 16");
  EXPECT_EQ(names.size(), 1 + 2 * 4 + 4 * 3u); // 4 leaves, 3 nodes
  EXPECT_THAT(names, testing::Contains("part1.sketch.leaf3.index:i32 3 2"));
  EXPECT_THAT(names, testing::Contains("part1.sketch.node2.sign_b:f32 3 2"));
}

TEST(SpecTensors, States) {
  Spec spec = parseGood(specText("queries: 8\ncausal: true\nstate: {initial: true, final: true}\nparts:\n"
                                 "  - {heads: 1, mechanism: {kind: kernel, feature_map: {kind: favor, features: 6}}}\n"
                                 "  - {heads: 2, mechanism: {kind: kernel, feature_map: {kind: identity}}}\n"
                                 "  - {heads: 1, mechanism: {kind: kernel, feature_map: {kind: cosformer, max_position: 10}}}\n"));
  std::vector<std::string> inputs = show(inputTensors(spec)), states(inputs.begin() + 3, inputs.end());
  EXPECT_THAT(states, testing::ElementsAre("part0.state.s:f32 2 1 6 16", "part0.state.z:f32 2 1 6", "part0.state.scale:f32 2 1 6",
                                           "part1.state.s:f32 2 2 16 16", "part2.state.s:f32 2 1 32 16", "part2.state.z:f32 2 1 32",
                                           "state.position:i32 2"));
  EXPECT_EQ(show(stateTensors(spec, finalPrefix)).front(), "part0.final_state.s:f32 2 1 6 16");
  EXPECT_EQ(inputTensors(spec).back().bound, 3); // 8 tokens from position 2 on end at 10
}

TEST(SpecTensors, Gradients) {
  Spec spec = parseGood("attention: probe\ndtype: bf16\nbatch: '?'\nqueries: 8\nheads: 4\nhead_dim: 16\ncausal: true\nkey_lengths: true\n"
                        "state: {initial: true, final: true}\ngradients: all\n"
                        "mechanism: {kind: kernel, feature_map: {kind: favor, features: 6}}\n");
  EXPECT_THAT(gradientNames(spec), testing::ElementsAre("q", "k", "v", "state.s", "state.z", "omega"));
  EXPECT_THAT(show(cotangentTensors(spec)),
              testing::ElementsAre("grad_o:bf16 ? 4 8 16", "grad_final_state.s:f32 ? 4 6 16", "grad_final_state.z:f32 ? 4 6"));
  EXPECT_EQ(inputTensors(spec, Direction::Backward).size(), inputTensors(spec).size() + 3);
}

TEST(SpecTensors, GradientsOfNamedTensors) {
  Spec spec = parseGood(specText("queries: 8\nresults: [lse]\ngradients: [v, q]\nmechanism: {kind: softmax, alibi: true}\n"));
  EXPECT_THAT(gradientNames(spec), testing::ElementsAre("v", "q"));
  EXPECT_EQ(differentiableTensors(spec).back().name, "slope");
  EXPECT_THAT(show(cotangentTensors(spec)), testing::ElementsAre("grad_o:f32 2 4 8 16", "grad_lse:f32 2 4 8"));
}

TEST(LoadTensors, ReadsTheGradientsOfOutputs) {
  Spec spec = parseGood("attention: probe\ndtype: bf16\nbatch: '?'\nqueries: '?'\nheads: 4\nhead_dim: 2\nresults: [lse]\n"
                        "gradients: all\nmechanism: {kind: softmax}\n");
  TemporaryFolder folder;
  for (const char *name : {"q", "k", "v", "grad_o"})
    write(folder, name, ElementType::F32, {1, 4, 3, 2});
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, "probe.yaml", *TensorSource::open(folder.str()), Direction::Backward);
  ASSERT_TRUE(static_cast<bool>(loaded)) << llvm::toString(loaded.takeError());
  ASSERT_EQ(loaded->inputs.size(), 4u); // grad_lse may be missing
  EXPECT_EQ(loaded->inputs.back().name, "grad_o");
  EXPECT_EQ(loaded->inputs.back().tensor.type, ElementType::BF16);
  write(folder, "grad_lse", ElementType::F32, {1, 4, 4});
  loaded = loadTensors(spec, "probe.yaml", *TensorSource::open(folder.str()), Direction::Backward);
  ASSERT_FALSE(static_cast<bool>(loaded));
  EXPECT_THAT(llvm::toString(loaded.takeError()), HasSubstr("grad_lse.npy: error: expected shape [1, 4, 3], but got [1, 4, 4]"));
}

TEST(LoadTensors, GivesUnknownSizesTheirValues) {
  Spec spec = parseGood("attention: probe\ndtype: f16\nbatch: '?'\nqueries: '?'\nkeys: '?'\nheads: 4\nhead_dim: 16\n"
                        "mechanism: {kind: softmax}\n");
  LoadedTensors loaded;
  EXPECT_EQ(load(spec, {2, 4, 5, 16}, {2, 4, 7, 16}, {2, 4, 7, 16}, &loaded), "");
  EXPECT_EQ(loaded.spec.batch, 2);
  EXPECT_EQ(loaded.spec.queries, 5);
  EXPECT_EQ(loaded.spec.keys, 7);
  EXPECT_EQ(loaded.inputs[0].tensor.type, ElementType::F16);
}

TEST(LoadTensors, RefusesOtherShapes) {
  Spec spec = parseGood(specText("queries: '?'\nmechanism: {kind: softmax}\n"));
  EXPECT_THAT(load(spec, {2, 4, 5, 16}, {2, 4, 7, 16}, {2, 4, 7, 16}),
              HasSubstr("k.npy: error: expected shape [2, 4, 5, 16], but got [2, 4, 7, 16]"));
  EXPECT_THAT(load(spec, {2, 4, 5, 17}, {2, 4, 5, 16}, {2, 4, 5, 16}),
              HasSubstr("q.npy: error: expected shape [2, 4, ?, 16], but got [2, 4, 5, 17]"));
  EXPECT_THAT(load(spec, {5, 16}, {2, 4, 5, 16}, {2, 4, 5, 16}), HasSubstr("q.npy: error: expected shape"));
  EXPECT_THAT(load(spec, {2, 4, 0, 16}, {2, 4, 0, 16}, {2, 4, 0, 16}), HasSubstr("expected sizes >= 1"));
}

TEST(LoadTensors, ChecksTheConditionsThatWaited) {
  Spec spec = parseGood(specText("queries: '?'\nkeys: '?'\ncausal: true\n"
                                 "mechanism: {kind: kernel, feature_map: {kind: elu1}}\n"));
  EXPECT_THAT(load(spec, {2, 4, 5, 16}, {2, 4, 7, 16}, {2, 4, 7, 16}),
              HasSubstr("probe.yaml:9:19: error: expected queries = keys with causal kernel, but got 5 and 7"));
}

namespace {

/// A file of that header and of the size that it asks for, of which only the header lies on the disk.
void writeSparse(const TemporaryFolder &folder, llvm::StringRef name, llvm::StringRef descr, llvm::StringRef shape,
                 int64_t bytes) {
  std::string header = ("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n").str();
  std::string lead("\x93NUMPY\x01\x00", 8);
  lead += {static_cast<char>(header.size()), '\0'};
  std::string path = folder.file((name + ".npy").str());
  std::error_code code;
  llvm::raw_fd_ostream(path, code) << lead << header;
  ASSERT_EQ(::truncate(path.c_str(), static_cast<int64_t>(lead.size() + header.size()) + bytes), 0);
}

/// The message of loading the tensors that are in a folder.
std::string loadFrom(const TemporaryFolder &folder, const Spec &spec) {
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, "probe.yaml", *TensorSource::open(folder.str()));
  return loaded ? "" : llvm::toString(loaded.takeError());
}

constexpr int64_t fourTebibytes = int64_t(1) << 42;

} // namespace

TEST(LoadTensors, JudgesHeadersBeforeItReads) {
  Spec spec = parseGood(specText("queries: '?'\nmechanism: {kind: softmax}\n"));
  TemporaryFolder folder;
  for (const char *name : {"q", "k", "v"})
    writeSparse(folder, name, "<f4", "(2, 8, 1073741824, 64)", fourTebibytes);
  EXPECT_THAT(loadFrom(folder, spec),
              HasSubstr("q.npy: error: expected shape [2, 4, ?, 16], but got [2, 8, 1073741824, 64]"));
  for (const char *name : {"q", "k", "v"})
    writeSparse(folder, name, "<i4", "(2, 4, 8589934592, 16)", fourTebibytes);
  EXPECT_THAT(loadFrom(folder, spec), HasSubstr("q.npy: error: expected f32, but got i32"));
}

TEST(LoadTensors, JudgesParametersBeforeItReads) {
  Spec spec = parseGood(specText("queries: '?'\nkeys: 9\nmechanism: {kind: softmax, low_rank: {rank: 4}}\n"));
  TemporaryFolder folder;
  write(folder, "q", ElementType::F32, {2, 4, 3, 16});
  for (const char *name : {"k", "v"})
    write(folder, name, ElementType::F32, {2, 4, 9, 16});
  for (const SpecTensor &tensor : parameterTensors(spec))
    writeSparse(folder, tensor.name, "<f4", "(1048576, 1048576)", fourTebibytes);
  EXPECT_THAT(loadFrom(folder, spec), HasSubstr("e.npy: error: expected shape [1, 4, 9], but got [1048576, 1048576]"));
}

TEST(LoadTensors, RefusesWhatNoMemoryHolds) {
  Spec spec = parseGood(specText("queries: '?'\nmechanism: {kind: softmax}\n"));
  TemporaryFolder folder;
  for (const char *name : {"q", "k", "v"})
    writeSparse(folder, name, "<f4", "(2, 4, 8589934592, 16)", fourTebibytes);
  EXPECT_THAT(loadFrom(folder, spec), HasSubstr("q.npy: error: expected tensors that fit this machine's memory of "));
  // Each of them fits, all together do not.
  int64_t rows = machineMemory() * 2 / 5 / 512;
  for (const char *name : {"q", "k", "v"})
    writeSparse(folder, name, "<f4", "(2, 4, " + std::to_string(rows) + ", 16)", rows * 512);
  EXPECT_THAT(loadFrom(folder, spec), testing::ContainsRegex("v.npy: error: .* beside [0-9]+ bytes of others"));
}

TEST(LoadTensors, RefusesLengthsBeyondTheKeys) {
  Spec spec = parseGood(specText("queries: 3\nkey_lengths: true\nmechanism: {kind: softmax}\n"));
  TemporaryFolder folder;
  for (const char *name : {"q", "k", "v"})
    write(folder, name, ElementType::F32, {2, 4, 3, 16});
  HostTensor lengths = HostTensor::zeros(ElementType::I64, {2});
  lengths.data<int64_t>()[1] = 4;
  ASSERT_FALSE(llvm::errorToBool(writeNpy(folder.file("key_lengths.npy"), lengths)));
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, "probe.yaml", *TensorSource::open(folder.str()));
  ASSERT_FALSE(static_cast<bool>(loaded));
  EXPECT_THAT(llvm::toString(loaded.takeError()),
              HasSubstr("key_lengths.npy: error: expected values from 0 to 3, but got 4"));
}

namespace {

/// Runs `init` on a '?' spec with key lengths; the folder is filled.
int init(const TemporaryFolder &folder, uint64_t seed, Size queries, std::string &errors) {
  std::error_code code;
  std::string path = folder.file("probe.yaml");
  llvm::raw_fd_ostream(path, code) << specText("queries: '?'\nkey_lengths: true\nmechanism: {kind: softmax}\n");
  InitRequest request{path, folder.str(), seed, /*inputs=*/true, /*backward=*/false, std::nullopt, queries, std::nullopt, std::nullopt};
  llvm::raw_string_ostream os(errors);
  return initTensors(request, os);
}

} // namespace

TEST(InitTensors, DrawsWhatLoads) {
  TemporaryFolder folder;
  std::string errors;
  ASSERT_EQ(init(folder, 7, 6, errors), 0) << errors;
  Spec spec;
  ASSERT_EQ(loadSpec(folder.file("probe.yaml"), spec, llvm::errs()), SpecStatus::Good);
  llvm::Expected<LoadedTensors> loaded = loadTensors(spec, "probe.yaml", *TensorSource::open(folder.str()));
  ASSERT_TRUE(static_cast<bool>(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_EQ(loaded->spec.keys, 6);
  EXPECT_NE(loaded->inputs[0].tensor.bytes, loaded->inputs[1].tensor.bytes);
}

TEST(InitTensors, DependsOnTheSeedAlone) {
  TemporaryFolder first, second, third;
  std::string errors;
  ASSERT_EQ(init(first, 7, 6, errors) + init(second, 7, 6, errors) + init(third, 8, 6, errors), 0) << errors;
  llvm::Expected<HostTensor> a = readNpy(first.file("q.npy")), b = readNpy(second.file("q.npy")),
                             c = readNpy(third.file("q.npy"));
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->bytes, b->bytes);
  EXPECT_NE(a->bytes, c->bytes);
}

TEST(InitTensors, AsksForTheOpenSize) {
  TemporaryFolder folder;
  std::string errors;
  EXPECT_EQ(init(folder, 7, std::nullopt, errors), 2);
  EXPECT_THAT(errors, HasSubstr("probe.yaml:1:1: error: expected --batch, --queries or --keys for the '?' in 'q'"));
}
