//===- PtxMemory.cpp - Loads, stores, atomics and fences, 9.7.9.8 to 9.7.9.11 and 9.7.13.4 to 9.7.13.6 ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/ADT/StringSwitch.h"

using namespace attune::ptx;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Spaces, orders, scopes
//===----------------------------------------------------------------------===//

static Space takeSpace(Emitter &e, bool writes) {
  if (!writes && e.modifier("const"))
    return Space::Const;
  if (!writes && e.modifier("param"))
    return Space::Param;
  if (e.modifier("global"))
    return Space::Global;
  return e.optionalModifier({"shared", "shared::cta"}).empty() ? Space::Generic : Space::Shared;
}

static unsigned addressSpace(Space space) {
  return space == Space::Shared ? 3 : space == Space::Const ? 4 : space == Space::Global ? 1 : 0;
}

static Value *pointer(Emitter &e, unsigned operand, Space space) {
  return e.builder.CreateIntToPtr(e.address(operand, space), PointerType::get(e.context, addressSpace(space)));
}

/// 8.5: the threads that an order holds for.
static SyncScope::ID scopeNamed(Emitter &e, StringRef name) {
  return name == "sys" ? SyncScope::ID(SyncScope::System)
                       : e.context.getOrInsertSyncScopeID(name == "cta" ? "block" : "device");
}

/// 9.7.9.8 to 9.7.9.11: .cop of weak accesses, or {.level::eviction}{.level::prefetch} with, in global loads, .nc before.
/// They change no values, but .nc says that nobody writes there.
static bool takeCacheHints(Emitter &e, bool writes, bool weak, Space space) {
  bool near = space == Space::Shared || space == Space::Param;
  if (weak && !near) // after .ca to .cv the syntax has .nc alone
    writes ? e.optionalModifier({"wb", "cg", "cs", "wt"}) : e.optionalModifier({"ca", "cg", "cs", "lu", "cv"});
  bool constant = !writes && weak && space == Space::Global && e.modifier("nc");
  if (near)
    return false;
  e.optionalModifier({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                      "L1::no_allocate"});
  if (!writes)
    e.optionalModifier({"L2::64B", "L2::128B", "L2::256B"});
  return constant;
}

//===----------------------------------------------------------------------===//
// ld, st
//===----------------------------------------------------------------------===//

namespace {
/// {.weak, .relaxed.scope, .acquire.scope, .release.scope}{.space}{.hints}{.v2,.v4}.type
struct Access {
  AtomicOrdering order = AtomicOrdering::NotAtomic;
  SyncScope::ID scope = SyncScope::System;
  Space space = Space::Generic;
  bool constant = false; ///< .nc
  unsigned count = 1;
  DataType type;

  Type *valueType(Emitter &e) const {
    return count == 1 ? e.bits(type.bits) : static_cast<Type *>(FixedVectorType::get(e.bits(type.bits), count));
  }
  /// 6.4.1: a multiple of all that is accessed.
  Align alignment() const { return Align(count * type.bytes()); }
};
} // namespace

static Access takeAccess(Emitter &e, StringRef strongest, AtomicOrdering order, bool writes) {
  Access access;
  StringRef semantics = e.optionalModifier({"weak", "relaxed", strongest});
  if (!semantics.empty() && semantics != "weak") {
    access.order = semantics == "relaxed" ? AtomicOrdering::Monotonic : order;
    access.scope = scopeNamed(e, e.modifierOf({"cta", "gpu", "sys"}));
  }
  access.space = takeSpace(e, writes);
  access.constant = takeCacheHints(e, writes, access.order == AtomicOrdering::NotAtomic, access.space);
  StringRef vector = e.optionalModifier({"v2", "v4"});
  access.count = vector == "v4" ? 4 : vector == "v2" ? 2 : 1;
  access.type =
      e.typeOf({"b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"});
  e.end(2);
  bool ordered = access.order != AtomicOrdering::NotAtomic;
  if (access.count * access.type.bits > 128 || (ordered && (access.count > 1 || access.type.bits < 32)))
    e.fail("expected at most 128 bits, and one value of 32 or 64 in an ordered access");
  if (ordered && (access.space == Space::Param || access.space == Space::Const))
    e.fail("expected no order in memory that nobody writes");
  return access;
}

