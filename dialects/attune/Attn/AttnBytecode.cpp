//===- AttnBytecode.cpp - What earlier versions of the dialect wrote -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that version 2, 3 or 4 has changed store their attributes with their names, so that another optional one needs no further
// version. Before they stand one after another in the order of their names, then the numbers of operands; in version 1
// what laws had decided stood in attributes of those ops and in discardable ones.
//
//===----------------------------------------------------------------------===//
#include "AttnBytecode.h"

#include "attune/Attn/Execution.h"
#include "attune/VersionedBytecode.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

namespace {
/// An attribute of an op in version 1.
struct FirstAttribute {
  StringLiteral name;
  bool optional = false;
};

/// What version 1 stores of an op.
struct FirstProperties {
  ArrayRef<FirstAttribute> attributes;
  size_t operandGroups = 0; ///< whose sizes follow
  uint64_t named = 2;       ///< the version since which they have names
};
} // namespace

/// What laws had decided in attributes of the op itself.
static ExecutionAttr executionIn(DictionaryAttr first) {
  Execution execution;
  if (first.contains("folded"))
    execution.form = TermForm::Folded;
  if (first.contains("compress_first"))
    execution.form = TermForm::CompressFirst;
  execution.grouped = first.contains("grouped");
  if (auto form = first.getAs<FormAttr>("form"); form && form.getValue() != Form::Quadratic)
    execution.form = form.getValue() == Form::State ? TermForm::State : TermForm::Chunked;
  return execution.toAttr(first.getContext());
}

static FailureOr<DictionaryAttr> readFirst(DialectBytecodeReader &reader, const FirstProperties &first) {
  NamedAttrList read;
  for (const FirstAttribute &each : first.attributes) {
    Attribute value;
    if (failed(each.optional ? reader.readOptionalAttribute(value) : reader.readAttribute(value)))
      return failure();
    if (value)
      read.append(each.name, value);
  }
  if (first.operandGroups != 0) {
    SmallVector<int32_t> sizes(first.operandGroups);
    if (failed(reader.readSparseArray(MutableArrayRef<int32_t>(sizes))))
      return failure();
    read.append("operandSegmentSizes", DenseI32ArrayAttr::get(reader.getContext(), sizes));
  }
  if (ExecutionAttr execution = executionIn(read.getDictionary(reader.getContext())))
    read.append("execution", execution);
  return read.getDictionary(reader.getContext());
}

/// Groups of operands, and results behind the first, that the op has got since are empty; of one that had no groups of operands
/// `upgradeGroups` finds out which it has.
template <typename Op> static DictionaryAttr withAllGroups(DictionaryAttr named) {
  if constexpr (requires(typename Op::Properties properties) { properties.resultSegmentSizes; }) {
    if (!named.contains("resultSegmentSizes")) {
      SmallVector<int32_t> sizes(std::size(typename Op::Properties().resultSegmentSizes), 0);
      sizes[0] = 1;
      NamedAttrList all(named);
      all.set("resultSegmentSizes", DenseI32ArrayAttr::get(named.getContext(), sizes));
      named = all.getDictionary(named.getContext());
    }
  }
  if constexpr (requires(typename Op::Properties properties) { properties.operandSegmentSizes; }) {
    auto written = named.getAs<DenseI32ArrayAttr>("operandSegmentSizes");
    size_t groups = std::size(typename Op::Properties().operandSegmentSizes);
    if (!written || static_cast<size_t>(written.size()) < groups) {
      SmallVector<int32_t> sizes(written ? written.asArrayRef() : ArrayRef<int32_t>());
      sizes.resize(groups);
      NamedAttrList all(named);
      all.set("operandSegmentSizes", DenseI32ArrayAttr::get(named.getContext(), sizes));
      return all.getDictionary(named.getContext());
    }
  }
  return named;
}

template <typename Op>
static LogicalResult read(DialectBytecodeReader &reader, OperationState &state, const FirstProperties &first) {
  DictionaryAttr named;
  if (versionRead(reader, AttnDialect::getDialectNamespace()) >= first.named) {
    if (failed(reader.readAttribute(named)))
      return failure();
  } else if (FailureOr<DictionaryAttr> read = readFirst(reader, first); succeeded(read)) {
    named = *read;
  } else {
    return failure();
  }
  return Op::setPropertiesFromAttr(state.getOrAddProperties<typename Op::Properties>(), withAllGroups<Op>(named),
                                   [&] { return reader.emitError(); });
}

/// With an empty dictionary for an op without attributes.
template <typename Op> static void write(DialectBytecodeWriter &writer, Op op) {
  auto named = cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  writer.writeAttribute(named ? named : DictionaryAttr::get(op.getContext()));
}

