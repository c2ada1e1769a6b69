//===- PtxOperands.cpp - Modifiers and operands of PTX instructions -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"
#include "PtxTranslate.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune::ptx;
using namespace llvm;
using Instruction = attune::ptx::Instruction;

//===----------------------------------------------------------------------===//
// Faults and modifiers
//===----------------------------------------------------------------------===//

void Emitter::fail(const Twine &message) {
  if (problem.empty())
    problem = message.str();
}

void Emitter::needs(unsigned version, unsigned target, bool specific) {
  if (source.version < version)
    fail("expected .version " + Twine(version / 10) + "." + Twine(version % 10) + " or later for this instruction");
  if (source.target < target || (specific && !(source.specific && source.target == target)))
    fail("expected .target sm_" + Twine(target) + (specific ? "a" : " or later") + " for this instruction");
}

StringRef Emitter::nextModifier() const {
  return taken < current->modifiers.size() ? current->modifiers[taken] : StringRef();
}

bool Emitter::modifier(StringRef name) {
  bool there = nextModifier() == name;
  taken += there;
  return there;
}

StringRef Emitter::optionalModifier(ArrayRef<StringRef> names) {
  StringRef next = nextModifier();
  if (next.empty() || !is_contained(names, next))
    return "";
  ++taken;
  return next;
}

StringRef Emitter::modifierOf(ArrayRef<StringRef> names) {
  StringRef found = optionalModifier(names);
  if (found.empty()) {
    std::string list;
    for (StringRef name : names)
      list += (list.empty() ? "." : ", .") + name.str();
    fail("expected " + Twine(names.size() > 1 ? "one of " : "") + list + ", but got " +
         (nextModifier().empty() ? "no modifier" : "'." + nextModifier().str() + "'"));
    return names.front();
  }
  return found;
}

void Emitter::require(StringRef names) {
  for (StringRef name : split(names, '.'))
    modifierOf(name);
}

DataType Emitter::typeOf(ArrayRef<StringRef> names) { return parseType(modifierOf(names)); }