/// Registers of an access: those of a vector, or one.
static ArrayRef<Operand> registersOf(Emitter &e, unsigned index, const Access &access) {
  const Operand &operand = e.operand(index);
  if (access.count == 1)
    return operand;
  if (operand.kind != Operand::Vector || operand.parts.size() != access.count)
    e.fail("expected a vector of " + Twine(access.count) + " registers as operand " + Twine(index + 1));
  return operand.parts;
}

/// 9.7.9.8 on .param: bytes of an argument of the entry.
static void loadParameter(Emitter &e, const Access &access) {
  const Operand &place = e.operand(1);
  ArrayRef<Variable> parameters = e.entry->parameters;
  const auto *found = find_if(parameters, [&](const Variable &p) { return p.name == place.name && !place.type; });
  unsigned bits = access.type.bits;
  uint64_t last = place.bits + bits / 8;
  if (place.kind != Operand::Address || found == parameters.end() || access.count > 1)
    return e.fail("expected a parameter of this entry in brackets");
  if (place.bits > 8 || last > found->type.bytes() || place.bits % (bits / 8))
    return e.fail("expected bytes within the " + Twine(found->type.bytes()) + " of parameter '" + found->name + "'");
  Value *argument = e.builder.GetInsertBlock()->getParent()->getArg(unsigned(found - parameters.begin()));
  Value *part = e.builder.CreateTrunc(e.builder.CreateLShr(argument, 8 * place.bits), e.bits(bits));
  e.writeExtended(e.operand(0), access.type, part);
}

/// 9.7.9.8, 9.7.9.9: ld d, [a]
static void load(Emitter &e) {
  Access access = takeAccess(e, "acquire", AtomicOrdering::Acquire, false);
  ArrayRef<Operand> targets = registersOf(e, 0, access);
  if (e.failed())
    return;
  if (access.space == Space::Param)
    return loadParameter(e, access);
  LoadInst *value = e.builder.CreateAlignedLoad(access.valueType(e), pointer(e, 1, access.space), access.alignment());
  if (access.order != AtomicOrdering::NotAtomic)
    value->setAtomic(access.order, access.scope);
  if (access.constant)
    value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(e.context, {}));
  for (unsigned i = 0; i < access.count; ++i)
    e.writeExtended(targets[i], access.type, access.count == 1 ? value : e.builder.CreateExtractElement(value, i));
}

/// 9.7.9.11: st [a], b
static void store(Emitter &e) {
  Access access = takeAccess(e, "release", AtomicOrdering::Release, true);
  ArrayRef<Operand> sources = registersOf(e, 1, access);
  if (e.failed())
    return;
  Value *value = access.count == 1 ? nullptr : PoisonValue::get(access.valueType(e));
  for (unsigned i = 0; i < access.count; ++i) {
    Value *part = e.readNarrow(sources[i], access.type);
    value = value ? e.builder.CreateInsertElement(value, part, i) : part;
  }
  StoreInst *stored = e.builder.CreateAlignedStore(value, pointer(e, 0, access.space), access.alignment());
  if (access.order != AtomicOrdering::NotAtomic)
    stored->setAtomic(access.order, access.scope);
}

//===----------------------------------------------------------------------===//
// atom, red
//===----------------------------------------------------------------------===//

