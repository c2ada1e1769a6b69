//===- cpu_kernels.cpp - CPU kernels as fractions of the FMA peak --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cpu_kernels [isa [repetitions [filter]]]: compiles kernels in this process and times one thread. The peak
// (independent f32 FMAs in registers) is measured before every repetition, so that a change of the clock or a neighbour
// hits both; what is printed are medians of the quotients, and the quotient of the best runs for machines that are
// never quiet.
//
//===----------------------------------------------------------------------===//
#include "Peak.h"
#include "Problems.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attune::test;

namespace {
struct Row {
  const char *name;
  Problem problem;
};
} // namespace

static std::vector<Row> rows() {
  std::vector<Row> result;
  auto add = [&](const char *name, const char *form, int64_t n, int64_t d, bool causal, const char *dtype) {
    Problem p;
    p.form = form, p.queries = p.keys = n, p.width = p.valueWidth = d, p.causal = causal, p.dtype = dtype,
    p.piece = 2048;
    if (const char *tiles = std::getenv("ATTUNE_TILES"))
      std::sscanf(tiles, "%ldx%ld", &p.queryTile, &p.keyTile);
    result.push_back({name, p});
  };
  add("softmax n=4096 d=64", "softmax", 4096, 64, false, "f32");
  add("softmax n=1024 d=64", "softmax", 1024, 64, false, "f32");
  add("softmax causal n=4096 d=64", "softmax", 4096, 64, true, "f32");
  add("softmax bf16 n=4096 d=64", "softmax", 4096, 64, false, "bf16");
  add("softmax f16 n=4096 d=64", "softmax", 4096, 64, false, "f16");
  add("softmax n=4096 d=128", "softmax", 4096, 128, false, "f32");
  add("softmax n=4096 d=40", "softmax", 4096, 40, false, "f32");
  add("chunked n=4096 d=64", "chunked", 4096, 64, false, "f32");
  add("chunked bf16 n=4096 d=64", "chunked", 4096, 64, false, "bf16");
  add("chunked n=4096 d=128", "chunked", 4096, 128, false, "f32");
  add("chunked n=4096 d=325", "chunked", 4096, 325, false, "f32");
  add("state n=4096 d=64", "state", 4096, 64, false, "f32");
  add("quadratic n=4096 d=64", "quadratic", 4096, 64, false, "f32");
  // Rows 4 KiB apart share one set of the first-level cache.
  add("softmax n=1024 d=64 H=16", "softmax", 1024, 64, false, "f32");
  result.back().problem.heads = result.back().problem.sharedHeads = 16;
  add("softmax n=1024 d=64 tokens first, H=16", "softmax", 1024, 64, false, "f32");
  result.back().problem.heads = result.back().problem.sharedHeads = 16, result.back().problem.tokensFirst = true;
  add("state n=1024 d=64 tokens first, H=16", "state", 1024, 64, false, "f32");
  result.back().problem.heads = result.back().problem.sharedHeads = 16, result.back().problem.tokensFirst = true;
  return result;
}

static void measure(mlir::MLIRContext &context, const Row &row, const std::string &isa, int repetitions) {
  Data data(row.problem, 1);
  Jit jit(context, row.problem.source(), {isa});
  jit.checked = false;
  std::vector<Tensor> arguments = data.arguments();
  jit.run("plan", isa, arguments);
  std::vector<double> fractions, rates, peaks;
  for (int i = 0; i < repetitions; ++i) {
    double before = peak(isa), start = now();
    jit.run("plan", isa, arguments);
    double rate = row.problem.usefulOperations() / (now() - start), after = peak(isa);
    rates.push_back(rate);
    peaks.push_back(std::max(before, after));
    fractions.push_back(rate / std::max(before, after));
  }
  std::printf("%-28s %-7s %6.1f GFLOP/s  %.3f of peak (best of each: %.3f)   mlir %.0f ms, optimise %.0f ms, codegen "
              "%.0f ms, object %lld B\n",
              row.name, isa.c_str(), median(rates) / 1e9, median(fractions),
              *std::max_element(rates.begin(), rates.end()) / *std::max_element(peaks.begin(), peaks.end()),
              jit.times().mlir * 1e3, jit.times().optimise * 1e3, jit.times().codegen * 1e3,
              static_cast<long long>(jit.codeBytes()));
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  std::string isa = argc > 1 ? argv[1] : machineHas("avx512") ? "avx512" : "avx2";
  int repetitions = argc > 2 ? std::max(1, std::atoi(argv[2])) : 15;
  if (!machineHas(isa)) {
    std::fprintf(stderr, "expected an instruction set of this machine, but got %s\n", isa.c_str());
    return 1;
  }
  mlir::MLIRContext context;
  for (const Row &row : rows())
    if (argc <= 3 || std::strstr(row.name, argv[3]))
      measure(context, row, isa, repetitions);
  return 0;
}
