//===- PtxMove.cpp - Moves and addresses, 9.7.9.3 to 9.7.9.7 and 9.7.9.20 -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

using namespace attune::ptx;
using namespace llvm;

//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

/// 10: special registers have 32 bits.
static Value *specialRegister(Emitter &e, const Operand &source, DataType type) {
  std::string name = source.name.str();
  if (size_t place = name.find('_'); place != std::string::npos)
    name[place] = '.'; // lanemask_lt
  if (type.bits != 32)
    e.fail("expected 32 bits of special register '" + source.name + "'");
  return e.device("llvm.nvvm.read.ptx.sreg." + name, e.bits(32), {});
}

/// The parts of a vector that packs or unpacks `type`: the first is the lowest.
static DataType partOf(Emitter &e, const Operand &vector, DataType type) {
  DataType part{DataType::Bits, vector.parts.empty() ? 0 : unsigned(type.bits / vector.parts.size())};
  if ((part.bits != 16 && part.bits != 32) || part.bits * vector.parts.size() != type.bits || type.bits == 16)
    e.fail("expected a vector whose parts make up the type");
  return part;
}

/// 9.7.9.4: mov.type d, {a, …}
static void pack(Emitter &e, const Operand &vector, DataType type) {
  DataType part = partOf(e, vector, type);
  if (e.failed())
    return;
  Value *whole = e.number(type.bits, 0);
  for (unsigned i = 0; i < vector.parts.size(); ++i) {
    Value *bits = e.builder.CreateZExt(e.read(vector.parts[i], part), e.bits(type.bits));
    whole = e.builder.CreateOr(whole, e.builder.CreateShl(bits, i * part.bits));
  }
  e.write(0, type, whole);
}

/// 9.7.9.4: mov.type {d, …}, a
static void unpack(Emitter &e, const Operand &vector, DataType type) {
  DataType part = partOf(e, vector, type);
  if (e.failed())
    return;
  Value *whole = e.read(1, type);
  for (unsigned i = 0; i < vector.parts.size(); ++i)
    e.write(vector.parts[i], part,
            e.builder.CreateTrunc(e.builder.CreateLShr(whole, i * part.bits), e.bits(part.bits)));
}

/// 9.7.9.3: mov.type d, a, a being a register, a constant, a special register or the address of a variable.
static void move(Emitter &e) {
  DataType type = e.typeOf({"pred", "b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"});
  e.end(2);
  const Operand &source = e.operand(1);
  bool untyped = type.kind == DataType::Bits;
  if (source.kind == Operand::Vector && untyped)
    return pack(e, source, type);
  if (e.operand(0).kind == Operand::Vector && untyped)
    return unpack(e, e.operand(0), type);
  if (source.kind == Operand::Special)
    return e.write(0, type, specialRegister(e, source, type));
  if (source.kind != Operand::Name)
    return e.write(0, type, e.read(1, type));
  if (!type.isInteger() || type.bits < 32)
    e.fail("expected 32 or 64 bits of an address");
  Space space = Space::Global;
  Value *address = e.variableAddress(source, &space);
  if (type.bits == 32 && space != Space::Shared)
    e.fail("expected 64 bits of an address outside shared memory");
  e.write(0, type, e.builder.CreateTrunc(address, e.bits(type.bits)));
}

//===----------------------------------------------------------------------===//
// cvta, prmt
//===----------------------------------------------------------------------===//

/// 9.7.9.20: cvta.space.u64 p, a makes an address generic; cvta.to.space.u64 p, a is the other way. a may be a
/// variable.
static void convertAddress(Emitter &e) {
  bool back = e.modifier("to");
  StringRef name = e.modifierOf({"global", "const", "shared", "shared::cta"});
  e.require("u64");
  e.end(2);
  Space space = name.starts_with("shared") ? Space::Shared : Space::Global, where = space;
  bool variable = !back && e.operand(1).kind == Operand::Name;
  Value *address = variable ? e.variableAddress(e.operand(1), &where) : e.read(1, u64);
  if ((where == Space::Shared) != (space == Space::Shared))
    e.fail("expected a variable of the instruction's state space, but got '" + e.operand(1).name + "'");
  if (space == Space::Shared && back)
    address = e.builder.CreateSub(address, e.number(64, e.sharedBase));
  e.write(0, u64, back ? address : e.toHost(address, space));
}

/// 9.7.9.7: prmt.b32 d, a, b, c: byte i of d is that of {b, a} which nibble i of c numbers (a has 0 to 3); with the
/// nibble's high bit, eight times the sign of that byte.
static void permute(Emitter &e) {
  e.require("b32");
  e.end(4);
  auto &builder = e.builder;
  auto widen = [&](Value *value) { return builder.CreateZExt(value, e.bits(64)); };
  Value *bytes = builder.CreateOr(widen(e.read(1, b32)), builder.CreateShl(widen(e.read(2, b32)), 32));
  Value *selection = e.read(3, b32), *result = e.number(32, 0);
  for (unsigned i = 0; i < 4; ++i) {
    Value *nibble = builder.CreateLShr(selection, 4 * i);
    Value *by = builder.CreateShl(widen(builder.CreateAnd(nibble, 7)), 3);
    Value *byte = builder.CreateTrunc(builder.CreateLShr(bytes, by), e.bits(8));
    Value *sign = builder.CreateAShr(byte, 7), *signs = builder.CreateTrunc(builder.CreateLShr(nibble, 3), e.bits(1));
    Value *chosen = builder.CreateZExt(builder.CreateSelect(signs, sign, byte), e.bits(32));
    result = builder.CreateOr(result, builder.CreateShl(chosen, 8 * i));
  }
  e.write(0, b32, result);
}

void attune::ptx::addMoveHandlers(HandlerTable &table) {
  table["mov"] = move;
  table["cvta"] = convertAddress;
  table["prmt"] = permute;
}