static AtomicRMWInst::BinOp updateNamed(StringRef name, DataType type) {
  bool real = type.kind == DataType::Float;
  return StringSwitch<AtomicRMWInst::BinOp>(name)
      .Case("and", AtomicRMWInst::And)
      .Case("or", AtomicRMWInst::Or)
      .Case("xor", AtomicRMWInst::Xor)
      .Case("exch", AtomicRMWInst::Xchg)
      .Case("add", real ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
      .Case("inc", AtomicRMWInst::UIncWrap)
      .Case("dec", AtomicRMWInst::UDecWrap)
      .Case("min", type.isSigned() ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
      .Case("max", type.isSigned() ? AtomicRMWInst::Max : AtomicRMWInst::UMax)
      .Default(AtomicRMWInst::BAD_BINOP);
}

/// Types that table of 9.7.13.5 allows an operation.
static DataType updateType(Emitter &e, StringRef operation) {
  if (operation == "and" || operation == "or" || operation == "xor" || operation == "exch" || operation == "cas")
    return e.typeOf({"b32", "b64"});
  if (operation == "inc" || operation == "dec")
    return e.typeOf({"u32"});
  return operation == "add" ? e.typeOf({"u32", "s32", "u64", "f32", "f64"}) : e.typeOf({"u32", "s32", "u64", "s64"});
}

/// 9.7.13.5: atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}; cas compares with b and stores c.
/// 9.7.13.6: red{.sem}{.scope}{.space}.op.type [a], b
template <bool givesOld> static void update(Emitter &e) {
  StringRef semantics = e.optionalModifier({"relaxed", "acquire", "release", "acq_rel"});
  StringRef scope = e.optionalModifier({"cta", "gpu", "sys"});
  Space space = takeSpace(e, true);
  StringRef operation = e.modifierOf({"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"});
  DataType type = updateType(e, operation);
  bool swap = operation == "cas";
  e.end(2 + givesOld + swap);
  if (!givesOld && (swap || operation == "exch"))
    e.fail("expected an operation of red, but got '." + operation + "'");
  auto order = StringSwitch<AtomicOrdering>(semantics)
                   .Case("acquire", AtomicOrdering::Acquire)
                   .Case("release", AtomicOrdering::Release)
                   .Case("acq_rel", AtomicOrdering::AcquireRelease)
                   .Default(AtomicOrdering::Monotonic);
  Value *place = pointer(e, givesOld, space), *b = e.read(1 + givesOld, type), *old = nullptr;
  SyncScope::ID where = scopeNamed(e, scope);
  Align alignment(type.bytes());
  if (swap) {
    AtomicOrdering failure = AtomicCmpXchgInst::getStrongestFailureOrdering(order);
    old = e.builder.CreateAtomicCmpXchg(place, b, e.read(3, type), alignment, order, failure, where);
    old = e.builder.CreateExtractValue(old, 0);
  } else {
    Value *value = type.kind == DataType::Float ? e.builder.CreateBitCast(b, e.floatType(type)) : b;
    old = e.builder.CreateAtomicRMW(updateNamed(operation, type), place, value, alignment, order, where);
  }
  if (givesOld)
    e.write(0, type, old);
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

static void nothing(Emitter &e, StringRef name) { e.device(name, e.builder.getVoidTy(), {}); }

/// 9.7.13.4: fence{.sc,.acq_rel}.scope, fence.proxy.async{.shared::cta}, fence.mbarrier_init.release.cluster
static void fence(Emitter &e) {
  if (e.modifier("proxy")) {
    e.require("async");
    bool shared = e.modifier("shared::cta");
    e.end(0);
    e.needs(80, 90);
    return nothing(e, shared ? "llvm.nvvm.fence.proxy.async.shared_cta" : "llvm.nvvm.fence.proxy.async");
  }
  if (e.modifier("mbarrier_init")) {
    e.require("release.cluster");
    e.end(0);
    e.needs(80, 90);
    return nothing(e, "llvm.nvvm.fence.mbarrier_init.release.cluster");
  }
  bool strongest = e.optionalModifier({"sc", "acq_rel"}) == "sc";
  SyncScope::ID scope = scopeNamed(e, e.modifierOf({"cta", "gpu", "sys"}));
  e.end(0);
  e.builder.CreateFence(strongest ? AtomicOrdering::SequentiallyConsistent : AtomicOrdering::AcquireRelease, scope);
}

/// 9.7.13.4: membar.{cta,gl,sys} is fence.sc of the block, the device, the system.
static void memoryBarrier(Emitter &e) {
  StringRef level = e.modifierOf({"cta", "gl", "sys"});
  e.end(0);
  e.builder.CreateFence(AtomicOrdering::SequentiallyConsistent, scopeNamed(e, level == "gl" ? "gpu" : level));
}

/// 9.7.9.15: prefetch.global.{L1,L2} [a], which may name any address.
static void prefetch(Emitter &e) {
  e.optionalModifier({"global"});
  e.modifierOf({"L1", "L2"});
  e.end(1);
  e.address(0, Space::Global);
}

void attune::ptx::addMemoryHandlers(HandlerTable &table) {
  table["ld"] = load;
  table["st"] = store;
  table["atom"] = update<true>;
  table["red"] = update<false>;
  table["fence"] = fence;
  table["membar"] = memoryBarrier;
  table["prefetch"] = prefetch;
}
