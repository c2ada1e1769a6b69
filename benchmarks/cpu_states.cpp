//===- cpu_states.cpp - Sums of outer products as fractions of the FMA peak ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cpu_states [isa [repetitions]]: a loop over the tokens that carries a state of m × n, acc += aᵀ b with 64 tokens a
// step, as the kernels of linear attention do. States too large for the first-level cache are what it is about: 1,024
// features and 64 values with the sum of the weights. Peak and medians as in cpu_kernels.
//
//===----------------------------------------------------------------------===//
#include "Jit.h"
#include "Peak.h"

#include <cstdio>
#include <cstdlib>
#include <random>

using namespace attune::test;

namespace {
struct State {
  int64_t features, values;
  bool computed; ///< the features are computed in each step, else read where they are
};
} // namespace

/// Tokens of a run, over and over the rows of a memory that stays in the second-level cache.
static constexpr int64_t tokens = 2048, rowsInMemory = 128;

static std::string source(const State &state) {
  std::string m = std::to_string(state.features), n = std::to_string(state.values);
  std::string arguments = "%A: memref<?x" + m + "xf32>, %B: memref<?x" + n + "xf32>, %C: memref<?x" + n + "xf32>";
  std::string a = "tensor<64x" + m + "xf32>", b = "tensor<64x" + n + "xf32>", c = "tensor<" + m + "x" + n + "xf32>";
  return "tile.kernel @kernel(" + arguments + ") grid(batch) {\n%c0 = arith.constant 0 : index\n" +
         "%cycle = memref.dim %A, %c0 : memref<?x" + m + "xf32>\n%rows = arith.constant " + std::to_string(tokens) +
         " : index\n%zero = arith.constant dense<0.0> : " + c +
         "\n%sum = tile.loop #tile.sum %t = %c0 to %rows step 64 carries(%acc = %zero) : (" + c +
         ") {\n%j = arith.remui %t, %cycle : index\n%l = tile.load %A[%j, %c0] : memref<?x" + m + "xf32> -> " + a +
         "\n%v = tile.load %B[%j, %c0] : memref<?x" + n + "xf32> -> " + b +
         (state.computed ? "\n%a = arith.mulf %l, %l : " + a : "") + "\n%next = tile.dot " +
         (state.computed ? "%a" : "%l") + ", %v, %acc {transpose_a} : " + a + ", " + b + " -> " + c +
         "\ntile.yield %next : " + c + "\n}\ntile.store %sum, %C[%c0, %c0] : " + c + ", memref<?x" + n +
         "xf32>\ntile.return\n}\nfunc.func @plan(" + arguments +
         ") {\n%c1 = arith.constant 1 : index\ntile.launch @kernel grid(%c1) (%A, %B, %C) : memref<?x" + m +
         "xf32>, memref<?x" + n + "xf32>, memref<?x" + n + "xf32>\nreturn\n}\n";
}

static Tensor matrix(std::vector<float> &memory, int64_t rows, int64_t columns) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  memory.resize(rows * columns);
  for (float &element : memory)
    element = normal(random);
  return {memory.data(), {rows, columns}, {columns, 1}};
}

static void measure(mlir::MLIRContext &context, const State &state, const std::string &isa, int repetitions) {
  std::vector<float> a, b, c;
  std::vector<Tensor> arguments = {matrix(a, rowsInMemory, state.features), matrix(b, rowsInMemory, state.values),
                                   matrix(c, state.features, state.values)};
  Jit jit(context, source(state), {isa});
  jit.checked = false;
  jit.run("plan", isa, arguments);
  std::vector<double> fractions, rates;
  for (int i = 0; i < repetitions; ++i) {
    double before = peak(isa), start = now();
    jit.run("plan", isa, arguments);
    double rate = 2.0 * double(tokens * state.features * state.values) / (now() - start);
    rates.push_back(rate);
    fractions.push_back(rate / std::max(before, peak(isa)));
  }
  std::printf("%4lldx%-4lld %-9s %-7s %6.1f GFLOP/s  %.3f of peak\n", static_cast<long long>(state.features),
              static_cast<long long>(state.values), state.computed ? "computed" : "in place", isa.c_str(),
              median(rates) / 1e9, median(fractions));
}

int main(int argc, char **argv) {
  std::string isa = argc > 1 ? argv[1] : machineHas("avx512") ? "avx512" : "avx2";
  int repetitions = argc > 2 ? std::max(1, std::atoi(argv[2])) : 15;
  if (!machineHas(isa)) {
    std::fprintf(stderr, "expected an instruction set of this machine, but got %s\n", isa.c_str());
    return 1;
  }
  mlir::MLIRContext context;
  for (auto [features, values] : {std::pair<int64_t, int64_t>(64, 65), {256, 65}, {1024, 64}, {1024, 65}, {1000, 65}})
    for (bool computed : {false, true})
      measure(context, {features, values, computed}, isa, repetitions);
  return 0;
}
