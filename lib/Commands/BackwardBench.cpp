//===- BackwardBench.cpp - Both passes of specs with gradients, timed -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BackwardBench.h"
#include "DrawnLibrary.h"

#include "attune/Attn/Backward.h"
#include "attune/Commands/Commands.h"
#include "attune/Frontend/SpecParser.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace attune;
using namespace attune::attnc;

namespace {
/// A spec's library and that of its gradients, which reads what the first has left.
struct TrainedLibrary {
  DrawnLibrary forward, backward;

  static llvm::Expected<TrainedLibrary> make(const Spec &spec, const Arguments &arguments);

  llvm::Error run() { return llvm::joinErrors(forward.run(), backward.run()); }
  void forget() { forward.library.seconds.clear(), backward.library.seconds.clear(); }
};

struct TrainingRow {
  std::string name;
  std::vector<double> forward, backward, exactForward, exactBackward;
  int32_t threads = 1;
};
} // namespace

/// Copies what a run has left, `saved.NAME` or an output NAME, to the inputs of the same name.
static llvm::Error handOn(DrawnLibrary &forward, const target::LibraryDescription &interface, RunTensors &tensors) {
  for (const target::TensorDescription &tensor : interface.tensors) {
    llvm::StringRef name = tensor.name;
    if (tensor.role != ATTUNE_RT_OPTIONAL_INPUT || !name.starts_with(attn::savedPrefix))
      continue;
    HostTensor *left = forward.tensors.find(name);
    left = left ? left : forward.tensors.find(name.drop_front(attn::savedPrefix.size()));
    if (!left)
      continue;
    llvm::Expected<HostTensor> copy = convertTensor(*left, left->type);
    if (!copy)
      return copy.takeError();
    tensors.inputs.push_back({tensor.name, std::move(*copy)});
  }
  return llvm::Error::success();
}

llvm::Expected<TrainedLibrary> TrainedLibrary::make(const Spec &spec, const Arguments &arguments) {
  llvm::Expected<DrawnLibrary> forward = DrawnLibrary::make(spec, arguments, {Direction::Forward, /*save=*/true});
  if (!forward)
    return forward.takeError();
  if (llvm::Error error = forward->run())
    return std::move(error);
  auto left = [&](const target::LibraryDescription &interface, RunTensors &tensors) { return handOn(*forward, interface, tensors); };
  llvm::Expected<DrawnLibrary> backward = DrawnLibrary::make(spec, arguments, {Direction::Backward, /*save=*/false, left});
  if (!backward)
    return backward.takeError();
  return TrainedLibrary{std::move(*forward), std::move(*backward)};
}

/// Exact softmax with the gradients that it has of those that are asked for; those of q, k and v, or of x, where it has none.
static Spec exactTrainedOf(const Spec &spec) {
  Spec exact = exactOf(spec);
  std::vector<std::string> had;
  for (const SpecTensor &tensor : differentiableTensors(exact))
    if (llvm::is_contained(exact.gradients, tensor.name))
      had.push_back(tensor.name);
  exact.gradients = had;
  exact.allGradients |= had.empty();
  return exact;
}

/// At least 7 rounds, then until two seconds have passed.
static llvm::Error measure(TrainedLibrary &candidate, TrainedLibrary &exact) {
  auto start = std::chrono::steady_clock::now();
  for (int round = -1; round < 200; ++round) {
    for (TrainedLibrary *each : {&candidate, &exact}) {
      if (llvm::Error error = each->run())
        return error;
      if (round < 0)
        each->forget();
    }
    if (round >= 6 && std::chrono::steady_clock::now() - start > std::chrono::seconds(2))
      break;
  }
  return llvm::Error::success();
}

static llvm::Expected<TrainingRow> benchSpec(const Spec &spec, const Arguments &arguments) {
  llvm::Expected<TrainedLibrary> candidate = TrainedLibrary::make(spec, arguments), exact = TrainedLibrary::make(exactTrainedOf(spec), arguments);
  if (!candidate || !exact)
    return llvm::joinErrors(candidate ? llvm::Error::success() : candidate.takeError(), exact ? llvm::Error::success() : exact.takeError());
  llvm::Expected<attune_info> info = candidate->forward.library.library->info();
  if (!info)
    return info.takeError();
  if (llvm::Error error = measure(*candidate, *exact))
    return std::move(error);
  return TrainingRow{spec.name, candidate->forward.library.seconds, candidate->backward.library.seconds, exact->forward.library.seconds,
                     exact->backward.library.seconds, info->threads};
}

static void printTable(llvm::ArrayRef<TrainingRow> rows) {
  llvm::outs() << "spec                        threads  forward ms  backward ms   least … most ms      backward / forward   exact / this\n";
  for (const TrainingRow &row : rows) {
    Spread forward(row.forward), backward(row.backward), exactForward(row.exactForward), exactBackward(row.exactBackward);
    llvm::outs() << llvm::format("%-28s%6d%13.3f%13.3f%10.3f …%8.3f%21.2f%15.2f\n", row.name.c_str(), row.threads, forward.median * 1e3,
                                 backward.median * 1e3, backward.least * 1e3, backward.most * 1e3, backward.median / forward.median,
                                 (exactForward.median + exactBackward.median) / (forward.median + backward.median));
  }
  llvm::outs() << "exact / this is of both passes together\n";
}

static void printJson(llvm::ArrayRef<TrainingRow> rows) {
  llvm::json::Array list;
  for (const TrainingRow &row : rows) {
    Spread forward(row.forward), backward(row.backward), exactForward(row.exactForward), exactBackward(row.exactBackward);
    list.push_back(llvm::json::Object{{"spec", row.name},
                                      {"threads", row.threads},
                                      {"runs", static_cast<int64_t>(row.backward.size())},
                                      {"forward_median_seconds", forward.median},
                                      {"backward_median_seconds", backward.median},
                                      {"backward_least_seconds", backward.least},
                                      {"backward_most_seconds", backward.most},
                                      {"exact_forward_median_seconds", exactForward.median},
                                      {"exact_backward_median_seconds", exactBackward.median}});
  }
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
}

int attune::attnc::benchBackward(llvm::ArrayRef<Spec> specs, const Arguments &arguments) {
  for (auto [spec, path] : llvm::zip_equal(specs, arguments.specs))
    if (!checkGradientsAsked(spec, path, llvm::errs()))
      return Wrong;
  std::vector<TrainingRow> rows;
  for (auto [spec, path] : llvm::zip_equal(specs, arguments.specs)) {
    llvm::Expected<TrainingRow> row = benchSpec(spec, forSpec(arguments, path));
    if (!row)
      return fail(row.takeError());
    rows.push_back(std::move(*row));
  }
  arguments.json ? printJson(rows) : printTable(rows);
  return Done;
}
