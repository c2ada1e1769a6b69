//===- attune-plant.cpp - Planted faults in generated kernels ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attune-plant TARGET[:PRODUCTS] SPEC FOLDER [FAULT …]
//
// PRODUCTS are the matrix instructions, as attnc takes them after --gpu-products.
//
// Runs the kernels of a spec in the emulator on the tensors of a folder: first as they are, which must give no finding,
// the interpreter's values, no bank conflict in a loop, and as many shuffles as the layouts call for; then with each
// fault of the tables that belongs to a spec of this name, or those listed. Prints a line for each; exits 1 if a fault
// was not caught, or did not change what it says.
//
//===----------------------------------------------------------------------===//
#include "ExpectedShuffles.h"
#include "Fault.h"

#include "attune/Commands/RunTensors.h"
#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/HostArrays.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace attune;
using namespace attune::test;
using attnc::RunTensors;
using llvm::StringRef;

namespace {
struct Plant {
  std::string target, products, spec, folder;
  std::vector<double> expected;
  double tolerance = 0;

  llvm::Error interpret();
  struct Outcome {
    EmulatorReport report;
    double error = 0;    // of the output, relative; infinite without one
    bool ended = false;  // all kernels have run, and there is an output
    std::string problem; // what went wrong before that
    std::string refusal; // why the kernels were not accepted, or not run to their end
    std::string edit;    // of PTX
    std::optional<Change> claimed, seen;
    std::optional<uint64_t> shuffles; // that layouts call for, without a fault
  };
  Outcome run(const Fault *fault);
};
} // namespace

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// What SPEC allows for a storage type.
static double toleranceOf(ElementType type) {
  return type == ElementType::F32 ? 2e-5 : type == ElementType::F16 ? 4e-3 : 2e-2;
}

/// Frobenius norm of the difference over that of what was expected; infinite if something is not a number.
static double relativeError(const std::vector<double> &got, const std::vector<double> &expected) {
  double difference = 0, size = 0;
  for (auto [a, b] : llvm::zip_equal(got, expected))
    difference += (a - b) * (a - b), size += b * b;
  return std::isfinite(difference) ? std::sqrt(difference / size) : INFINITY;
}

llvm::Error Plant::interpret() {
  int status = 0;
  auto compilation = Compilation::open(spec, "cpu", status);
  if (!compilation)
    return llvm::createStringError("the spec does not compile");
  auto function = *compilation->module().getOps<mlir::func::FuncOp>().begin();
  llvm::Expected<RunTensors> tensors = attnc::readTensors(*compilation->spec(), spec, folder);
  if (!tensors)
    return tensors.takeError();
  std::vector<reference::Array> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    HostTensor *tensor = tensors->find(function.getArgAttrOfType<mlir::StringAttr>(i, "attn.name").getValue());
    auto type = llvm::cast<mlir::ShapedType>(function.getArgumentTypes()[i]);
    arguments.push_back(reference::toArray(*tensor, type.getElementType()));
  }
  auto results = reference::evalAttn(function, arguments);
  if (failed(results))
    return llvm::createStringError("the interpreter fails");
  expected = toDoubles(reference::toHostTensor(results->front(), ElementType::F64));
  return llvm::Error::success();
}

/// Plants and compares what the fault says with what has changed.
template <typename PlantIt> static void plant(PlantIt plantIt, mlir::ModuleOp module, Plant::Outcome &outcome) {
  Snapshot before(module);
  outcome.claimed = plantIt();
  outcome.seen = before.since(module);
  if (!outcome.claimed)
    outcome.problem = "the kernels have no such place";
  else if (!(*outcome.claimed == *outcome.seen))
    outcome.problem =
        llvm::formatv("{0} operations removed, {1} added, {2} changed, where the fault says {3}, {4}, {5}",
                      outcome.seen->removed, outcome.seen->added, outcome.seen->changed, outcome.claimed->removed,
                      outcome.claimed->added, outcome.claimed->changed);
  else if (mlir::failed(mlir::verify(module)))
    outcome.problem = "the code is not valid";
}

/// Changes the text that is shipped, which is what the emulator runs.
static void plantInPtx(const PtxEdit &edit, std::string &text, Plant::Outcome &outcome) {
  std::string before = text;
  std::optional<std::string> said = edit.apply(text);
  if (!said || text == before)
    outcome.problem = "PTX has no such place";
  else
    outcome.edit = *said + "; ";
}

