//===- PtxTranslate.cpp - PTX text as an LLVM module ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxTranslate.h"
#include "PtxEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"

using namespace attune::ptx;
using namespace llvm;
using Instruction = attune::ptx::Instruction;

static const HandlerTable &handlers() {
  static const HandlerTable table = [] {
    HandlerTable table;
    for (auto add : {addIntegerHandlers, addLogicHandlers, addFloatHandlers, addMoveHandlers, addConvertHandlers,
                     addMemoryHandlers, addControlHandlers, addWarpHandlers, addMatrixHandlers, addAsyncHandlers,
                     addMbarrierHandlers, addWarpgroupHandlers})
      add(table);
    return table;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static unsigned addressSpace(Space space) { return space == Space::Shared ? 3 : space == Space::Const ? 4 : 1; }

void Emitter::addVariable(const Variable &variable) {
  Type *element = bits(variable.type.bits);
  auto *type = ArrayType::get(element, variable.count);
  Constant *initial = nullptr;
  if (!variable.external) {
    SmallVector<Constant *> values;
    for (uint64_t value : variable.initial)
      values.push_back(ConstantInt::get(context, APInt(64, value).trunc(variable.type.bits)));
    if (!values.empty())
      values.resize(variable.count, Constant::getNullValue(element));
    initial = values.empty() ? Constant::getNullValue(type) : ConstantArray::get(type, values);
  }
  auto *global = new GlobalVariable(module, type, variable.space == Space::Const, GlobalValue::ExternalLinkage, initial,
                                    variable.name, nullptr, GlobalValue::NotThreadLocal, addressSpace(variable.space));
  global->setAlignment(Align(std::max<uint64_t>(variable.alignment, variable.type.bytes())));
  variables[variable.name] = {global, variable.space};
}

/// Shared variables that an entry declares lie where those of the module lie.
llvm::Error Emitter::addVariables() {
  uint64_t bytes = 0;
  for (const Variable &variable : source.variables) {
    bytes += variable.count * variable.type.bytes();
    if (variable.space == Space::Local || bytes > (uint64_t(1) << 28))
      return errorAt(variable.line, "expected variables of at most 2^28 bytes outside local memory, which is not "
                                    "modelled, but got '" +
                                        variable.name + "'");
    if (variables.contains(variable.name))
      return errorAt(variable.line, "expected a name that no entry's variable has, but got '" + variable.name + "'");
    addVariable(variable);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static std::string three(const std::array<uint64_t, 3> &sizes) {
  return (Twine(sizes[0]) + "," + Twine(sizes[1]) + "," + Twine(sizes[2])).str();
}

void Emitter::makeFunction() {
  SmallVector<Type *> types;
  for (const Variable &parameter : entry->parameters)
    types.push_back(bits(parameter.type.bits));
  auto *type = FunctionType::get(Type::getVoidTy(context), types, false);
  function = Function::Create(type, GlobalValue::ExternalLinkage, entry->name, module);
  function->setCallingConv(CallingConv::PTX_Kernel);
  if (entry->bounds.most[0])
    function->addFnAttr("nvvm.maxntid", three(entry->bounds.most));
  if (entry->bounds.required[0])
    function->addFnAttr("nvvm.reqntid", three(entry->bounds.required));
  if (entry->bounds.blocks)
    function->addFnAttr("nvvm.minctasm", utostr(entry->bounds.blocks));
}

llvm::Error Emitter::makeLabels() {
  labels.clear();
  for (const Label &label : entry->labels)
    if (!labels.try_emplace({label.name, label.scope}, block()).second)
      return errorAt(label.line, "expected a label that is not there yet, but got '" + label.name + "' again");
  return llvm::Error::success();
}

/// From the scope of the instruction outwards.
BasicBlock *Emitter::labelOf(const Operand &operand) {
  for (unsigned scope = current->scope;; scope = entry->scopes[scope]) {
    if (BasicBlock *found = labels.lookup({operand.name, scope}); found && operand.kind == Operand::Name)
      return found;
    if (scope == entry->scopes[scope])
      break;
  }
  fail("expected a label of this entry, but got '" + operand.name + "'");
  return head;
}

void Emitter::enterBlock(BasicBlock *next) {
  if (!builder.GetInsertBlock()->getTerminator())
    builder.CreateBr(next);
  if (next != &function->back())
    next->moveAfter(&function->back());
  builder.SetInsertPoint(next);
}

/// Instructions on floating-point numbers have handlers of their own where others of the name exist.
static Handler handlerOf(const attune::ptx::Instruction &instruction) {
  StringRef last = instruction.modifiers.empty() ? "" : instruction.modifiers.back();
  DataType type = parseType(last);
  if (type.kind == DataType::Float || type.kind == DataType::Bfloat || last.ends_with("f16x2"))
    if (Handler found = handlers().lookup((instruction.opcode + ".f").str()))
      return found;
  return handlers().lookup(instruction.opcode);
}

/// 9.3: the instruction happens where its guard holds.
void Emitter::emitGuarded(const Instruction &instruction) {
  Handler handler = handlerOf(instruction);
  if (!handler)
    return fail("instruction that is not modelled: '" + instruction.opcode + "'");
  BasicBlock *after = nullptr;
  if (instruction.guard) {
    BasicBlock *guarded = block();
    after = block();
    builder.CreateCondBr(read(*instruction.guard, predicate), guarded, after);
    builder.SetInsertPoint(guarded);
  }
  handler(*this);
  if (after || builder.GetInsertBlock()->getTerminator())
    enterBlock(after ? after : block());
}

llvm::Error Emitter::emit(const Entry &given) {
  entry = &given;
  registers.clear();
  notes.clear();
  readers.clear();
  owned.clear();
  makeFunction();
  head = BasicBlock::Create(context, "", function);
  if (llvm::Error error = makeLabels())
    return error;
  for (const Instruction &instruction : entry->instructions)
    if (instruction.opcode == "wgmma")
      ownRegisters(instruction);
  BasicBlock *first = block();
  builder.SetInsertPoint(first);
  auto label = entry->labels.begin();
  for (size_t place = 0; place <= entry->instructions.size(); ++place) {
    for (; label != entry->labels.end() && label->place == place; ++label)
      enterBlock(labels.lookup({label->name, label->scope}));
    if (place == entry->instructions.size())
      break;
    current = &entry->instructions[place];
    here = nullptr;
    taken = 0;
    emitGuarded(*current);
    if (failed())
      return errorAt(current->line, problem + ", in '" + StringRef(current->text).take_front(120) + "'");
  }
  current = nullptr;
  if (!builder.GetInsertBlock()->getTerminator())
    builder.CreateRetVoid();
  BranchInst::Create(first, head);
  if (llvm::Error error = checkAssignments())
    return error;
  promote();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

Expected<Translation> attune::ptx::translate(StringRef text, uint64_t sharedBase, LLVMContext &context) {
  Expected<Module> source = parse(text);
  if (!source)
    return source.takeError();
  Translation result{std::make_unique<llvm::Module>("ptx", context), source->target, source->specific};
  for (Entry &entry : source->entries)
    for (Variable &variable : entry.variables)
      source->variables.push_back(variable);
  Emitter emitter(*source, *result.module, sharedBase);
  if (llvm::Error error = emitter.addVariables())
    return std::move(error);
  for (const Entry &entry : source->entries)
    if (llvm::Error error = emitter.emit(entry))
      return std::move(error);
  return std::move(result);
}
