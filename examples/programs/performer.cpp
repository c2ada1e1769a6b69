//===- performer.cpp - A C++ program that calls a compiled attention ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FAVOR+ of examples/performer.yaml, whose random features are a parameter, on a padded batch; and the same from its
// definition:
//
//     attnc compile examples/performer.yaml
//     c++ -std=c++17 -I. examples/programs/performer.cpp libperformer.so -Wl,-rpath,'$ORIGIN' -o performer && ./performer
//
//===----------------------------------------------------------------------===//
#include "performer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

constexpr int64_t batch = 2, heads = 4, queries = 70, keys = 150, width = 48, features = 160;

/// A row-major tensor that owns its elements, seen through a DLTensor.
template <typename T> struct Tensor {
  explicit Tensor(std::vector<int64_t> sizes, uint8_t code = kDLFloat) : shape(std::move(sizes)) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    data.resize(count);
    view = {data.data(), {kDLCPU, 0}, int32_t(shape.size()), {code, 8 * sizeof(T), 1}, shape.data(), nullptr, 0};
  }
  Tensor(const Tensor &) = delete;

  std::vector<int64_t> shape;
  std::vector<T> data;
  DLTensor view;
};

/// Turns a status into an exception that carries the library's message.
static void check(attune_status status) {
  if (status)
    throw std::runtime_error(performer_message());
}

class Performer {
public:
  explicit Performer(const Tensor<float> &omega) {
    performer_handle *made = nullptr;
    check(performer_create(nullptr, &made));
    handle.reset(made);
    performer_parameters parameters = PERFORMER_PARAMETERS_INIT;
    parameters.omega = &omega.view;
    check(performer_prepare(made, &parameters));
  }

  void operator()(const performer_tensors &tensors) {
    size_t bytes = 0;
    check(performer_workspace(handle.get(), &tensors, &bytes));
    workspace.resize(bytes + ATTUNE_WORKSPACE_ALIGNMENT);
    void *start = workspace.data();
    size_t room = workspace.size();
    std::align(ATTUNE_WORKSPACE_ALIGNMENT, bytes, start, room);
    check(performer_run(handle.get(), &tensors, start, bytes, nullptr));
  }

private:
  struct Destroy {
    void operator()(performer_handle *handle) const { performer_destroy(handle); }
  };
  std::unique_ptr<performer_handle, Destroy> handle;
  std::vector<char> workspace; // kept from run to run
};

/// exp(omega x' - |x'|^2 / 2) with x' = x / width^(1/4), for one row.
static std::vector<double> featuresOf(const float *x, const std::vector<float> &omega) {
  double root = std::pow(double(width), -0.25), square = 0;
  for (int64_t c = 0; c < width; ++c)
    square += root * x[c] * root * x[c];
  std::vector<double> phi(features);
  for (int64_t r = 0; r < features; ++r) {
    double product = 0;
    for (int64_t c = 0; c < width; ++c)
      product += root * x[c] * omega[r * width + c];
    phi[r] = std::exp(product - square / 2);
  }
  return phi;
}

/// Largest difference of `o` from sum_j w_j v_j / sum_j w_j, w_j = phi(q) . phi(k_j), over the keys that exist.
static double largestDifference(const Tensor<float> &q, const Tensor<float> &k, const Tensor<float> &v,
                                const Tensor<int32_t> &lengths, const Tensor<float> &omega, const Tensor<float> &o) {
  double largest = 0;
  for (int64_t h = 0; h < batch * heads; ++h) {
    int64_t exist = lengths.data[h / heads];
    std::vector<std::vector<double>> phi;
    for (int64_t j = 0; j < exist; ++j)
      phi.push_back(featuresOf(&k.data[(h * keys + j) * width], omega.data));
    for (int64_t i = 0; i < queries; ++i) {
      std::vector<double> of = featuresOf(&q.data[(h * queries + i) * width], omega.data), sums(width);
      double total = 0;
      for (int64_t j = 0; j < exist; ++j) {
        double w = 0;
        for (int64_t r = 0; r < features; ++r)
          w += of[r] * phi[j][r];
        total += w;
        for (int64_t c = 0; c < width; ++c)
          sums[c] += w * v.data[(h * keys + j) * width + c];
      }
      for (int64_t c = 0; c < width; ++c)
        largest = std::max(largest, std::abs(sums[c] / total - o.data[(h * queries + i) * width + c]));
    }
  }
  return largest;
}

int main() try {
  Tensor<float> q({batch, heads, queries, width}), k({batch, heads, keys, width}), v({batch, heads, keys, width});
  Tensor<float> omega({1, features, width}), o({batch, heads, queries, width});
  Tensor<int32_t> lengths({batch}, kDLInt);
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  for (Tensor<float> *tensor : {&q, &k, &v, &omega})
    std::generate(tensor->data.begin(), tensor->data.end(), [&] { return normal(bits); });
  lengths.data = {keys, 99};
  lengths.view.data = lengths.data.data();

  Performer attend(omega);
  performer_tensors tensors = PERFORMER_TENSORS_INIT;
  tensors.q = &q.view, tensors.k = &k.view, tensors.v = &v.view;
  tensors.key_lengths = &lengths.view, tensors.o = &o.view;
  attend(tensors);

  double difference = largestDifference(q, k, v, lengths, omega, o);
  std::printf("%d queries, %d and 99 keys: largest difference from the definition %.1e\n", int(queries), int(keys),
              difference);
  return difference < 1e-5 ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return EXIT_FAILURE;
}
