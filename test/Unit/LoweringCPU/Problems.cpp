//===- Problems.cpp - Attention problems and their definition in float64 -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Problems.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace attune::test;

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

static std::string tensorType(std::vector<int64_t> sizes, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

static std::string kernelAttention(const Problem &p, const std::string &q, const std::string &k, const std::string &v,
                                   const std::string &o) {
  std::string lengths = p.lengths ? " lengths(%l : tensor<?xi32>)" : "";
  std::string q32 = tensorType({-1, p.heads, -1, p.width}, "f32"),
              k32 = tensorType({-1, p.sharedHeads, -1, p.width}, "f32");
  std::string o32 = tensorType({-1, p.heads, -1, p.valueWidth}, "f32"), den = tensorType({-1, p.heads, -1}, "f32");
  std::string S = tensorType({-1, p.sharedHeads, p.width, p.valueWidth}, "f32");
  std::string z = tensorType({-1, p.sharedHeads, p.width}, "f32"), w = tensorType({-1, p.heads, -1, -1}, "f32");
  std::string map = "{feature_map = #attn.feature_map<elu1>}";
  std::string text = "%a = attn.map %q " + map + " : " + q + " -> " + q32 + "\n%b = attn.map %k" + lengths + " " + map +
                     " : " + k + " -> " + k32 + "\n";
  if (p.form == "state")
    text += "%S, %z = attn.state %b, %v" + lengths + " : " + k32 + ", " + v + " -> " + S + ", " + z +
            "\n%num, %den = attn.readout %a, %S, %z : " + q32 + ", " + S + ", " + z + " -> " + o32 + ", " + den + "\n";
  if (p.form == "chunked")
    text += "%num, %den, %S, %z = attn.causal_readout %a, %b, %v" + lengths + " : " + q32 + ", " + k32 + ", " + v +
            " -> " + o32 + ", " + den + ", " + S + ", " + z + "\n";
  if (p.form == "quadratic") {
    bool masked = p.causal || p.lengths;
    text +=
        "%w0 = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, "
        "key] : " +
        q32 + ", " + k32 + " -> " + w + "\n";
    if (masked)
      text += "%w = attn.visible %w0" + lengths + (p.causal ? " {causal}" : "") + " : " + w + "\n";
    std::string weights = masked ? "%w" : "%w0";
    text += "%num = attn.contract " + weights +
            "[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, "
            "query, value] : " +
            w + ", " + v + " -> " + o32 + "\n%den = attn.row_sum " + weights + " : " + w + " -> " + den + "\n";
  }
  return text + "%o = attn.normalize %num, %den {guard = #attn.denominator<bias = 1.0e-6, floor = 0.0>} : " + o32 +
         ", " + den + " -> " + o + "\n";
}

std::string Problem::source() const {
  std::string text = sourceOfAnySize();
  if (!fixedSizes)
    return text;
  // In the order of the spec: q, k, v, l, then the results.
  auto fix = [&](const std::string &dynamic, int64_t rows) {
    std::string sizes = "tensor<" + std::to_string(batch) + "x" + dynamic + "x" + std::to_string(rows) + "x";
    for (std::string from = "tensor<?x" + dynamic + "x?x"; text.find(from) != std::string::npos;)
      text.replace(text.find(from), from.size(), sizes);
  };
  fix(std::to_string(heads), queries);
  for (std::string from = "tensor<?xi32>"; text.find(from) != std::string::npos;)
    text.replace(text.find(from), from.size(), "tensor<" + std::to_string(batch) + "xi32>");
  return text;
}

std::string Problem::sourceOfAnySize() const {
  std::string q = tensorType({-1, heads, -1, width}, dtype), k = tensorType({-1, sharedHeads, -1, width}, dtype);
  std::string v = tensorType({-1, sharedHeads, -1, valueWidth}, dtype),
              o = tensorType({-1, heads, -1, valueWidth}, dtype);
  std::string l = tensorType({-1, heads, -1}, "f32");
  std::string text = "func.func @plan(%q: " + q + ", %k: " + k + ", %v: " + v + (lengths ? ", %l: tensor<?xi32>" : "") +
                     ") -> (" + o + (lse ? ", " + l : "") +
                     ") attributes {tile.schedule = #tile.schedule<target = cpu, " +
                     "query_tile = " + std::to_string(queryTile) + ", key_tile = " + std::to_string(keyTile) +
                     ", piece = " + std::to_string(piece) + ", operand = " + (dtype == "bf16" ? "bf16" : "f32") +
                     ", warps = 1, stages = 1" + (keyPieces > 1 ? ", parts = " + std::to_string(keyPieces) : "") + ">} {\n";
  if (form == "softmax")
    text += std::string(lse ? "%o, %x" : "%o") + " = attn.softmax %q, %k, %v" +
            (lengths ? " lengths(%l : tensor<?xi32>)" : "") + " {" + (causal ? "causal, " : "") + (keyPieces > 1 ? "execution = #attn.execution<split = true>, " : "") +
            "scale = " + std::to_string(1 / std::sqrt(double(width))) + " : f64} : " + q + ", " + k + ", " + v +
            " -> " + o + (lse ? ", lse " + l : "") + "\n";
  else
    text += kernelAttention(*this, q, k, v, o);
  return text + "return %o" + (lse ? ", %x : " + o + ", " + l : " : " + o) + "\n}\n";
}

double Problem::usefulOperations() const {
  double pairs = double(queries) * double(keys) * (causal ? 0.5 : 1), d = width, dv = valueWidth;
  double each =
      form == "softmax" || form == "quadratic" ? 2 * pairs * (d + dv) : 2 * double(queries + keys) * d * (dv + 1);
  return each * double(batch * heads);
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

static size_t elementBytes(const std::string &dtype) { return dtype == "f32" ? 4 : 2; }

Storage::Storage(const Problem &p, int64_t heads, int64_t rows, int64_t columns, bool atEnd)
    : memory(size_t(p.batch * heads * rows * columns) * elementBytes(p.dtype), atEnd), dtype(p.dtype) {
  tensor.data = memory.data();
  tensor.sizes = {p.batch, heads, rows, columns};
  if (p.tokensFirst)
    tensor.strides = {heads * rows * columns, columns, heads * columns, 1};
  else
    tensor.strides = {heads * rows * columns, rows * columns, columns, 1};
}

int64_t Storage::place(int64_t b, int64_t h, int64_t row, int64_t column) const {
  return b * tensor.strides[0] + h * tensor.strides[1] + row * tensor.strides[2] + column;
}

std::vector<double> Storage::values() const {
  std::vector<double> result;
  for (int64_t b = 0; b < tensor.sizes[0]; ++b)
    for (int64_t h = 0; h < tensor.sizes[1]; ++h)
      for (int64_t row = 0; row < tensor.sizes[2]; ++row)
        for (int64_t column = 0; column < tensor.sizes[3]; ++column)
          result.push_back(get(b, h, row, column));
  return result;
}

double Storage::get(int64_t b, int64_t h, int64_t row, int64_t column) const {
  int64_t at = place(b, h, row, column);
  if (dtype == "f32")
    return static_cast<float *>(tensor.data)[at];
  if (dtype == "f16")
    return static_cast<double>(static_cast<_Float16 *>(tensor.data)[at]);
  uint32_t bits = uint32_t(static_cast<uint16_t *>(tensor.data)[at]) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

void Storage::set(int64_t b, int64_t h, int64_t row, int64_t column, double value) {
  int64_t at = place(b, h, row, column);
  if (dtype == "f32") {
    static_cast<float *>(tensor.data)[at] = static_cast<float>(value);
  } else if (dtype == "f16") {
    static_cast<_Float16 *>(tensor.data)[at] = static_cast<_Float16>(value);
  } else {
    float narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    static_cast<uint16_t *>(tensor.data)[at] = uint16_t(bits >> 16); // any bf16 will do
  }
}

Data::Data(const Problem &p, unsigned seed, double magnitude, bool atEnd)
    : problem(p), query(p, p.heads, p.queries, p.width, atEnd), key(p, p.sharedHeads, p.keys, p.width, atEnd),
      value(p, p.sharedHeads, p.keys, p.valueWidth, atEnd), output(p, p.heads, p.queries, p.valueWidth, atEnd),
      lengthMemory(size_t(p.batch) * 4), lseMemory(size_t(p.batch * p.heads * p.queries) * 4) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, magnitude);
  auto fill = [&](Storage &storage, int64_t from, int64_t b) {
    for (int64_t h = 0; h < storage.tensor.sizes[1]; ++h)
      for (int64_t row = 0; row < storage.tensor.sizes[2]; ++row)
        for (int64_t column = 0; column < storage.tensor.sizes[3]; ++column)
          storage.set(b, h, row, column, row < from ? normal(random) : NAN);
  };
  for (int64_t b = 0; b < p.batch; ++b) {
    int64_t length = !p.lengths || b + 1 == p.batch ? p.keys : b == 0 ? 0 : int64_t(random() % (p.keys + 1));
    if (p.lengths && p.batch == 1)
      length = int64_t(random() % (p.keys + 1));
    lengths.push_back(length);
    static_cast<int32_t *>(lengthMemory.data())[b] = int32_t(length);
    fill(query, p.queries, b);
    // Rows that do not exist are NaN.
    fill(key, length, b);
    fill(value, length, b);
  }
}

std::vector<Tensor> Data::arguments() const {
  std::vector<Tensor> result{query.tensor, key.tensor, value.tensor};
  if (problem.lengths)
    result.push_back({lengthMemory.data(), {problem.batch}, {1}});
  result.push_back(output.tensor);
  if (problem.lse)
    result.push_back({lseMemory.data(),
                      {problem.batch, problem.heads, problem.queries},
                      {problem.heads * problem.queries, problem.queries, 1}});
  return result;
}

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

namespace {
/// A row of the output as the definition has it.
struct Row {
  std::vector<double> values;
  double lse = -INFINITY;
};
} // namespace

static double feature(double x) { return x > 0 ? x + 1 : std::exp(x); }

static std::vector<double> features(std::vector<double> values, const Problem &p) {
  if (p.form != "softmax")
    for (double &value : values)
      value = feature(value);
  return values;
}

static Row rowOf(const Data &data, const std::vector<double> &query, const std::vector<double> &key,
                 const std::vector<double> &value, int64_t b, int64_t h, int64_t i) {
  const Problem &p = data.problem;
  int64_t g = h / (p.heads / p.sharedHeads), end = data.lengths[b];
  if (p.causal || p.form == "chunked")
    end = std::min(end, i + p.keys - p.queries + 1);
  const double *q = query.data() + ((b * p.heads + h) * p.queries + i) * p.width;
  const double *k = key.data() + (b * p.sharedHeads + g) * p.keys * p.width;
  const double *v = value.data() + (b * p.sharedHeads + g) * p.keys * p.valueWidth;
  std::vector<double> logits;
  double largest = -INFINITY;
  for (int64_t j = 0; j < end; ++j) {
    double sum = 0;
    for (int64_t w = 0; w < p.width; ++w)
      sum += q[w] * k[j * p.width + w];
    logits.push_back(p.form == "softmax" ? sum / std::sqrt(double(p.width)) : sum);
    largest = std::max(largest, logits.back());
  }
  Row row;
  row.values.assign(p.valueWidth, 0);
  double total = 0;
  for (int64_t j = 0; j < int64_t(logits.size()); ++j) {
    double weight = p.form == "softmax" ? std::exp(logits[j] - largest) : logits[j];
    total += weight;
    for (int64_t w = 0; w < p.valueWidth; ++w)
      row.values[w] += weight * v[j * p.valueWidth + w];
  }
  double divisor = p.form == "softmax" ? total : total + 1e-6;
  for (double &element : row.values)
    element = divisor == 0 ? 0 : element / divisor;
  if (total > 0)
    row.lse = largest + std::log(total);
  return row;
}

double Data::error() const {
  const Problem &p = problem;
  std::vector<double> q = features(query.values(), p), k = features(key.values(), p), v = value.values();
  std::vector<double> o = output.values();
  const float *lse = static_cast<const float *>(lseMemory.data());
  double wrong = 0, norm = 0, worstLse = 0;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.queries; ++i) {
        Row row = rowOf(*this, q, k, v, b, h, i);
        int64_t at = (b * p.heads + h) * p.queries + i;
        for (int64_t w = 0; w < p.valueWidth; ++w) {
          double difference = o[at * p.valueWidth + w] - row.values[w];
          wrong += difference * difference, norm += row.values[w] * row.values[w];
        }
        if (!p.lse || lse[at] == row.lse)
          continue;
        if (std::isnan(lse[at]))
          return INFINITY;
        worstLse = std::max(worstLse, std::abs(lse[at] - row.lse) / (1 + std::abs(row.lse)));
      }
  double error = norm == 0 ? std::sqrt(wrong) : std::sqrt(wrong / norm);
  return std::isnan(error) ? INFINITY : std::max(error, worstLse);
}
