//===- Suggest.cpp - attnc suggest ----------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which attention to use is a question of somebody's own tensors: every candidate runs on them, its output is held
// against that of exact softmax in f32, and all are timed by turns, round after round, so that a change of the clock
// meets all alike.
//
//===----------------------------------------------------------------------===//
#include "Candidates.h"
#include "SuggestReport.h"
#include "TimedLibrary.h"

#include "attune/Commands/Commands.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/WriteSpec.h"
#include "attune/Graph/Selection.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/Pipelines.h"
#include "attune/Support/UniqueFile.h"

#include <chrono>
#include <cmath>

using namespace attune;
using namespace attune::attnc;

namespace {
/// A candidate on its way to the report.
struct Trial {
  Suggestion suggestion;
  TimedLibrary library;
};

/// What all candidates share: the tensors that were given, one output, and what is exact.
struct Setting {
  const Arguments &arguments;
  cost::DeviceDescription device;
  RunTensors tensors;
  std::vector<NamedTensor> weights; ///< of the layer around the mechanism
  std::vector<NamedTensor> own;     ///< of the spec as given, if all of them were
  HostTensor exact;                 ///< in f32
};
} // namespace

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// ‖got − exact‖ / ‖exact‖ over the elements [first, last) of each of `count` stretches of `stride`.
static double relativeError(llvm::ArrayRef<double> got, llvm::ArrayRef<double> exact, size_t first, size_t last,
                            size_t stride) {
  double difference = 0, size = 0;
  for (size_t start = 0; start < exact.size(); start += stride)
    for (size_t i = start + first; i < start + last; ++i) {
      difference += (got[i] - exact[i]) * (got[i] - exact[i]);
      size += exact[i] * exact[i];
    }
  if (difference == 0)
    return 0;
  return size > 0 ? std::sqrt(difference / size) : std::numeric_limits<double>::infinity();
}

static void measureError(Suggestion &suggestion, const HostTensor &output, const HostTensor &reference) {
  std::vector<double> got = toDoubles(output), exact = toDoubles(reference);
  suggestion.error = relativeError(got, exact, 0, exact.size(), exact.size());
  if (output.shape.size() != 4)
    return; // y [batch, n, D], in which the heads are mixed
  size_t heads = output.shape[1], head = output.shape[2] * output.shape[3];
  suggestion.worstHead = 0;
  for (size_t h = 0; h < heads; ++h)
    suggestion.worstHead =
        std::max(*suggestion.worstHead, relativeError(got, exact, h * head, (h + 1) * head, heads * head));
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Softmax with the logits of a spec's softmax-like parts.
static Spec exactFor(const Spec &spec) {
  Spec exact = exactOf(spec);
  bool power = llvm::all_of(spec.parts, [](const Part &part) {
    return part.mechanism.has("degree");
  });
  if (!power)
    exact.scale = spec.scale;
  return exact;
}

static llvm::Expected<double> predict(const Spec &spec, const Setting &setting) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, setting.arguments.specs.front(), setting.arguments.target, status);
  if (!compilation)
    return llvm::createStringError("the spec could not be compiled");
  graph::SelectOptions options;
  options.device = setting.device;
  options.device.runOn(pricedThreads(setting.arguments));
  for (const Pin &pin : spec.pin)
    options.pins.push_back({pin.law, pin.form});
  auto selection = graph::selectRewrites(compilation->module(), options);
  if (failed(selection))
    return llvm::createStringError("no plan for " + setting.arguments.target);
  return selection->functions.front().seconds;
}

/// Compiles, and gives it what is there of its parameters; the others are drawn.
static llvm::Expected<TimedLibrary> load(const Spec &spec, Setting &setting, llvm::ArrayRef<NamedTensor> there) {
  llvm::Expected<TimedLibrary> library = TimedLibrary::make(spec, setting.arguments);
  if (!library)
    return library.takeError();
  RunTensors parameters;
  for (const SpecTensor &tensor : parameterTensors(spec)) {
    const auto *given = llvm::find_if(there, [&](const NamedTensor &weight) { return weight.name == tensor.name; });
    if (given != there.end())
      parameters.parameters.push_back(*given);
    else if (llvm::Error error = drawTensors(tensor, setting.arguments.seed, parameters.parameters))
      return std::move(error);
  }
  if (llvm::Error error = library->prepare(parameters, setting.arguments))
    return std::move(error);
  if (setting.tensors.outputs.empty())
    if (llvm::Error error = makeOutputs(library->interface, setting.tensors))
      return std::move(error);
  return library;
}

