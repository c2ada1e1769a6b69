//===- Decode.cpp - AMX instructions from their bytes ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   c4  RXB mmmmm  W vvvv L pp  opcode  ModRM  [SIB]  [displacement]
//
// with R, X, B and vvvv inverted; map 0f 38 (mmmmm = 2), W = 0, L = 0. pp stands for the prefix: 0 none, 1 is 66, 2 is
// f3, 3 is f2. Tiles are tmm0 to tmm7, so R does not occur with tiles.
//
//===----------------------------------------------------------------------===//
#include "TrapEmulator.h"

#include <cstring>

using namespace attune::test::amx;

const char *attune::test::amx::nameOf(Operation operation) {
  switch (operation) {
  case Operation::LoadConfig:
    return "ldtilecfg";
  case Operation::StoreConfig:
    return "sttilecfg";
  case Operation::Release:
    return "tilerelease";
  case Operation::Zero:
    return "tilezero";
  case Operation::Load:
    return "tileloadd";
  case Operation::Store:
    return "tilestored";
  case Operation::Product:
    return "tdpbf16ps";
  }
  return "";
}

/// Which operation it is, by opcode, prefix and whether ModRM names memory.
static std::optional<Operation> operationOf(uint8_t opcode, unsigned prefix, uint8_t modRm) {
  bool memory = modRm >> 6 != 3, sib = (modRm & 7) == 4;
  if (opcode == 0x49 && memory && (modRm >> 3 & 7) == 0)
    return prefix == 0   ? std::optional(Operation::LoadConfig)
           : prefix == 1 ? std::optional(Operation::StoreConfig)
                         : std::nullopt;
  if (opcode == 0x49 && prefix == 0 && modRm == 0xc0)
    return Operation::Release;
  if (opcode == 0x49 && prefix == 3 && !memory && (modRm & 7) == 0)
    return Operation::Zero;
  if (opcode == 0x4b && memory && sib)
    return prefix == 1 || prefix == 3 ? std::optional(Operation::Load)
           : prefix == 2              ? std::optional(Operation::Store)
                                      : std::nullopt;
  if (opcode == 0x5c && prefix == 2 && !memory)
    return Operation::Product;
  return std::nullopt;
}

/// The address behind ModRM; `x` and `b` are the high bits of index and base.
static void decodeAddress(const uint8_t *code, unsigned x, unsigned b, Instruction &result) {
  const uint8_t *at = code + 5;
  unsigned mode = code[4] >> 6, rm = code[4] & 7;
  bool noBase = mode == 0 && rm == 5;
  result.fromNext = noBase;
  result.base = noBase ? -1 : static_cast<int>(rm | b << 3);
  if (rm == 4) {
    uint8_t sib = *at++;
    unsigned index = (sib >> 3 & 7) | x << 3;
    noBase = mode == 0 && (sib & 7) == 5;
    result.base = noBase ? -1 : static_cast<int>((sib & 7) | b << 3);
    result.index = index == 4 ? -1 : static_cast<int>(index);
    result.scale = sib >> 6;
  }
  if (mode == 1)
    result.displacement = static_cast<int8_t>(*at++);
  if (mode == 2 || noBase) {
    int32_t displacement;
    std::memcpy(&displacement, at, sizeof(displacement));
    result.displacement = displacement;
    at += sizeof(displacement);
  }
  result.bytes = at - code;
}

std::optional<Instruction> attune::test::amx::decode(const uint8_t *code) {
  unsigned prefix = code[2] & 3;
  // W = 0, L = 0, map 2.
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || code[2] & 0x84)
    return std::nullopt;
  std::optional<Operation> operation = operationOf(code[3], prefix, code[4]);
  if (!operation)
    return std::nullopt;
  Instruction result{*operation};
  result.tile = code[4] >> 3 & 7;
  result.bytes = 5;
  if (code[4] >> 6 != 3)
    decodeAddress(code, ~code[1] >> 6 & 1, ~code[1] >> 5 & 1, result);
  result.first = code[4] & 7;
  result.second = ~code[2] >> 3 & 7;
  return result;
}
