//===- Explain.cpp - A selection for people -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Explain.h"
#include "attune/Laws/RewriteLaw.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace attune;
using namespace attune::graph;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

using Row = std::vector<std::string>;

/// The columns from `numbers` on, but for the last one, are numbers: to the right.
static void printTable(llvm::ArrayRef<Row> rows, llvm::raw_ostream &out, size_t numbers = 2) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  for (const Row &row : rows) {
    std::string line = " ";
    for (size_t column = 0; column < row.size(); ++column) {
      bool number = column >= numbers && column + 1 < row.size();
      std::string padding(widths[column] - row[column].size(), ' ');
      line += " " + (number ? padding + row[column] : row[column] + padding) + " ";
    }
    out << llvm::StringRef(line).rtrim() << "\n";
  }
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// "part1 linearize" of "part1 linearize: state": what is in one of several forms.
static llvm::StringRef choiceOf(llvm::StringRef name) { return name.split(": ").first; }

namespace {
/// Of how many forms each choice has there is more than one to take.
class Choices {
public:
  explicit Choices(const FunctionSelection &function) {
    for (const Decision &decision : function.decisions)
      possible[choiceOf(decision.name())] += decision.feasible;
  }

  bool isOpen(llvm::StringRef name) const { return possible.lookup(choiceOf(name)) > 1; }

  /// The forms of a plan that could be others: "linearize: state, project wq: materialized".
  std::string openOf(llvm::StringRef forms) const {
    llvm::SmallVector<llvm::StringRef> names;
    forms.split(names, ", ", -1, /*KeepEmpty=*/false);
    llvm::erase_if(names, [&](llvm::StringRef name) { return !isOpen(name); });
    return llvm::join(names, ", ");
  }

private:
  llvm::StringMap<unsigned> possible;
};
} // namespace

/// The forms of a plan that another one does not have.
static std::string differenceOf(llvm::StringRef forms, llvm::StringRef other) {
  llvm::SmallVector<llvm::StringRef> names, others;
  forms.split(names, ", "), other.split(others, ", ");
  llvm::erase_if(names, [&](llvm::StringRef name) { return llvm::is_contained(others, name); });
  return llvm::join(names, ", ");
}

static std::string orOnly(std::string forms) { return forms.empty() ? "the only form" : forms; }

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static std::string where(const FunctionSelection &function, const Crossover &crossover) {
  return (crossover.below ? "below " : "from ") + function.lengthName + " = " + std::to_string(crossover.length);
}

/// "n = 4096" or "n = 1, N = 8000".
static std::string sizesOf(const FunctionSelection &function) {
  std::string queries = "n = " + std::to_string(function.queries);
  return function.queries == function.keys ? queries : queries + ", N = " + std::to_string(function.keys);
}

static const ConsentOffer *takenOffer(const FunctionSelection &function) {
  auto offer = llvm::find_if(function.consent, [](const ConsentOffer &each) { return each.taken; });
  return offer == function.consent.end() ? nullptr : &*offer;
}

static void answerPlan(const FunctionSelection &function, const Choices &choices, llvm::raw_ostream &out) {
  out << "@" << function.function << " on " << function.device;
  if (function.threads)
    out << ", " << function.threads << (function.threads == 1 ? " thread" : " threads");
  out << ": " << printSeconds(function.seconds) << " predicted at " << sizesOf(function) << ", batch " << function.batch
      << ", by ";
  std::string forms = choices.openOf(function.takenForms);
  if (const ConsentOffer *offer = takenOffer(function))
    out << "the approximation " << offer->law << ", which the spec allows" << (forms.empty() ? "" : ": ") << forms
        << "\n";
  else
    out << orOnly(std::move(forms)) << "\n";
}

static void answerExact(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (!function.exact) {
    out << (function.isSoftmax ? "  it is exact softmax\n"
                               : "  exact softmax of these sizes cannot run on this device\n");
    return;
  }
  const ExactComparison &exact = *function.exact;
  out << "  exact softmax, another function, would take " << printSeconds(exact.seconds) << ": "
      << comparePrice(exact.seconds, function.seconds);
  if (exact.cheaper)
    out << "; it is faster " << where(function, *exact.cheaper);
  else if (exact.dearer)
    out << "; it is slower " << where(function, *exact.dearer);
  else
    out << "; it is " << (exact.seconds < function.seconds ? "faster" : "slower") << " at every length";
  out << "\n";
}

static bool isPinned(const FunctionSelection &function) {
  return llvm::any_of(function.decisions, [](const Decision &decision) { return decision.pinned; });
}