static llvm::Expected<Trial> tryOut(const Candidate &candidate, Setting &setting) {
  Trial trial;
  trial.suggestion.label = candidate.label, trial.suggestion.spec = candidate.spec;
  llvm::Expected<double> predicted = predict(candidate.spec, setting);
  if (!predicted)
    return predicted.takeError();
  trial.suggestion.predicted = *predicted;
  llvm::Expected<TimedLibrary> library =
      load(candidate.spec, setting, candidate.isOwn && !setting.own.empty() ? setting.own : setting.weights);
  if (!library)
    return library.takeError();
  trial.library = std::move(*library);
  if (llvm::Error error = trial.library.run(setting.tensors))
    return std::move(error);
  trial.library.seconds.clear(); // the first run wakes threads and touches memory
  measureError(trial.suggestion, setting.tensors.outputs.front().tensor, setting.exact);
  if (!std::isfinite(trial.suggestion.error))
    return llvm::createStringError("its output is not finite");
  return trial;
}

static bool isFinite(const HostTensor &tensor) {
  return tensor.type == ElementType::I32 ||
         llvm::all_of(toDoubles(tensor), [](double value) { return std::isfinite(value); });
}

/// Without a finite output there is nothing to be close to; a tensor that is not finite is the likely cause.
static llvm::Error checkExact(const Setting &setting) {
  if (isFinite(setting.exact))
    return llvm::Error::success();
  for (const std::vector<NamedTensor> *list : {&setting.tensors.inputs, &setting.weights})
    for (const NamedTensor &tensor : *list)
      if (!isFinite(tensor.tensor))
        return llvm::createStringError("expected finite numbers in " + tensor.name +
                                       ", but got nan or inf, and so does the output of exact softmax");
  return llvm::createStringError("expected a finite output of exact softmax on these tensors, but got nan or inf: their "
                                 "numbers are too large");
}

