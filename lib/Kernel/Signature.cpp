//===- Signature.cpp - The arguments of a host function ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Signature.h"

#include "Planner/TermRules.h"
#include "attune/Attn/Backward.h"
#include "attune/Attn/Packed.h"
#include "attune/Kernel/Passes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What features are read for: "q" or "k"; empty if no op says so.
static StringRef nameOfFeatures(Value features) {
  for (OpOperand &use : features.getUses()) {
    Operation *op = use.getOwner();
    if (isa<attn::ContractOp, attn::CausalReadoutOp>(op))
      return use.getOperandNumber() == 0 ? "q" : "k";
    if (isa<attn::StateOp>(op))
      return "k";
    if (isa<attn::ReadoutOp>(op))
      return "q";
  }
  return "";
}

static bool isCotangent(attn::CausalReadoutGradientOp op, Value value) {
  return value == op.getNumerator() || value == op.getDenominator() || value == op.getState() || value == op.getSum();
}

/// The name that the spec gives to what an op reads there; empty if the op does not say.
static StringRef nameOfUse(OpOperand &use) {
  Operation *op = use.getOwner();
  Value value = use.get();
  if (auto gate = dyn_cast<attn::GateOp>(op))
    return value == gate.getGate() ? "w" : "v";
  if (auto decay = dyn_cast<attn::DecayOp>(op))
    return value == decay.getDecay() ? "g" : "key_lengths";
  auto attention = [&](auto op) -> StringRef {
    return value == op.getQuery() ? "q" : value == op.getKey() ? "k" : value == op.getValue() ? "v" : "key_lengths";
  };
  if (auto softmax = dyn_cast<attn::SoftmaxOp>(op))
    return value == softmax.getSlopes() ? "slope" : attention(softmax);
  if (auto polynomial = dyn_cast<attn::PolynomialOp>(op))
    return attention(polynomial);
  if (auto map = dyn_cast<attn::MapOp>(op); map && value == map.getPosition())
    return "position";
  if (auto rope = dyn_cast<attn::RopeOp>(op))
    return value == rope.getAligned() ? "position" : "";
  if (auto advance = dyn_cast<attn::AdvanceOp>(op))
    return value == advance.getPosition() ? "position" : value == advance.getLengths() ? "key_lengths" : "k";
  if (auto map = dyn_cast<attn::MapOp>(op))
    return value == map.getSource() ? nameOfFeatures(map.getResult()) : "key_lengths";
  if (auto state = dyn_cast<attn::StateOp>(op))
    return value == state.getValue() ? "v" : "key_lengths";
  if (auto contract = dyn_cast<attn::ContractOp>(op))
    return "v";
  auto ofReadout = [&](auto readout) -> StringRef {
    return value == readout.getInitialState() ? "initial_state"
           : value == readout.getInitialSum() ? "initial_sum"
           : value == readout.getInitialScale() ? "initial_scale"
           : value == readout.getValue()      ? "v"
           : value == readout.getDecay()      ? "g"
           : value == readout.getErase()      ? "beta"
                                              : "key_lengths";
  };
  if (auto readout = dyn_cast<attn::CausalReadoutOp>(op))
    return ofReadout(readout);
  if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(op); gradient && !isCotangent(gradient, value))
    return value == gradient.getWrite() ? "w" : ofReadout(gradient);
  return "";
}

static std::string nameOfArgument(func::FuncOp function, BlockArgument argument) {
  if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name"))
    return name.str();
  if (auto cuts = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attn::offsetsAttr))
    return cuts == "k" ? "key_offsets" : "offsets";
  for (OpOperand &use : argument.getUses())
    if (StringRef name = nameOfUse(use); !name.empty())
      return name.str();
  return "argument" + std::to_string(argument.getArgNumber());
}

/// The output is o or y, its other results lse, final_state, final_sum, final_scale and final_position, wherever they stand.
static std::string nameOfResult(func::FuncOp function, unsigned position, Value value) {
  if (auto name = function.getResultAttrOfType<StringAttr>(position, "attn.name"))
    return name.str();
  if (position == 0 && !isState(value))
    return cast<RankedTensorType>(value.getType()).getRank() == 3 ? "y" : "o";
  if (auto softmax = value.getDefiningOp<attn::SoftmaxOp>(); softmax && softmax.getLse() == value)
    return "lse";
  if (value.getDefiningOp<attn::AdvanceOp>())
    return "final_position";
  if (auto readout = value.getDefiningOp<attn::CausalReadoutOp>(); readout && readout.getScale() == value)
    return "final_scale";
  return cast<RankedTensorType>(value.getType()).getRank() == 4 ? "final_state" : "final_sum";
}

/// A name without that of its part.
static StringRef inItsPart(StringRef name) {
  auto [first, rest] = name.split('.');
  bool isPart = first.consume_front("part") && !first.empty() && llvm::all_of(first, llvm::isDigit);
  return isPart ? rest : name;
}