static void answerForms(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (function.rejected.empty()) {
    out << (takenOffer(function) ? "  the approximation has no other plan\n" : "  there is no other plan\n");
    return;
  }
  const RejectedPlan &next = function.rejected.front();
  bool unpinned = isPinned(function) && next.seconds < function.seconds;
  out << (unpinned ? "  without the pin " : "  the next plan, with ") << differenceOf(next.forms, function.takenForms)
      << (unpinned ? "" : " instead,") << " would take " << printSeconds(next.seconds) << ": "
      << comparePrice(next.seconds, function.seconds);
  auto flip = llvm::find_if(function.decisions, [](const Decision &decision) { return decision.cheaper.has_value(); });
  if (flip != function.decisions.end())
    out << "; " << flip->name() << " is cheaper " << where(function, *flip->cheaper);
  out << "\n";
}

//===----------------------------------------------------------------------===//
// Details
//===----------------------------------------------------------------------===//

static void explainWork(const cost::WorkEstimate &work, llvm::raw_ostream &out) {
  out << "  it executes " << printCount(work.products) << " multiply-adds and " << printCount(work.exps) << " exponentials, and moves " << printBytes(work.mainBytes) << ", in "
      << work.launches << (work.launches == 1 ? " kernel\n" : " kernels\n");
}

/// "q", or "o and lse".
/// `state, sum and maximum`.
static std::string namesOf(const SavedTensors &saved) {
  llvm::ArrayRef<std::string> names = saved.names;
  std::string first = llvm::join(names.drop_back(), ", ");
  return first.empty() ? names.back() : first + " and " + names.back();
}

static void explainSaved(const SavedTensors &saved, llvm::StringRef pin, llvm::raw_ostream &out) {
  out << "  for its gradients a run " << (saved.taken ? "leaves " : "does not leave ") << namesOf(saved) << ", " << printBytes(saved.bytes);
  if (saved.again == 0) { // nothing says what the kernels of gradients take for it
    out << ": no plan stores it\n";
    return;
  }
  out << (pin.empty() ? ": " : ", with the pin save: " + pin.str() + ": ") << "to compute it again takes " << printSeconds(saved.again)
      << ", to read it " << printSeconds(saved.moved) << (saved.stored ? "\n" : ", but this plan does not store it\n");
}

static void explainLeft(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (!function.leftBytes)
    return;
  for (const SavedTensors &saved : function.saved)
    explainSaved(saved, function.savePin, out);
  double left = *function.leftBytes;
  for (const SavedTensors &saved : function.saved)
    left += saved.taken ? saved.bytes : 0;
  if (left > *function.leftBytes)
    out << "  that is " << printBytes(left) << " in all, " << printBytes(left / (function.batch * std::max(function.queries, function.keys))) << " a token\n";
  if (!function.saved.empty() && !*function.leftBytes)
    return;
  if (*function.leftBytes)
    out << "  for its gradients a run leaves lse beside o, " << printBytes(*function.leftBytes) << "; without them they compute all of this again\n";
  else
    out << "  for its gradients a run leaves nothing: they compute all of this again\n";
}

static Row rowOf(const Decision &decision) {
  return {decision.name(),
          decision.taken ? "taken" : "no",
          printCount(decision.work.products),
          printCount(decision.work.exps),
          printBytes(decision.work.mainBytes),
          printSeconds(decision.seconds),
          decision.reason};
}

/// What cannot be, by its reason.
static void explainImpossible(const FunctionSelection &function, llvm::raw_ostream &out) {
  llvm::MapVector<llvm::StringRef, std::vector<std::string>> namesOf;
  for (const Decision &decision : function.decisions)
    if (!decision.feasible)
      namesOf[decision.reason].push_back(decision.name());
  for (const auto &[reason, names] : namesOf)
    out << "  not possible: " << llvm::join(names, ", ") << "\n    " << reason << "\n";
}

static void explainForms(const FunctionSelection &function, const Choices &choices, llvm::raw_ostream &out) {
  std::vector<Row> rows{{"the best plan with", "", "multiply-adds", "exponentials", "bytes", "time", ""}};
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<llvm::StringRef, 2>> lawsOf; // several have a form "materialized"
  for (const Decision &decision : function.decisions)
    if (decision.feasible && choices.isOpen(decision.name())) {
      rows.push_back(rowOf(decision));
      if (auto &laws = lawsOf[decision.form]; !llvm::is_contained(laws, decision.law))
        laws.push_back(decision.law);
    }
  if (rows.size() > 1)
    printTable(rows, out);
  std::vector<Row> meanings;
  for (const auto &[form, laws] : lawsOf)
    for (llvm::StringRef law : laws)
      meanings.push_back({"  " + (laws.size() > 1 ? law + ": " : llvm::Twine()).str() + form.str(),
                          describeForm(law, form).str()});
  if (!meanings.empty())
    printTable(meanings, out);
  explainImpossible(function, out);
  if (!function.single.empty())
    out << "  no law offers another form of " << llvm::join(function.single, ", ") << "\n";
  if (!function.complete)
    out << "  not every combination of forms was priced: the bound on plans was reached\n";
}