/// The output of exact softmax in f32 on the tensors as the spec's type holds them.
static llvm::Error computeExact(Spec exact, Setting &setting) {
  exact.dtype = ElementType::F32;
  Setting wide{setting.arguments, setting.device, {}, {}, {}, {}};
  auto widen = [](llvm::ArrayRef<NamedTensor> from, std::vector<NamedTensor> &to) -> llvm::Error {
    for (const NamedTensor &tensor : from) {
      bool isFloatTensor = tensor.tensor.type != ElementType::I32;
      llvm::Expected<HostTensor> converted =
          convertTensor(tensor.tensor, isFloatTensor ? ElementType::F32 : ElementType::I32);
      if (!converted)
        return converted.takeError();
      to.push_back({tensor.name, std::move(*converted)});
    }
    return llvm::Error::success();
  };
  if (llvm::Error error =
          llvm::joinErrors(widen(setting.tensors.inputs, wide.tensors.inputs), widen(setting.weights, wide.weights)))
    return error;
  llvm::Expected<TimedLibrary> library = load(exact, wide, wide.weights);
  if (!library)
    return library.takeError();
  if (llvm::Error error = library->run(wide.tensors))
    return error;
  setting.exact = std::move(wide.tensors.outputs.front().tensor);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// At least 5 rounds over exact softmax and all trials, then until two seconds have passed.
static llvm::Error timeAll(TimedLibrary &exact, llvm::MutableArrayRef<Trial> trials, Setting &setting) {
  auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < 100; ++round) {
    if (round >= 5 && std::chrono::steady_clock::now() - start > std::chrono::seconds(2))
      break;
    if (llvm::Error error = exact.run(setting.tensors))
      return error;
    for (Trial &trial : trials)
      if (llvm::Error error = trial.library.run(setting.tensors))
        return error;
  }
  for (Trial &trial : trials) {
    Spread time(trial.library.seconds);
    trial.suggestion.seconds = time.median, trial.suggestion.least = time.least, trial.suggestion.most = time.most;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Runs all candidates for `resolved`, whose sizes are known.
static llvm::Error fill(SuggestReport &report, const Spec &resolved, Setting &setting) {
  Spec exactSpec = exactFor(resolved);
  llvm::Expected<TimedLibrary> exact = load(exactSpec, setting, setting.weights);
  if (!exact)
    return exact.takeError();
  if (llvm::Error error = exact->run(setting.tensors))
    return error;
  exact->seconds.clear();
  llvm::Expected<double> predicted = predict(exactSpec, setting);
  if (!predicted)
    return predicted.takeError();
  report.exactPredicted = *predicted;
  std::vector<Trial> trials;
  for (const Candidate &candidate : candidatesFor(resolved)) {
    llvm::Expected<Trial> trial = tryOut(candidate, setting);
    if (trial)
      trials.push_back(std::move(*trial));
    else
      report.skipped.push_back(candidate.label + ": " + llvm::toString(trial.takeError()));
  }
  if (llvm::Error error = timeAll(*exact, trials, setting))
    return error;
  Spread exactTime(exact->seconds);
  report.exactSeconds = exactTime.median, report.unrest = exactTime.most / exactTime.least;
  llvm::Expected<attune_info> info = exact->library->info();
  if (!info)
    return info.takeError();
  report.threads = info->threads;
  for (Trial &trial : trials)
    report.tried.push_back(std::move(trial.suggestion));
  judge(report);
  return llvm::Error::success();
}

static int writeFiles(const SuggestReport &report, const Spec &spec, const Arguments &arguments) {
  if (!arguments.plot.empty())
    if (llvm::Error error = writeFile(arguments.plot, [&](llvm::raw_ostream &os) { drawReport(report, os); }))
      return fail(std::move(error));
  if (arguments.output.empty())
    return Done;
  if (!report.chosen)
    return fail("no attention within --max-error is faster than exact softmax, so there is no spec to write to " +
                arguments.output + "; see the table, or allow a larger error");
  Spec chosen = adopt(spec, report.tried[*report.chosen].spec);
  llvm::Error error = writeFile(arguments.output, [&](llvm::raw_ostream &os) { os << writeSpec(chosen); });
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}

int attune::attnc::suggest(const Arguments &arguments) {
  const std::string &path = arguments.specs.front();
  Spec spec;
  if (SpecStatus good = loadSpec(path, spec, llvm::errs()); good != SpecStatus::Good)
    return exitStatus(good);
  llvm::Expected<TensorSource> source = TensorSource::open(arguments.in);
  if (!source)
    return fail(source.takeError(), Wrong);
  llvm::Expected<LoadedTensors> loaded = loadTensors(exactFor(spec), path, *source);
  if (!loaded)
    return fail(loaded.takeError(), Wrong);
  Spec resolved = resolveSizes(spec, loaded->spec.batch, loaded->spec.queries, loaded->spec.keys);
  Diagnostics diagnostics;
  if (!checkSizes(resolved, diagnostics))
    return fail("the sizes of these tensors do not suit the spec; attnc run says which", Wrong);
  llvm::Expected<cost::DeviceDescription> device =
      cost::DeviceDescription::named(arguments.device.empty() ? arguments.target : arguments.device);
  if (!device)
    return fail(device.takeError());
  Setting setting{arguments, std::move(*device), {std::move(loaded->inputs), {}, {}}, std::move(loaded->parameters), {},
                  {}};
  auto isThere = [&](const SpecTensor &tensor) { return source->contains(tensor.name); };
  if (llvm::all_of(parameterTensors(resolved), isThere)) {
    llvm::Expected<LoadedTensors> own = loadTensors(resolved, path, *source);
    if (!own)
      return fail(own.takeError(), Wrong);
    setting.own = std::move(own->parameters);
  }
  SuggestReport report;
  report.spec = resolved, report.target = arguments.target, report.maxError = arguments.maxError;
  report.device = setting.device.name, report.isWritten = !arguments.output.empty();
  if (llvm::Error error = computeExact(exactFor(resolved), setting))
    return fail(std::move(error));
  if (llvm::Error error = checkExact(setting))
    return fail(std::move(error), Wrong);
  if (llvm::Error error = fill(report, resolved, setting))
    return fail(std::move(error));
  arguments.json ? printReportAsJson(report, llvm::outs()) : printReport(report, llvm::outs());
  return writeFiles(report, spec, arguments);
}