/// What a run goes on from, and leaves for the next one.
static bool isOfState(StringRef name, bool given) {
  name = inItsPart(name);
  return given ? name.starts_with("state.") || name.starts_with("initial_") || name == "position"
               : name.starts_with("final_");
}

//===----------------------------------------------------------------------===//
// Memories
//===----------------------------------------------------------------------===//

/// Any outer strides, inner stride 1.
static MemRefType memoryType(ArrayRef<int64_t> shape, Type element) {
  if (shape.size() == 1)
    return MemRefType::get(shape, element);
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  strides.back() = 1;
  return MemRefType::get(shape, element, StridedLayoutAttr::get(element.getContext(), /*offset=*/0, strides));
}

/// Batch and sequence lengths are always run-time sizes. `dims` has b, q, k for them, 1 for the one entry that packed tokens have in
/// place of a batch, and a dot for a size that is static.
static MemRefType memoryType(RankedTensorType tensor, StringRef dims) {
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, dims))
    size = dim == '.' ? size : ShapedType::kDynamic;
  return memoryType(shape, tensor.getElementType());
}

/// Whether it says what tokens leave, erase or write.
static bool isGate(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return llvm::is_contained({"g", "beta", "w"}, nameOfUse(use));
  });
}

/// What the dimensions of a tensor count, by its name.
static std::string dimsOf(StringRef name, RankedTensorType tensor, bool parameter) {
  std::string none(tensor.getRank(), '.');
  if (parameter) {
    StringRef last = name.rsplit('.').second.empty() ? name : name.rsplit('.').second;
    bool compression = (last == "e" || last == "f") && tensor.getRank() == 3;
    if (compression && tensor.isDynamicDim(2))
      none.back() = 'k';
    return none;
  }
  static const std::pair<StringLiteral, StringLiteral> rows[] = {
      {"q", "b.q."},   {"k", "b.k."},         {"v", "b.k."},        {"x", "bq."},        {"context", "bk."},
      {"o", "b.q."},   {"y", "bq."},          {"lse", "b.q"},       {"key_lengths", "b"}, {"offsets", "b"}, {"key_offsets", "b"},
      {"initial_state", "b..."}, {"initial_sum", "b.."}, {"final_state", "b..."}, {"final_sum", "b.."}, {"initial_scale", "b.."},
      {"final_scale", "b.."}, {"position", "b"}, {"final_position", "b"}, {"state.s", "b..."}, {"state.z", "b.."}, {"state.scale", "b.."},
      {"state.position", "b"}, {"final_state.s", "b..."}, {"final_state.z", "b.."}, {"final_state.scale", "b.."}, {"final_state.position", "b"},
      {"state.scale", "b."}, {"final_state.scale", "b."}, {"state.k", "b..."}, {"state.v", "b..."}, {"final_state.k", "b..."},
      {"final_state.v", "b..."}, {"saved.state", "b..."}, {"saved.sum", "b.."}, {"saved.maximum", "b.."}, {"saved.feature_lse", "b.."}, {"saved.o", "b.q."}, {"saved.lse", "b.q"}};
  for (auto [known, dims] : rows)
    if (known == inItsPart(name) && static_cast<int64_t>(dims.size()) == tensor.getRank())
      return dims.str();
  return none;
}

namespace {
struct HostArgument {
  std::string name, dims;
  RankedTensorType tensor;
  Value value;
  std::optional<unsigned> position; // in the attn function; none for results
  StringRef role;
};
} // namespace

/// The argument whose tokens the rows of a value are; null if they are none's, as those of compressed tokens.
static BlockArgument rowsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return cast<BlockArgument>(value);
  if (auto keep = dyn_cast<attn::KeepOp>(op))
    return rowsOf(keep.getSource());
  if (auto saved = dyn_cast<attn::SavedOp>(op))
    return rowsOf(saved.getComputed());
  bool follows = isa<attn::MechanismOpInterface, attn::LepeOp, attn::ConcatHeadsOp, attn::TakeHeadsOp, attn::RepeatHeadsOp, attn::RopeOp, attn::QkNormOp,
                     attn::ProjectOp, attn::ProjectOutputOp>(op) || ruleOf(op);
  return follows && !isState(value) ? rowsOf(rowsOperand(op)) : BlockArgument();
}

/// What the dimensions of a result count whose name does not say it: batch, then heads unless its rows are those of a layer, then what
/// its rows are of. Sizes that are static stay so.
static std::string dimsOfResult(Value result, ArrayRef<HostArgument> arguments) {
  auto tensor = cast<RankedTensorType>(result.getType());
  std::string dims(tensor.getRank(), '.');
  dims[0] = 'b';
  BlockArgument rows = rowsOf(result);
  StringRef of = rows ? StringRef(arguments[rows.getArgNumber()].dims) : StringRef();
  size_t row = result.getDefiningOp<attn::ProjectOutputOp>() ? 1 : 2;
  if (row < dims.size() && of.size() > 2)
    dims[row] = of[of.size() - 2];
  return dims;
}

