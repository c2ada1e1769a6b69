//===- OnnxBytes.h - ONNX models by hand ----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages of onnx.proto as bytes, a function a message.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_ONNX_ONNXBYTES_H
#define ATTUNE_TEST_UNIT_ONNX_ONNXBYTES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace attune::test {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

inline std::string number(uint64_t field, int64_t value) {
  return varint(field << 3) + varint(static_cast<uint64_t>(value));
}

inline std::string bytes(uint64_t field, const std::string &value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

inline std::string fixed(uint64_t field, float value) {
  std::string word(4, '\0');
  std::memcpy(word.data(), &value, 4);
  return varint(field << 3 | 5) + word;
}

inline std::string integer(const std::string &name, int64_t value) {
  return bytes(5, bytes(1, name) + number(3, value) + number(20, 2));
}
inline std::string real(const std::string &name, float value) {
  return bytes(5, bytes(1, name) + fixed(2, value) + number(20, 1));
}
inline std::string text(const std::string &name, const std::string &value) {
  return bytes(5, bytes(1, name) + bytes(4, value) + number(20, 3));
}

/// Of an input of a graph; a size of 0 is open.
inline std::string tensor(const std::string &name, const std::vector<int64_t> &shape, int64_t element = 1) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += bytes(1, size ? number(1, size) : bytes(2, "open"));
  return bytes(11, bytes(1, name) + bytes(2, bytes(1, number(1, element) + bytes(2, sizes))));
}

inline std::string node(const std::string &op, const std::string &name, const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs, const std::string &attributes = "",
                        const std::string &domain = "") {
  std::string made;
  for (const std::string &input : inputs)
    made += bytes(1, input);
  for (const std::string &output : outputs)
    made += bytes(2, output);
  return bytes(1, made + bytes(3, name) + bytes(4, op) + attributes + bytes(7, domain));
}

inline std::string model(const std::string &graph, int64_t opset = 27) {
  return number(1, 11) + bytes(8, number(2, opset)) + bytes(7, graph);
}

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_ONNX_ONNXBYTES_H