#define ATTUNE_NAMED_PROPERTIES(Op, first)                                                                                  \
  LogicalResult Op::readProperties(DialectBytecodeReader &reader, OperationState &state) {                                 \
    return read<Op>(reader, state, first);                                                                                 \
  }                                                                                                                        \
  void Op::writeProperties(DialectBytecodeWriter &writer) { write(writer, *this); }

static constexpr bool optional = true;
static constexpr FirstAttribute softmax[] = {{"causal", optional}, {"scale"}, {"window", optional}},
                                map[] = {{"feature_map"}, {"keys", optional}}, readout[] = {{"grouped", optional}},
                                sketch[] = {{"causal", optional}, {"degree"}, {"denominator"}, {"form", optional},
                                            {"local_exact", optional}, {"scale"}, {"size"}},
                                project[] = {{"folded", optional}}, compress[] = {{"compress_first", optional}},
                                qkNorm[] = {{"epsilon"}},
                                partial[] = {{"causal", optional}, {"piece"}, {"pieces"}, {"scale"}, {"window", optional}},
                                visible[] = {{"causal", optional}, {"window", optional}},
                                polynomial[] = {{"causal", optional}, {"degree"}, {"denominator"}, {"scale"}, {"window", optional}};

ATTUNE_NAMED_PROPERTIES(SoftmaxOp, (FirstProperties{softmax}))
ATTUNE_NAMED_PROPERTIES(MapOp, (FirstProperties{map, 4}))
ATTUNE_NAMED_PROPERTIES(CausalReadoutOp, (FirstProperties{readout, 6}))
ATTUNE_NAMED_PROPERTIES(PolysketchOp, (FirstProperties{sketch, 6}))
ATTUNE_NAMED_PROPERTIES(ProjectOp, (FirstProperties{project}))
ATTUNE_NAMED_PROPERTIES(CompressOp, (FirstProperties{compress}))
ATTUNE_NAMED_PROPERTIES(QkNormOp, (FirstProperties{qkNorm, 0, 3}))
ATTUNE_NAMED_PROPERTIES(SoftmaxPartialOp, (FirstProperties{partial, 0, 3}))
ATTUNE_NAMED_PROPERTIES(VisibleOp, (FirstProperties{visible, 0, 3}))
ATTUNE_NAMED_PROPERTIES(PolynomialOp, (FirstProperties{polynomial, 0, 3}))

/// To version 2: discardable attributes of laws become executions.
static LogicalResult readExecutions(Operation *root) {
  root->walk([](ExecutableOpInterface op) {
    auto is = [&](StringRef name, StringRef value) {
      auto text = op->getDiscardableAttr(name);
      return text && (value.empty() || text == StringAttr::get(op.getContext(), value));
    };
    decide(op, [&](Execution &execution) {
      if (is("attn.fused", "") || is("attn.place", "fused") || is("attn.place", "epilogue"))
        execution.values = Values::Fused;
      if (is("attn.place", "materialized"))
        execution.values = Values::Materialized;
      if (is("attn.merged", ""))
        execution.ending = Ending::LastBlock;
      if (is("attn.launch", "co_launched"))
        execution.launch = Launch::CoLaunched;
      execution.split |= is("attn.split", "");
    });
    for (StringRef name : {"attn.fused", "attn.merged", "attn.split", "attn.place", "attn.launch"})
      op->removeDiscardableAttr(name);
  });
  return success();
}

/// To version 3: `attn.qk_norm` and others have names of their attributes, which is how they are read; softmax has groups of operands: q, k, v, which it had, lengths, which it may have had, and slopes.
static LogicalResult upgradeGroups(Operation *root) {
  root->walk([](Operation *op) {
    auto group = [&](auto softmax) { softmax.getProperties().operandSegmentSizes = {1, 1, 1, op->getNumOperands() == 4, 0}; };
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      group(softmax);
    else if (auto partial = dyn_cast<SoftmaxPartialOp>(op))
      group(partial);
  });
  return success();
}

/// To version 4: a readout has groups of results: the four that it had, the scale, which it may have had, and what tokens have written.
static LogicalResult groupResults(Operation *root) {
  root->walk([](CausalReadoutOp op) { op.getProperties().resultSegmentSizes = {1, 1, 1, 1, op->getNumResults() == 5, 0}; });
  return success();
}

ArrayRef<BytecodeUpgrade> attn::bytecodeUpgrades() {
  static constexpr BytecodeUpgrade upgrades[] = {readExecutions, upgradeGroups, groupResults};
  return upgrades;
}