/// Cotangents are 0 where they are absent, gradients are computed of what is asked for, and what is saved is computed again.
static StringRef roleOf(StringRef name, bool given, bool parameter) {
  if (name.starts_with(attn::gradientPrefix))
    return given ? "optional_input" : "optional_output";
  if (given)
    return parameter ? "parameter" : isOfState(name, given) || name.starts_with(attn::savedPrefix) ? "optional_input" : "input";
  return name == "o" || name == "y" ? "output" : "optional_output";
}

/// How many sequences a packed function's offsets cut, where their type says it.
static int64_t sequencesOf(func::FuncOp source) {
  int64_t offsets = cast<RankedTensorType>(attn::offsetsOf(source, 'q').getType()).getDimSize(0);
  return ShapedType::isDynamic(offsets) ? offsets : offsets - 1;
}

/// The batch is the sequences: tokens of all of them lie in one entry, and all else but the offsets has an entry for each.
static void placeSequences(func::FuncOp source, HostArgument &argument) {
  if (argument.dims[0] != 'b' || argument.name == "offsets" || argument.name == "key_offsets")
    return;
  if (StringRef(argument.dims).find_first_of("qk") != StringRef::npos) {
    argument.dims[0] = '1';
    return;
  }
  SmallVector<int64_t> shape(argument.tensor.getShape());
  shape[0] = sequencesOf(source);
  argument.tensor = argument.tensor.clone(shape);
}

/// What the dimensions of a cotangent or a gradient count: the same as those of its tensor. None if it is none.
static std::optional<std::string> dimsOfGradient(StringRef name, RankedTensorType tensor, ArrayRef<HostArgument> arguments) {
  if (!name.consume_front(attn::gradientPrefix))
    return std::nullopt;
  const HostArgument *same = llvm::find_if(arguments, [&](const HostArgument &each) { return each.name == name; });
  return same == arguments.end() ? dimsOf(name, tensor, /*parameter=*/false) : same->dims;
}

/// What an argument has been left of; null if it is no such argument.
static Value keptBy(Value argument) {
  for (Operation *user : argument.getUsers())
    if (auto saved = dyn_cast<attn::SavedOp>(user); saved && saved.getGiven() == argument)
      return saved.getComputed();
  return Value();
}

