//===- SpecRun.cpp - A spec through both interpreters --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

#include "attune/Attn/Attn.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Graph/Selection.h"
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/EvalTile.h"
#include "attune/Reference/HostArrays.h"
#include "attune/Reference/Tolerance.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/DebugStringHelper.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace attune;
using namespace attune::test;
using reference::Precision;

Specs::Specs() {
  context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>();
  context.disableMultithreading();
}

std::vector<Sizes> test::square(std::initializer_list<int64_t> lengths) {
  std::vector<Sizes> sizes;
  for (int64_t length : lengths)
    sizes.push_back({length, length});
  return sizes;
}

//===----------------------------------------------------------------------===//
// The spec
//===----------------------------------------------------------------------===//

static bool has(const SpecCase &c, const char *text) { return c.fields.find(text) != std::string::npos; }

static int64_t batchOf(const SpecCase &c) { return has(c, "key_lengths: true") ? 3 : c.batch; }

static std::string textOf(const SpecCase &c, std::optional<Sizes> sizes, const std::string &form) {
  auto show = [](std::optional<int64_t> size) { return size ? std::to_string(*size) : "'?'"; };
  std::string text = "{attention: probe";
  if (!has(c, "dtype:"))
    text += ", dtype: f32";
  text += ", batch: " + show(sizes ? std::optional(batchOf(c)) : std::nullopt);
  text += ", queries: " + show(sizes ? std::optional(sizes->queries) : std::nullopt);
  if (!has(c, "projection:") || has(c, "cross: true"))
    text += ", keys: " + show(sizes ? std::optional(sizes->keys) : std::nullopt);
  if (!form.empty() || !c.fold.empty())
    text += ", pin: {" + (form.empty() ? "" : "linearize: " + form) + (form.empty() || c.fold.empty() ? "" : ", ") +
            (c.fold.empty() ? "" : "fold: " + c.fold) + "}";
  return text + ", " + c.fields + "}";
}

