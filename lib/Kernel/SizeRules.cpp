//===- SizeRules.cpp - What a mechanism needs of sizes known at run -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A frontend checks the sizes that it knows. Those that only a run knows are checked by the library's runtime, before
// it writes anything, by rules that the host function carries.
//
//===----------------------------------------------------------------------===//
#include "Signature.h"
#include "attune/Attn/Packed.h"
#include "attune/Kernel/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// The rules of one function, each once.
class RuleList {
public:
  explicit RuleList(func::FuncOp function) : builder(function.getContext()) {}

  /// A rule on the tokens of a tensor: its third size. Sizes that are known have been checked.
  void add(Value tokens, StringRef kind, StringRef symbol, int64_t value) {
    if (!cast<RankedTensorType>(tokens.getType()).isDynamicDim(2))
      return;
    Attribute rule = builder.getDictionaryAttr({builder.getNamedAttr("kind", builder.getStringAttr(kind)),
                                                builder.getNamedAttr("symbol", builder.getStringAttr(symbol)),
                                                builder.getNamedAttr("value", builder.getI64IntegerAttr(value))});
    if (!llvm::is_contained(rules, rule))
      rules.push_back(rule);
  }

  /// Blocks of consecutive tokens, or an image of which all tokens are.
  void addWindow(Value query, std::optional<attn::WindowAttr> window, bool packed) {
    if (!window)
      return;
    needEqual();
    if (window->isGrid())
      add(query, "equals", "queries", window->getGridRows() * window->getGridColumns());
    else if (!packed)
      add(query, "divides", "queries", window->getLength());
  }

  /// As many queries as keys.
  void needEqual(bool condition = true) { equal |= condition; }

  void write(func::FuncOp host) {
    if (equal)
      host->setAttr(kernel::equalLengthsAttr, builder.getUnitAttr());
    if (!rules.empty())
      host->setAttr(kernel::sizeRulesAttr, builder.getArrayAttr(rules));
  }

private:
  Builder builder;
  SmallVector<Attribute> rules;
  bool equal = false;
};
} // namespace

/// Blocks of the keys and as many runs of the queries.
static void addBlocks(RuleList &rules, attn::EvaOp op, int64_t block) {
  int64_t keys = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
  if (!ShapedType::isDynamic(keys))
    return rules.add(op.getQuery(), "divides", "queries", keys / block);
  rules.add(op.getKey(), "divides", "keys", block);
  rules.add(op.getKey(), "blocks_divide", "keys", block);
}

static void addEva(RuleList &rules, attn::EvaOp op) {
  addBlocks(rules, op, op.getChunk());
  if (op.getLocal())
    addBlocks(rules, op, *op.getLocal());
}

static void addMap(RuleList &rules, attn::MapOp op) {
  if (op.getFeatureMap().getKind() == attn::FeatureKind::Cosformer)
    rules.add(op.getSource(), "at_most", op.getKeys() ? "keys" : "queries", op.getFeatureMap().getMaxPosition());
}

static void addLepe(RuleList &rules, attn::LepeOp op) {
  rules.needEqual();
  if (op.getGrid())
    rules.add(op.getSource(), "equals", "queries", (*op.getGrid())[0] * (*op.getGrid())[1]);
}

/// Whether rows are sketches, or sketches in units.
static bool areSketches(Value rows) {
  auto quotient = rows.getDefiningOp<attn::NormalizeOp>();
  return (quotient ? quotient.getNumerator() : rows).getDefiningOp<attn::SketchOp>();
}

/// Whether a mask is on weights of features, or of sketches, which need n = N where they are causal: not on powers of products of tokens, nor on
/// products that only a unit is taken of, nor on what reaches weights behind a mask of their own.
static bool areOfOneSequence(attn::VisibleOp mask) {
  if (llvm::all_of(mask->getUsers(), llvm::IsaPred<attn::RowMaximumOp>))
    return false;
  Operation *op = mask.getWeights().getDefiningOp();
  if (auto power = dyn_cast_or_null<attn::PowerOp>(op)) {
    auto product = power.getWeights().getDefiningOp<attn::ContractOp>();
    return !product || areSketches(product.getLhs());
  }
  if (auto product = dyn_cast_or_null<attn::ContractOp>(op))
    return cast<attn::RoleAttr>(product.getLhsRoles()[3]).getValue() == attn::Role::Feature;
  return !isa_and_nonnull<attn::AddOp, attn::SpreadOp>(op);
}

void kernel::addSizeRules(func::FuncOp source, func::FuncOp host) {
  RuleList rules(source);
  bool packed = attn::isPacked(source); // blocks begin with each sequence, and the last one may be short
  for (Operation &operation : source.getOps())
    llvm::TypeSwitch<Operation *>(&operation)
        .Case<attn::SoftmaxOp, attn::PolynomialOp>([&](auto op) { rules.addWindow(op.getQuery(), op.getWindow(), packed); })
        .Case([&](attn::VisibleOp op) {
          rules.addWindow(op.getWeights(), op.getWindow(), packed), rules.needEqual(op.getCausal() && areOfOneSequence(op));
        })
        .Case([&](attn::PolysketchOp op) {
          rules.needEqual(op.getCausal());
          if (op.getLocalExact() && !packed && !op.hasStates())
            rules.add(op.getQuery(), "divides", "queries", *op.getLocalExact());
        })
        .Case([&](attn::AgentOp op) { rules.add(op.getQuery(), "divides", "queries", op.getAgents()); })
        .Case([&](attn::EvaOp op) { addEva(rules, op), rules.needEqual(op.getCausal()); })
        .Case([&](attn::MapOp op) { addMap(rules, op); })
        .Case([&](attn::LepeOp op) { addLepe(rules, op); })
        .Case([&](attn::CausalReadoutOp) { rules.needEqual(); });
  rules.write(host);
}