void Emitter::end(unsigned least, unsigned most) {
  if (taken < current->modifiers.size())
    fail("modifier that is not modelled here: '." + nextModifier() + "'");
  if (operandCount() < least || operandCount() > most)
    fail("expected " + Twine(least) + (least == most ? "" : " … " + Twine(most).str()) + " operands, but got " +
         Twine(operandCount()));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

const Operand &Emitter::operand(unsigned index) const {
  static const Operand none;
  return index < current->operands.size() ? current->operands[index] : none;
}

/// 9.4: sizes are equal, and untyped bits go with all types of their size.
bool Emitter::fits(DataType registerType, DataType type) const {
  auto isFloat = [](DataType type) { return type.kind == DataType::Float || type.kind == DataType::Bfloat; };
  auto isNumber = [](DataType type) { return type.kind == DataType::Unsigned || type.kind == DataType::Signed; };
  if (registerType.bits != type.bits || (registerType == predicate) != (type == predicate))
    return false;
  return !(isFloat(registerType) && isNumber(type)) && !(isNumber(registerType) && isFloat(type));
}

Value *Emitter::read(const Operand &operand, DataType type) {
  Value *none = Constant::getNullValue(bits(type.bits ? type.bits : 32));
  switch (operand.kind) {
  case Operand::Register: {
    if (!fits(operand.type, type)) {
      fail("expected a register of this instruction's type, but got '" + operand.name + "'");
      return none;
    }
    useRegister(operand.number);
    auto *value = cast<llvm::Instruction>(load(registerOf(operand)));
    readers[value] = {current, operand.name};
    return operand.negated ? builder.CreateNot(value) : static_cast<Value *>(value);
  }
  case Operand::Integer: {
    bool fitsSigned = isIntN(type.bits, int64_t(operand.bits)), fitsUnsigned = isUIntN(type.bits, operand.bits);
    if ((type == predicate ? operand.bits > 1 : !type.isInteger()) || (!fitsSigned && !fitsUnsigned))
      fail("expected a constant of this instruction's type, but got " + Twine(int64_t(operand.bits)));
    return ConstantInt::get(context, APInt(64, operand.bits).trunc(type.bits ? type.bits : 32));
  }
  case Operand::Float:
    if (type.bits != operand.type.bits || (type.kind != DataType::Float && type.kind != DataType::Bits)) {
      fail("expected a constant of this instruction's type, but got a floating-point number");
      return none;
    }
    return number(type.bits, operand.bits);
  default:
    fail(operand.kind == Operand::Special || operand.kind == Operand::Name
             ? "expected a register or a constant, but got '" + operand.name + "'"
             : Twine("expected a register or a constant here"));
    return none;
  }
}

Type *Emitter::floatType(DataType type) {
  return type.kind == DataType::Bfloat ? Type::getBFloatTy(context)
         : type.bits == 16             ? Type::getHalfTy(context)
         : type.bits == 64             ? Type::getDoubleTy(context)
                                       : Type::getFloatTy(context);
}

Value *Emitter::readFloat(unsigned index, DataType type) {
  return builder.CreateBitCast(read(index, type), floatType(type));
}

Value *Emitter::readNarrow(const Operand &operand, DataType type) {
  if (operand.kind != Operand::Register || operand.type.bits <= type.bits || operand.type == predicate)
    return read(operand, type);
  if (type.kind == DataType::Float || type.kind == DataType::Bfloat)
    fail("expected a register of this instruction's size, but got '" + operand.name + "'");
  return builder.CreateTrunc(read(operand, operand.type), bits(type.bits));
}

Emitter::Values Emitter::readVector(unsigned index, unsigned count) {
  Values values;
  const Operand &vector = operand(index);
  bool single = count == 1 && vector.kind == Operand::Register;
  if (!single && (vector.kind != Operand::Vector || vector.parts.size() != count))
    fail("expected a vector of " + Twine(count) + " registers as operand " + Twine(index + 1));
  for (unsigned i = 0; i < count; ++i)
    values.push_back(failed() ? number(32, 0) : read(single ? vector : vector.parts[i], b32));
  return values;
}

uint64_t Emitter::immediate(unsigned index, uint64_t most) {
  const Operand &constant = operand(index);
  if (constant.kind == Operand::Integer && constant.bits <= most)
    return constant.bits;
  fail("expected a constant of 0 … " + Twine(most) + " as operand " + Twine(index + 1));
  return 0;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Value *Emitter::asBits(Value *value) {
  return builder.CreateBitCast(value, bits(unsigned(value->getType()->getPrimitiveSizeInBits())));
}

void Emitter::write(const Operand &operand, DataType type, Value *value) {
  if (operand.kind == Operand::Sink)
    return;
  if (operand.kind != Operand::Register || operand.negated || !fits(operand.type, type))
    return fail("expected a register of this instruction's type as destination" +
                (operand.name.empty() ? Twine() : ", but got '" + operand.name + "'"));
  useRegister(operand.number);
  store(value->getType()->isIntegerTy() ? value : asBits(value), registerOf(operand));
  writeRegister(operand.number);
}

void Emitter::writeExtended(const Operand &operand, DataType type, Value *value) {
  unsigned width = operand.type.bits;
  if (operand.kind != Operand::Register || width <= type.bits || operand.type == predicate)
    return write(operand, type, value);
  if (type.kind == DataType::Float || type.kind == DataType::Bfloat)
    return fail("expected a register of this instruction's size, but got '" + operand.name + "'");
  write(operand, operand.type,
        type.isSigned() ? builder.CreateSExt(value, bits(width)) : builder.CreateZExt(value, bits(width)));
}

void Emitter::writeVector(unsigned index, unsigned count, Value *record) {
  const Operand &vector = operand(index);
  if (count == 1 && vector.kind == Operand::Register)
    return write(vector, b32, record);
  if (vector.kind != Operand::Vector || vector.parts.size() != count)
    return fail("expected a vector of " + Twine(count) + " registers as operand " + Twine(index + 1));
  for (unsigned i = 0; i < count; ++i)
    write(vector.parts[i], b32, count == 1 ? record : builder.CreateExtractValue(record, i));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Generic, global and constant addresses are the host's; shared ones count from the begin of the block's memory.
Value *Emitter::toHost(Value *value, Space space) {
  return space == Space::Shared ? builder.CreateAdd(value, number(64, sharedBase)) : value;
}

Value *Emitter::variableAddress(const Operand &operand, Space *space) {
  auto found = variables.find(operand.name);
  if (operand.name.empty() || found == variables.end()) {
    fail("expected a variable of this text, but got '" + operand.name + "'");
    return number(64, 0);
  }
  auto [global, where] = found->second;
  if (space)
    *space = where;
  Value *address = builder.CreatePtrToInt(global, bits(64));
  return where == Space::Shared ? builder.CreateSub(address, number(64, sharedBase)) : address;
}

Value *Emitter::address(unsigned index, Space space) {
  const Operand &place = operand(index);
  if (place.kind != Operand::Address) {
    fail("expected an address in brackets as operand " + Twine(index + 1));
    return number(64, 0);
  }
  Value *base = number(64, 0);
  if (place.type) {
    bool narrow = place.type.bits == 32 && space == Space::Shared;
    if ((place.type.bits != 64 && !narrow) || place.type.kind == DataType::Float)
      fail("expected an address of 64 bits, or of 32 bits in shared memory, but got '" + place.name + "'");
    else {
      Operand reg = place;
      reg.kind = Operand::Register;
      base = builder.CreateZExt(read(reg, place.type), bits(64));
    }
  } else if (!place.name.empty()) {
    Space where = space;
    base = variableAddress(place, &where);
    if (where != space)
      fail("expected a variable of the instruction's state space, but got '" + place.name + "'");
  }
  return toHost(builder.CreateAdd(base, number(64, place.bits)), space);
}
