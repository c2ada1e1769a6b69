//===- PtxEmitter.h - Emits the IR of one PTX instruction after another -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handler reads the modifiers from the first to the last, then its operands, and emits. What goes wrong is kept
// (`fail`) and handlers go on with values that nobody will use, so that they read as the ISA's tables do.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_PTXEMITTER_H
#define ATTUNE_EMULATOR_PTXEMITTER_H

#include "Ptx.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace attune::ptx {

class Emitter {
public:
  using Builder = llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter>;
  using Values = llvm::SmallVector<llvm::Value *, 8>;

  Emitter(const Module &source, llvm::Module &module, uint64_t sharedBase);

  // Faults of the text.
  void fail(const llvm::Twine &message);
  bool failed() const { return !problem.empty(); }
  /// Which version of the ISA and which architecture have the instruction.
  void needs(unsigned version, unsigned target, bool specific = false);

  // Modifiers, in the order of the ISA's syntax.
  bool modifier(llvm::StringRef name);                                     ///< taken if it is next
  llvm::StringRef modifierOf(llvm::ArrayRef<llvm::StringRef> names);       ///< one of these, or fails
  llvm::StringRef optionalModifier(llvm::ArrayRef<llvm::StringRef> names); ///< one of these, or empty
  void require(llvm::StringRef names);                                     ///< all of these, as in "sync.aligned"
  DataType typeModifier();
  DataType typeOf(llvm::ArrayRef<llvm::StringRef> names);
  llvm::StringRef nextModifier() const;
  /// No modifier is left, and there are so many operands.
  void end(unsigned least, unsigned most);
  void end(unsigned count) { end(count, count); }

  // Operands.
  const Operand &operand(unsigned index) const;
  unsigned operandCount() const { return unsigned(current->operands.size()); }
  llvm::Value *read(unsigned index, DataType type) { return read(operand(index), type); }
  llvm::Value *read(const Operand &operand, DataType type);
  llvm::Value *readFloat(unsigned index, DataType type);
  /// Of a register that is at least as wide, as ld, st and cvt take them (9.4.1).
  llvm::Value *readNarrow(const Operand &operand, DataType type);
  void write(unsigned index, DataType type, llvm::Value *value) { write(operand(index), type, value); }
  void write(const Operand &operand, DataType type, llvm::Value *value);
  void writeExtended(const Operand &operand, DataType type, llvm::Value *value);
  /// Registers of {…}, of 32 bits each.
  Values readVector(unsigned index, unsigned count);
  void writeVector(unsigned index, unsigned count, llvm::Value *record);
  uint64_t immediate(unsigned index, uint64_t most);
  /// The host's address that [operand] of a space stands for.
  llvm::Value *address(unsigned index, Space space);
  llvm::Value *toHost(llvm::Value *value, Space space);
  /// The address of a variable, in its space.
  llvm::Value *variableAddress(const Operand &operand, Space *space = nullptr);

  // IR.
  llvm::Type *bits(unsigned width) { return llvm::Type::getIntNTy(context, width); }
  llvm::Type *floatType(DataType type);
  llvm::Value *number(unsigned width, uint64_t value) { return llvm::ConstantInt::get(bits(width), value); }
  llvm::Value *asFloat(llvm::Value *value) { return builder.CreateBitCast(value, builder.getFloatTy()); }
  llvm::Value *asBits(llvm::Value *value);
  llvm::CallInst *device(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<llvm::Value *> arguments);
  llvm::Type *words(unsigned count); ///< a struct of so many i32; of one the i32
  llvm::BasicBlock *block() {
    return llvm::BasicBlock::Create(context, "", function);
  } ///< at the end, unless entered elsewhere
  llvm::BasicBlock *labelOf(const Operand &operand);

  /// A value that was read may be of a register that nothing has written.
  void allowUnwritten(llvm::Value *value) { readers.erase(llvm::dyn_cast<llvm::Instruction>(value)); }
  // Registers that products of warpgroups read and fill (PtxProducts.cpp).
  void ownRegisters(const Instruction &product);
  void useRegister(unsigned number);  ///< another instruction reads or writes it
  void writeRegister(unsigned number); ///< another instruction has written it
  void beginProduct(unsigned shape);
  void endProduct(unsigned shape, llvm::Value *tag);
  void fenceRegisters();

  llvm::Error emit(const Entry &entry);
  llvm::Error addVariables();

  const Module &source;
  llvm::Module &module;
  llvm::LLVMContext &context;
  const uint64_t sharedBase;
  const Entry *entry = nullptr;
  const Instruction *current = nullptr;
  Builder builder;

private:
  void addSource(llvm::Instruction &instruction);
  llvm::AllocaInst *variable(llvm::DenseMap<unsigned, llvm::AllocaInst *> &table, unsigned number, unsigned width,
                             uint64_t initial);
  llvm::AllocaInst *registerOf(const Operand &operand);
  /// What is noted beside a register: the last products that fill it and that read it, as what it is filled, and before
  /// which of the fences another instruction used it.
  enum class Note : unsigned { FilledBy, ReadBy, FilledAs, UsedBefore };
  llvm::AllocaInst *note(unsigned number, Note kind);
  llvm::AllocaInst *fenceCount();
  llvm::Error checkAssignments() const; ///< PtxAssignment.cpp
  llvm::Value *load(llvm::AllocaInst *slot);
  void store(llvm::Value *value, llvm::AllocaInst *slot);
  bool fits(DataType registerType, DataType type) const;
  void makeFunction();
  llvm::Error makeLabels();
  void enterBlock(llvm::BasicBlock *next);
  void emitGuarded(const Instruction &instruction);
  void addVariable(const Variable &variable);
  void promote();

  std::string problem;
  unsigned taken = 0; ///< modifiers
  llvm::Function *function = nullptr;
  llvm::BasicBlock *head = nullptr; ///< holds the registers
  llvm::MDNode *here = nullptr;     ///< source of the current instruction
  llvm::StringMap<std::pair<llvm::GlobalVariable *, Space>> variables;
  llvm::DenseMap<unsigned, llvm::AllocaInst *> registers, notes;
  /// Who reads a register, and its name.
  llvm::DenseMap<const llvm::Instruction *, std::pair<const Instruction *, llvm::StringRef>> readers;
  llvm::DenseSet<unsigned> owned; ///< registers of products
  llvm::DenseMap<std::pair<llvm::StringRef, unsigned>, llvm::BasicBlock *> labels;
};

using Handler = void (*)(Emitter &);
using HandlerTable = llvm::StringMap<Handler>;
// One a family.
void addIntegerHandlers(HandlerTable &table);
void addLogicHandlers(HandlerTable &table);
void addFloatHandlers(HandlerTable &table);
void addMoveHandlers(HandlerTable &table);
void addConvertHandlers(HandlerTable &table);
void addMemoryHandlers(HandlerTable &table);
void addControlHandlers(HandlerTable &table);
void addWarpHandlers(HandlerTable &table);
void addMatrixHandlers(HandlerTable &table);
void addAsyncHandlers(HandlerTable &table);
void addMbarrierHandlers(HandlerTable &table);
void addWarpgroupHandlers(HandlerTable &table);

inline constexpr DataType predicate{DataType::Predicate, 1}, b16{DataType::Bits, 16}, b32{DataType::Bits, 32},
    b64{DataType::Bits, 64}, u32{DataType::Unsigned, 32}, u64{DataType::Unsigned, 64}, f32{DataType::Float, 32};

} // namespace attune::ptx

#endif // ATTUNE_EMULATOR_PTXEMITTER_H