static SmallVector<HostArgument> hostArguments(func::FuncOp source) {
  SmallVector<HostArgument> arguments;
  auto add = [&](std::string name, Value value, std::optional<unsigned> position, bool parameter) {
    auto tensor = cast<RankedTensorType>(value.getType());
    std::string dims = dimsOf(name, tensor, parameter);
    if (isGate(value) && tensor.getRank() > 1)
      dims = tensor.getRank() == 3 ? "b.k" : "b.k.";
    if (std::optional<std::string> gradient = dimsOfGradient(name, tensor, arguments))
      dims = *gradient;
    else if (Value counted = position ? keptBy(value) : value; counted && StringRef(dims).count('.') == dims.size())
      dims = dimsOfResult(counted, arguments);
    StringRef role = roleOf(name, position.has_value(), parameter);
    arguments.push_back({std::move(name), std::move(dims), tensor, value, position, role});
    if (attn::isPacked(source))
      placeSequences(source, arguments.back());
  };
  for (BlockArgument argument : source.getArguments())
    add(nameOfArgument(source, argument), argument, argument.getArgNumber(),
        static_cast<bool>(source.getArgAttr(argument.getArgNumber(), "attn.parameter")));
  Operation *terminator = source.getBody().front().getTerminator();
  for (OpOperand &result : terminator->getOpOperands())
    add(nameOfResult(source, result.getOperandNumber(), result.get()), result.get(), std::nullopt, false);
  return arguments;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The indices of a sketch say which of its signs' columns it keeps: `leaf0.index` those of `leaf0.sign`.
static std::optional<int64_t> indexBound(const HostArgument &argument, ArrayRef<HostArgument> arguments) {
  auto [scope, last] = StringRef(argument.name).rsplit('.');
  if (argument.role != "parameter" || !last.consume_front("index"))
    return std::nullopt;
  std::string signs = (scope + ".sign" + last).str();
  auto found = llvm::find_if(arguments, [&](const HostArgument &other) { return other.name == signs; });
  return found == arguments.end() ? std::nullopt : std::optional(found->tensor.getShape().back());
}

/// The tokens that these offsets cut; null if they are none.
static StringAttr offsetsOf(const HostArgument &argument) {
  auto function = cast<func::FuncOp>(cast<BlockArgument>(argument.value).getOwner()->getParentOp());
  return function.getArgAttrOfType<StringAttr>(*argument.position, attn::offsetsAttr);
}

/// Where the run before has found what this is the final one of: final_state.s goes on from state.s, final_state from initial_state.
static std::string initialOf(StringRef name) {
  auto [before, after] = name.split("final_");
  bool named = after.starts_with("state.") || after == "position";
  return (before + (named ? "" : "initial_") + after).str();
}

/// The most that the places of tokens may come to, if this says where they begin; 0: as many as an i32 counts.
static std::optional<int64_t> mostPosition(const HostArgument &argument) {
  std::optional<int64_t> most;
  if (!argument.position || !cast<RankedTensorType>(argument.value.getType()).getElementType().isInteger(32))
    return most;
  for (Operation *user : argument.value.getUsers()) {
    auto map = dyn_cast<attn::MapOp>(user);
    auto sketched = dyn_cast<attn::PolysketchOp>(user);
    bool counts = isa<attn::RopeOp>(user) || (sketched && sketched.getPosition() == argument.value);
    if (auto advance = dyn_cast<attn::AdvanceOp>(user); counts || (advance && advance.getPosition() == argument.value))
      most = most.value_or(0);
    else if (map && map.getPosition() == argument.value)
      most = map.getFeatureMap().getMaxPosition();
  }
  return most;
}

/// Whether rows without any key are more than zeros: a bias is added to them.
static bool isBiased(const HostArgument &argument) {
  auto project = argument.value.getDefiningOp<attn::ProjectOutputOp>();
  return project && project.getBias();
}

static NamedAttrList attributesOf(const HostArgument &argument, ArrayRef<HostArgument> arguments, Builder builder) {
  NamedAttrList list;
  list.append(kernel::argumentNameAttr, builder.getStringAttr(argument.name));
  list.append(kernel::argumentTensorAttr, TypeAttr::get(argument.tensor));
  list.append(kernel::argumentRoleAttr, builder.getStringAttr(argument.role));
  list.append(kernel::argumentDimsAttr, builder.getStringAttr(argument.dims));
  if (argument.position)
    list.append(kernel::argumentPositionAttr, builder.getI64IntegerAttr(*argument.position));
  if (argument.name == "key_lengths")
    list.append(kernel::argumentKeyLengthsAttr, builder.getUnitAttr());
  if (StringAttr cuts = argument.position ? offsetsOf(argument) : StringAttr())
    list.append(kernel::argumentOffsetsAttr, cuts);
  bool isFinal = !argument.position && isOfState(argument.name, /*given=*/false);
  StringRef name = argument.name;
  name.consume_front(attn::savedPrefix);
  bool isLse = !argument.position && name == "lse";
  if (isLse || isBiased(argument) || isFinal)
    list.append(kernel::argumentEmptyAttr, builder.getStringAttr(isLse ? "minus_infinity" : "computed"));
  if (isFinal)
    if (std::string initial = initialOf(argument.name); llvm::any_of(arguments, [&](const HostArgument &other) { return other.name == initial; }))
      list.append(kernel::argumentInPlaceAttr, builder.getStringAttr(initial));
  if (std::optional<int64_t> most = mostPosition(argument))
    list.append(kernel::argumentPositionsAttr, builder.getI64IntegerAttr(*most));
  if (argument.role == "parameter" && StringRef(argument.name).rsplit('.').second.starts_with("sign"))
    list.append(kernel::argumentSignsAttr, builder.getUnitAttr());
  if (std::optional<int64_t> bound = indexBound(argument, arguments))
    list.append(kernel::argumentIndexBoundAttr, builder.getI64IntegerAttr(*bound));
  return list;
}

func::FuncOp kernel::makeHost(func::FuncOp source, IRMapping &memories) {
  OpBuilder builder(source);
  SmallVector<HostArgument> arguments = hostArguments(source);
  SmallVector<Type> types;
  for (const HostArgument &argument : arguments)
    types.push_back(memoryType(argument.tensor, argument.dims));
  auto host =
      func::FuncOp::create(builder, source.getLoc(), source.getName(), builder.getFunctionType(types, {}));
  Block *body = host.addEntryBlock();
  SmallVector<DictionaryAttr> attributes; // set at once: a context keeps each list of them, and sketches have thousands of arguments
  for (auto [place, argument] : llvm::enumerate(arguments)) {
    attributes.push_back(attributesOf(argument, arguments, builder).getDictionary(builder.getContext()));
    memories.map(argument.value, body->getArgument(place));
  }
  host.setAllArgAttrs(attributes);
  if (Attribute plan = source->getAttr("attn.plan"))
    host->setAttr("attn.plan", plan);
  addSizeRules(source, host);
  return host;
}