/// A spec that must be free of mistakes.
static std::optional<Spec> parse(const std::string &text) {
  SourceFile file("probe.yaml", text);
  Spec spec;
  Diagnostics diagnostics;
  SpecStatus status = parseSpec(file, spec, diagnostics);
  EXPECT_EQ(status, SpecStatus::Good);
  print(diagnostics, file, llvm::errs());
  return status == SpecStatus::Good ? std::optional(spec) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// By name.
using Tensors = std::map<std::string, reference::Array>;

/// The first entry of the batch has no keys, the last one all.
static reference::Array drawLengths(int64_t batch, int64_t keys) {
  reference::Array lengths({batch});
  for (int64_t b = 0; b < batch; ++b)
    lengths({b}) = static_cast<double>(b == 0 ? 0 : b + 1 == batch ? keys : keys / 2 + 1 > keys ? keys : keys / 2 + 1);
  return lengths;
}

/// Rows of tokens that do not exist, as NaN; their dimension is the last but one.
static void spoil(reference::Array &tokens, const reference::Array &lengths) {
  int64_t rows = tokens.size(tokens.rank() - 2), width = tokens.size(tokens.rank() - 1);
  int64_t heads = tokens.rank() == 4 ? tokens.size(1) : 1;
  for (int64_t place = 0; place < tokens.bufferCount(); ++place) {
    int64_t row = place / width % rows, batch = place / (width * rows * heads);
    if (row >= static_cast<int64_t>(lengths({batch})))
      tokens.element(place) = NAN;
  }
}

/// [batch, heads, tokens] or [batch, heads, tokens, entries].
static void spoilGate(reference::Array &gate, const reference::Array &lengths) {
  int64_t entries = gate.rank() == 4 ? gate.size(3) : 1, tokens = gate.size(2);
  for (int64_t place = 0; place < gate.bufferCount(); ++place)
    if (place / entries % tokens >= static_cast<int64_t>(lengths({place / (entries * tokens * gate.size(1))})))
      gate.element(place) = NAN;
}

/// As drawn, so that each token leaves nothing of those before it, and so that all of it stays.
static void spreadDecays(const reference::Array &decay) {
  for (int64_t h = 0; h < decay.bufferCount(); ++h)
    decay.element(h) = h % 3 == 0 ? decay.element(h) : h % 3 == 1 ? -20 : 0;
}

/// A token in five leaves nothing of those before it, one nearly nothing.
static void spreadGates(const reference::Array &decay) {
  for (int64_t i = 0; i < decay.bufferCount(); ++i)
    decay.element(i) = i % 5 == 3 ? -50 : i % 5 == 1 ? -7 : decay.element(i);
}

static Type elementOf(MLIRContext &context, ElementType type) {
  Builder builder(&context);
  return type == ElementType::BF16  ? Type(builder.getBF16Type())
         : type == ElementType::F16 ? Type(builder.getF16Type())
         : type == ElementType::I32 ? Type(builder.getI32Type())
                                    : Type(builder.getF32Type());
}

static Tensors draw(MLIRContext &context, const Spec &spec, double magnitude) {
  Tensors tensors;
  for (auto list : {inputTensors(spec), parameterTensors(spec)})
    for (SpecTensor tensor : list) {
      bool tokens = llvm::is_contained({"q", "k", "x", "context"}, tensor.name);
      if (tokens)
        tensor.deviation *= magnitude;
      if (tensor.name != "key_lengths")
        tensors[tensor.name] = reference::toArray(drawTensor(tensor, 5), elementOf(context, tensor.type));
      if (tensor.elements == Elements::Retention)
        spreadDecays(tensors[tensor.name]);
      if (tensor.elements == Elements::LogGate)
        spreadGates(tensors[tensor.name]);
    }
  if (!spec.keyLengths)
    return tensors;
  reference::Array lengths = drawLengths(*spec.batch, *spec.keys);
  tensors["key_lengths"] = lengths;
  for (const char *name : {"k", "v", "context"})
    if (tensors.count(name))
      spoil(tensors[name], lengths);
  for (const char *name : {"g", "beta", "w"})
    if (tensors.count(name))
      spoilGate(tensors[name], lengths);
  return tensors;
}

static std::vector<int64_t> shapeOf(const SpecTensor &tensor) {
  std::vector<int64_t> shape;
  for (Size size : tensor.shape)
    shape.push_back(*size);
  return shape;
}

//===----------------------------------------------------------------------===//
// The two sides
//===----------------------------------------------------------------------===//

static FailureOr<reference::Array> evalDefinition(func::FuncOp function, const Tensors &tensors) {
  std::vector<reference::Array> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(tensors.at(function.getArgAttrOfType<StringAttr>(i, "attn.name").str()));
  FailureOr<std::vector<reference::Array>> results = reference::evalAttn(function, arguments);
  if (failed(results))
    return failure();
  return results->front();
}

/// The plans of a module of attn ops, as host functions, and the one that prepares.
static LogicalResult lower(ModuleOp module, const Spec &spec, bool small) {
  llvm::Expected<cost::DeviceDescription> device = cost::DeviceDescription::named("x86-64-avx512");
  graph::SelectOptions options{std::move(*device), {}};
  for (const Pin &pin : spec.pin)
    options.pins.push_back({pin.law, pin.form});
  if (failed(graph::selectRewrites(module, options)))
    return failure();
  MLIRContext *context = module.getContext();
  auto schedule = tile::ScheduleAttr::get(context, tile::TargetKind::CPU, /*query_tile=*/8, /*key_tile=*/8,
                                          /*piece=*/16, Float32Type::get(context), /*warps=*/1, /*stages=*/1);
  for (auto function : module.getOps<func::FuncOp>())
    if (small)
      function->setAttr("tile.schedule", schedule);
  PassManager manager(context);
  manager.addPass(kernel::createAttnToTile());
  manager.addPass(kernel::createTileSplitReduction());
  return manager.run(module);
}

/// Runs a host function on tensors by their names; those that are not there begin as NaN, so that what is not written
/// shows, and are there afterwards.
static LogicalResult runHost(func::FuncOp host, Tensors &tensors, const std::vector<int64_t> &output,
                             Precision precision) {
  std::vector<reference::Argument> arguments;
  for (unsigned i = 0; i < host.getNumArguments(); ++i) {
    std::string name = host.getArgAttrOfType<StringAttr>(i, kernel::argumentNameAttr).str();
    if (!tensors.count(name)) {
      bool prepared = host.getArgAttrOfType<StringAttr>(i, kernel::argumentRoleAttr) == "prepared";
      auto memory = cast<MemRefType>(host.getArgumentTypes()[i]);
      tensors[name] = reference::Array(prepared ? memory.getShape() : ArrayRef<int64_t>(output), NAN);
    }
    arguments.push_back(tensors[name]);
  }
  return reference::evalTile(host, arguments, {precision});
}

static void comparePlans(ModuleOp module, const Spec &resolved, const Tensors &tensors,
                         const reference::Array &expected, Precision precision, double tolerance) {
  SCOPED_TRACE(precision == Precision::Ideal ? "ideal" : "in the types of the kernels");
  SpecTensor output = outputTensor(resolved);
  Tensors prepared = tensors;
  for (auto host : module.getOps<func::FuncOp>())
    if (host->hasAttr(kernel::prepareAttr))
      ASSERT_TRUE(succeeded(runHost(host, prepared, {}, precision)));
  for (auto host : module.getOps<func::FuncOp>()) {
    if (host->hasAttr(kernel::prepareAttr))
      continue;
    SCOPED_TRACE(host.getName().str());
    Tensors run = prepared;
    ASSERT_TRUE(succeeded(runHost(host, run, shapeOf(output), precision)));
    double error = reference::relativeError(run.at(output.name).elements(), expected.elements());
    if (getenv("ATTUNE_SHOW_ERRORS"))
      llvm::errs() << (precision == Precision::Ideal ? "error " : "rounded ") << error << "\n";
    EXPECT_LE(error, tolerance) << reference::mismatch(run.at(output.name), expected, tolerance);
  }
}

/// What users are promised of f32, f16 and bf16.
/// The kernels with their loops cut in two: in exact arithmetic they compute what they did, if their carries are right.
static OwningOpRef<ModuleOp> withCutLoops(ModuleOp lowered, uint64_t seed) {
  OwningOpRef<ModuleOp> module = lowered.clone();
  PassManager manager(module->getContext());
  manager.addNestedPass<tile::KernelOp>(kernel::createTileCutLoops({seed}));
  EXPECT_TRUE(succeeded(manager.run(*module)));
  return module;
}

/// The largest relative error of any plan, in exact arithmetic.
static double errorOf(ModuleOp module, const Spec &resolved, const Tensors &tensors, const reference::Array &expected) {
  SpecTensor output = outputTensor(resolved);
  Tensors prepared = tensors;
  double error = 0;
  for (bool prepares : {true, false})
    for (auto host : module.getOps<func::FuncOp>()) {
      if (host->hasAttr(kernel::prepareAttr) != prepares)
        continue;
      Tensors run = prepared;
      EXPECT_TRUE(succeeded(runHost(host, prepares ? prepared : run, shapeOf(output), Precision::Ideal)));
      if (!prepares)
        error = std::fmax(error, reference::relativeError(run.at(output.name).elements(), expected.elements()));
    }
  return error;
}

static std::vector<tile::LoopOp> loopsThatCarry(ModuleOp module) {
  std::vector<tile::LoopOp> loops;
  module.walk([&](tile::LoopOp loop) {
    if (loop->getNumResults() > 0)
      loops.push_back(loop);
  });
  return loops;
}

static std::vector<tile::CarryAttrInterface> otherCarries(tile::LoopOp loop) {
  MLIRContext *context = loop.getContext();
  using tile::RescaledSumAttr;
  std::vector<tile::CarryAttrInterface> carries = {
      tile::SumAttr::get(context), tile::MaximumAttr::get(context), RescaledSumAttr::get(context, RescaledSumAttr::exp2),
      RescaledSumAttr::get(context, 2), RescaledSumAttr::get(context, 4)};
  llvm::erase_if(carries, [&](tile::CarryAttrInterface carry) {
    ScopedDiagnosticHandler silent(context, [](mlir::Diagnostic &) {});
    return carry == loop.getCarry() ||
           failed(carry.verifyState(loop->getResultTypes(), [&] { return mlir::emitError(loop.getLoc()); }));
  });
  return carries;
}

void Specs::checkCarries(const SpecCase &c) {
  std::string text = textOf(c, c.sizes.front(), c.forms.front());
  SCOPED_TRACE(text);
  std::optional<Spec> spec = parse(text);
  ASSERT_TRUE(spec);
  Tensors tensors = draw(context, *spec, c.magnitude);
  OwningOpRef<ModuleOp> module = specToAttn(*spec, "probe.yaml", context);
  FailureOr<reference::Array> expected = evalDefinition(*module->getOps<func::FuncOp>().begin(), tensors);
  ASSERT_TRUE(succeeded(expected));
  ASSERT_TRUE(succeeded(lower(*module, *spec, /*small=*/true)));
  size_t count = loopsThatCarry(*module).size(), wrong = 0;
  for (size_t i = 0; i < count; ++i)
    for (tile::CarryAttrInterface carry : otherCarries(loopsThatCarry(*module)[i])) {
      OwningOpRef<ModuleOp> changed = module->clone();
      tile::LoopOp loop = loopsThatCarry(*changed)[i];
      SCOPED_TRACE(debugString(loop.getCarry()) + " as " + debugString(carry) + " in " +
                   loop->getParentOfType<tile::KernelOp>().getName().str());
      loop.setCarryAttr(carry);
      double error = 0;
      for (uint64_t seed = 0; seed < 4; ++seed)
        error = std::fmax(error, errorOf(*withCutLoops(*changed, seed), *spec, tensors, *expected));
      EXPECT_GT(error, 1e-6);
      ++wrong;
    }
  EXPECT_GT(wrong, 0u);
}

static double contractOf(const SpecCase &c, const Spec &spec) {
  if (c.finite)
    return std::numeric_limits<double>::max();
  int64_t degree = 0;
  for (const Part &part : spec.parts)
    degree = std::max(degree, part.mechanism.degree);
  return reference::tolerance(spec.dtype, c.magnitude >= 30 ? 100 : 0, degree);
}

static std::vector<bool> tilesOf(const SpecCase &c) {
  return c.tiles == Tiles::Both ? std::vector<bool>{false, true} : std::vector<bool>{c.tiles == Tiles::Small};
}

void Specs::checkAt(const SpecCase &c, Sizes sizes, const std::string &form) {
  std::string text = textOf(c, sizes, form);
  SCOPED_TRACE(text);
  std::optional<Spec> spec = parse(text);
  if (!spec)
    return;
  Tensors tensors = draw(context, *spec, c.magnitude);
  OwningOpRef<ModuleOp> module = specToAttn(*spec, "probe.yaml", context);
  FailureOr<reference::Array> expected = evalDefinition(*module->getOps<func::FuncOp>().begin(), tensors);
  ASSERT_TRUE(succeeded(expected));
  for (bool small : tilesOf(c)) {
    SCOPED_TRACE(small ? "small tiles" : "chosen tiles");
    OwningOpRef<ModuleOp> lowered = module->clone();
    ASSERT_TRUE(succeeded(lower(*lowered, *spec, small)));
    if (!c.finite) {
      comparePlans(*lowered, *spec, tensors, *expected, Precision::Ideal, c.tolerance);
      SCOPED_TRACE("loops cut in two");
      comparePlans(*withCutLoops(*lowered, small), *spec, tensors, *expected, Precision::Ideal, c.tolerance);
    }
    if (!small || c.tiles == Tiles::Small)
      comparePlans(*lowered, *spec, tensors, *expected, Precision::Faithful, contractOf(c, *spec));
  }
}

/// One compilation for unknown sizes, every plan of it at every size.
void Specs::checkOpen(const SpecCase &c, const std::string &form) {
  std::string text = textOf(c, std::nullopt, form);
  SCOPED_TRACE(text);
  std::optional<Spec> spec = parse(text);
  if (!spec)
    return;
  OwningOpRef<ModuleOp> module = specToAttn(*spec, "probe.yaml", context);
  OwningOpRef<ModuleOp> lowered = module->clone();
  ASSERT_TRUE(succeeded(lower(*lowered, *spec, c.tiles != Tiles::Chosen)));
  for (Sizes sizes : c.sizes) {
    SCOPED_TRACE("n = " + std::to_string(sizes.queries) + ", N = " + std::to_string(sizes.keys));
    Spec resolved = resolveSizes(*spec, batchOf(c), sizes.queries, sizes.keys);
    Tensors tensors = draw(context, resolved, c.magnitude);
    FailureOr<reference::Array> expected = evalDefinition(*module->getOps<func::FuncOp>().begin(), tensors);
    ASSERT_TRUE(succeeded(expected));
    comparePlans(*lowered, resolved, tensors, *expected, Precision::Ideal, c.tolerance);
  }
}

void Specs::check(const SpecCase &c) {
  for (const std::string &form : c.forms) {
    for (Sizes sizes : c.sizes)
      checkAt(c, sizes, form);
    if (!c.finite && !has(c, "keys: split")) // which needs to know how many queries there are
      checkOpen(c, form);
  }
}