/// Which function of a library runs at which lengths.
static void explainPlans(const FunctionSelection &function, const Choices &choices, llvm::raw_ostream &out) {
  if (!function.unknownLengths || function.plans.empty())
    return;
  if (function.plans.size() == 1) {
    out << "  one plan serves every length\n";
    return;
  }
  out << "  the library chooses when it runs:\n";
  for (auto [index, plan] : llvm::enumerate(function.plans)) {
    out << "    ";
    if (index == 0)
      out << "below " << function.lengthName << " = " << function.plans[1].from;
    else
      out << "from " << function.lengthName << " = " << plan.from;
    out << ": " << orOnly(choices.openOf(plan.forms)) << " (@" << plan.name << ")\n";
  }
}

static void explainKernels(llvm::ArrayRef<KernelShare> kernels, llvm::raw_ostream &out) {
  std::vector<Row> rows{{"kernel", "", "multiply-adds", "exponentials", "bytes", "time", "waits for"}};
  for (const KernelShare &kernel : kernels)
    rows.push_back({kernel.kernel, kernel.subject, printCount(kernel.work.products), printCount(kernel.work.exps),
                    printBytes(kernel.work.mainBytes), printSeconds(kernel.seconds), kernel.limit});
  bool shuffles = llvm::any_of(kernels, [](const KernelShare &kernel) { return kernel.work.shuffles > 0; });
  if (shuffles) { // a CPU has none
    rows[0].insert(rows[0].begin() + 4, "shuffles");
    for (auto [row, kernel] : llvm::zip_equal(llvm::drop_begin(rows), kernels))
      row.insert(row.begin() + 4, printCount(kernel.work.shuffles));
  }
  printTable(rows, out);
}

/// The pass that computes gradients from what a run left.
static void explainBackward(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (!function.backward)
    return;
  const BackwardPlan &backward = *function.backward;
  if (!backward.refusal.empty()) {
    out << "  its gradients are not compiled: " << backward.refusal << "\n";
    return;
  }
  out << "  @" << backward.function << ", its gradients: " << printSeconds(backward.seconds) << " predicted, "
      << llvm::formatv("{0:f1}", backward.seconds / function.seconds) << " times as long as the function\n";
  explainWork(backward.work, out);
  explainKernels(backward.kernels, out);
}

/// Other functions of the same tensors: what consent would buy.
static void explainConsent(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (function.consent.empty())
    return;
  auto isPossible = [](const ConsentOffer &offer) { return offer.refusal.empty(); };
  if (llvm::none_of(function.consent, isPossible)) {
    for (const ConsentOffer &offer : function.consent)
      out << "  not possible: approximation " << offer.law << "\n    " << offer.refusal << "\n";
    return;
  }
  out << "  approximations, which are other functions and run only with `allow: [NAME]` in the spec; `attnc suggest` "
         "measures their errors\n";
  std::vector<Row> rows{{"allow", "", "time", ""}};
  rows.push_back({"(nothing)", takenOffer(function) ? "no" : "taken", printSeconds(function.exactSeconds),
                  "the spec's own function"});
  for (const ConsentOffer &offer : function.consent) {
    std::string state = offer.taken ? "taken" : offer.allowed ? "allowed" : "no";
    if (offer.refusal.empty())
      rows.push_back({offer.law, state, printSeconds(offer.seconds),
                      comparePrice(offer.seconds, function.exactSeconds) + ": " + offer.change});
    else
      rows.push_back({offer.law, state, "-", "not possible: " + offer.refusal});
  }
  printTable(rows, out);
}

/// For which sizes all of this was told, if the spec does not say.
static void explainSizes(const FunctionSelection &function, llvm::raw_ostream &out) {
  llvm::SmallVector<std::string> open;
  if (function.unknownLengths)
    open.push_back(sizesOf(function) + (function.oneLength ? " (--queries)" : " (--queries, --keys)"));
  if (function.unknownBatch)
    open.push_back("batch " + std::to_string(function.batch) + " (--batch)");
  if (!open.empty())
    out << "  sizes that the spec leaves open are taken as " << llvm::join(open, " and ") << "\n";
}

/// What the letters mean, where it is not plain.
static void explainLength(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (function.queries != function.keys)
    out << "  prices depend on n queries and N keys by L = 2nN / (n + N), here " << function.length << "\n";
  else if (function.unknownLengths && !function.oneLength)
    out << "  with N keys for n queries, read n as L = 2nN / (n + N)\n";
}

void graph::answer(const FunctionSelection &function, llvm::raw_ostream &out) {
  answerPlan(function, Choices(function), out);
  answerExact(function, out);
  answerForms(function, out);
}

static void explainFunction(const FunctionSelection &function, llvm::raw_ostream &out) {
  Choices choices(function);
  answer(function, out);
  explainWork(function.work, out);
  explainLeft(function, out);
  explainPlans(function, choices, out);
  explainForms(function, choices, out);
  explainKernels(function.kernels, out);
  explainBackward(function, out);
  explainConsent(function, out);
  explainSizes(function, out);
  explainLength(function, out);
}

void graph::explain(const Selection &selection, llvm::raw_ostream &out) {
  for (const FunctionSelection &function : selection.functions)
    explainFunction(function, out);
}