Plant::Outcome Plant::run(const Fault *fault) {
  Outcome outcome;
  auto stopped = [&](const llvm::Twine &problem) {
    outcome.problem = outcome.problem.empty() ? problem.str() : outcome.problem;
    return std::move(outcome);
  };
  int status = 0;
  auto compilation = Compilation::open(spec, target, status);
  if (compilation && !products.empty())
    compilation->multiplyBy(products);
  if (!compilation || failed(compilation->advance(Stage::Tile)))
    return stopped("the spec does not compile");
  if (fault && fault->inTiles)
    plant([&] { return fault->inTiles(compilation->module()); }, compilation->module(), outcome);
  auto code = outcome.problem.empty() ? compileForGpu(*compilation) : std::nullopt;
  if (!code)
    return stopped("the kernels do not compile");
  if (fault && fault->inDevice)
    plant([&] { return fault->inDevice(*code); }, *code->device, outcome);
  if (!outcome.problem.empty())
    return outcome;
  if (failed(addPtx(*compilation, *code)))
    return stopped("the kernels have no PTX");
  if (fault && fault->inPtx)
    plantInPtx(*fault->inPtx, code->host.description.variants.front().ptx, outcome);
  if (!outcome.problem.empty())
    return outcome;
  llvm::Expected<RunTensors> tensors = attnc::readTensors(*compilation->spec(), spec, folder);
  if (!tensors)
    return stopped(llvm::toString(tensors.takeError()));
  if (llvm::Error error = attnc::makeOutputs(compilation->interface(), *tensors))
    return stopped(llvm::toString(std::move(error)));
  if (!fault)
    outcome.shuffles = expectedShuffles(*compilation, *tensors);
  llvm::Error error = emulate(*code, target, tensors->all(compilation->interface()), outcome.report);
  std::string message = llvm::toString(std::move(error));
  if (!message.empty() && outcome.report.clean()) {
    if (!fault || fault->symptom.kind != Symptom::Refused)
      return stopped(message);
    outcome.refusal = message;
  }
  const HostTensor &output = tensors->outputs.front().tensor;
  tolerance = toleranceOf(output.type);
  outcome.ended = message.empty();
  outcome.error = outcome.ended ? relativeError(toDoubles(output), expected) : INFINITY;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

static std::vector<const BankUse *> conflicts(const EmulatorReport &report, bool inLoops) {
  std::vector<const BankUse *> found;
  for (const BankUse &use : report.bankUse)
    if (use.inLoop == inLoops && use.waves > use.phases)
      found.push_back(&use);
  return found;
}

static std::string describe(const Plant &plant, const Plant::Outcome &outcome) {
  std::string text = outcome.edit + outcome.problem;
  llvm::raw_string_ostream os(text);
  if (!outcome.refusal.empty()) {
    os << "refused: " << outcome.refusal;
    return text;
  }
  for (unsigned kind = 0; kind < numFindingKinds; ++kind)
    if (outcome.report.totals[kind])
      os << findingName(FindingKind(kind)) << " " << outcome.report.totals[kind] << "; ";
  if (outcome.problem.empty())
    os << llvm::format("relative error %.1e, tolerance %.0e; bank conflicts of ", outcome.error, plant.tolerance)
       << conflicts(outcome.report, true).size() << " instructions in loops and of "
       << conflicts(outcome.report, false).size() << " outside; " << outcome.report.counters.shuffles << " shuffles";
  return text;
}

static bool isCaught(const Plant &plant, const Plant::Outcome &outcome, const Symptom &symptom) {
  bool clean = outcome.report.clean(), right = outcome.error <= plant.tolerance;
  if (!outcome.problem.empty())
    return false;
  if (symptom.kind == Symptom::Refused)
    return !outcome.refusal.empty() && StringRef(outcome.refusal).contains(symptom.said);
  if (symptom.kind == Symptom::Reported)
    return outcome.report.total(symptom.finding) != 0;
  if (symptom.kind == Symptom::WrongValues)
    return outcome.ended && !right;
  return clean && right && !conflicts(outcome.report, true).empty();
}

/// Without a fault: nothing to report.
static bool runAsIs(Plant &plant) {
  Plant::Outcome outcome = plant.run(nullptr);
  bool noConflict = conflicts(outcome.report, true).empty();
  uint64_t shuffles = outcome.report.counters.shuffles;
  bool good = outcome.problem.empty() && outcome.report.clean() && outcome.error <= plant.tolerance && noConflict &&
              outcome.shuffles == shuffles;
  llvm::outs() << (good ? "as it is: " : "FAIL as it is: ") << describe(plant, outcome) << "\n";
  if (outcome.problem.empty() && outcome.shuffles != shuffles)
    llvm::outs() << "  " << shuffles << " shuffles, where the layouts call for " << outcome.shuffles.value_or(0)
                 << "\n";
  if (!outcome.report.clean())
    outcome.report.printFindings(llvm::outs());
  for (bool inLoops : {true, false})
    for (const BankUse *use : conflicts(outcome.report, inLoops))
      llvm::outs() << llvm::format("  %.2f", use->wavesPerPhase()) << " waves a phase in " << use->kernel
                   << (inLoops ? ", in a loop, at " : " at ") << use->instruction << "\n";
  return good;
}

static bool runFault(Plant &plant, const Fault &fault) {
  Plant::Outcome outcome = plant.run(&fault);
  bool caught = isCaught(plant, outcome, fault.symptom);
  llvm::outs() << (caught ? "caught: " : "FAIL: ") << fault.name << " (" << fault.what
               << "): " << describe(plant, outcome) << "\n";
  return caught;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::SmallVector<StringRef> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    llvm::errs() << "error: expected TARGET[:PRODUCTS] SPEC FOLDER [FAULT …]\n";
    return 1;
  }
  auto [target, products] = arguments[0].split(':');
  Plant plant{target.str(), products.str(), arguments[1].str(), arguments[2].str(), {}};
  if (llvm::Error error = plant.interpret()) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  bool good = runAsIs(plant);
  llvm::ArrayRef<StringRef> listed = llvm::ArrayRef(arguments).drop_front(3);
  StringRef name = llvm::sys::path::stem(plant.spec);
  unsigned run = 0;
  for (llvm::ArrayRef<Fault> table : {orderFaults(), placeFaults(), fragmentFaults(), tileFaults(), warpgroupFaults(),
                                      ptxOperandFaults(), ptxImmediateFaults(), ptxOrderFaults(), ptxTypeFaults()})
    for (const Fault &fault : table)
      if (listed.empty() ? fault.spec == name : llvm::is_contained(listed, fault.name)) {
        good &= runFault(plant, fault);
        ++run;
      }
  llvm::outs() << run << " faults\n";
  return good ? 0 : 1;
}
