//===- Explain.cpp - A selection for people and for programs --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Explain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace attune;
using namespace attune::graph;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Three significant digits without an exponent, for 1 ≤ value < 1000 (or 0).
static std::string threeDigits(double value) {
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", decimals, value);
  return text;
}

std::string graph::printSeconds(double seconds) {
  constexpr std::pair<double, const char *> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (auto [unit, name] : units)
    if (seconds >= 0.9995 * unit)
      return threeDigits(seconds / unit) + " " + name;
  return threeDigits(seconds / 1e-9) + " ns";
}

static std::string printCount(double count) {
  constexpr std::pair<double, const char *> units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (auto [unit, name] : units)
    if (count >= 0.9995 * unit)
      return threeDigits(count / unit) + name;
  return llvm::Twine(int64_t(count)).str();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

using Row = std::vector<std::string>;

static void printTable(llvm::ArrayRef<Row> rows, llvm::raw_ostream &out) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  for (const Row &row : rows) {
    std::string line = " ";
    for (size_t column = 0; column < row.size(); ++column) {
      // Numbers to the right; names and reasons to the left.
      bool number = column >= 2 && column + 1 < row.size();
      std::string padding(widths[column] - row[column].size(), ' ');
      line += " " + (number ? padding + row[column] : row[column] + padding) + " ";
    }
    out << llvm::StringRef(line).rtrim() << "\n";
  }
}

static Row rowOf(const Decision &decision) {
  std::string name = decision.name();
  if (!decision.feasible)
    return {name, "no", "-", "-", "-", "-", decision.reason};
  return {name,
          decision.taken ? "taken" : "no",
          printCount(decision.work.products),
          printCount(decision.work.exps),
          printCount(decision.work.mainBytes),
          printSeconds(decision.seconds),
          decision.reason};
}

static void explainKernels(const FunctionSelection &function, llvm::raw_ostream &out) {
  std::vector<Row> rows{{"kernel", "", "mul-adds", "exps", "bytes", "time", "waits for"}};
  for (const KernelShare &kernel : function.kernels)
    rows.push_back({kernel.kernel, "", printCount(kernel.work.products), printCount(kernel.work.exps),
                    printCount(kernel.work.mainBytes), printSeconds(kernel.seconds), kernel.limit});
  printTable(rows, out);
}

/// "linearize: chunked, fold wq: apart": what runs at the length at which prices are told.
static std::string planOf(const FunctionSelection &function) {
  std::string forms = function.takenForms.empty() ? "the only form" : function.takenForms;
  for (const ConsentOffer &offer : function.consent)
    if (offer.taken)
      return "approximation " + offer.law + " (allowed), " + forms;
  return forms;
}

static std::string where(const Crossover &crossover) {
  return (crossover.below ? "below L = " : "from L = ") + std::to_string(crossover.length);
}

static std::string timesAs(double seconds, double other) {
  if (other >= seconds)
    return threeDigits(other / seconds) + " times as fast";
  return threeDigits(seconds / other) + " times as slow";
}

static std::string compare(double seconds, double other) { return timesAs(seconds, other) + " as"; }

static void answerExact(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (!function.exact) {
    out << "  it is exact softmax\n";
    return;
  }
  const ExactComparison &exact = *function.exact;
  out << "  " << compare(function.seconds, exact.seconds) << " exact softmax, another function of these sizes ("
      << printSeconds(exact.seconds) << ")";
  if (exact.cheaper)
    out << ", which is faster " << where(*exact.cheaper);
  else if (exact.dearer)
    out << "; faster than that " << where(*exact.dearer);
  else
    out << (exact.seconds < function.seconds ? ", at every length" : ", faster at every length");
  out << "\n";
}

static void answerForms(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (function.rejected.empty()) {
    out << "  no other plan is possible here\n";
    return;
  }
  const RejectedPlan &next = function.rejected.front();
  out << "  " << compare(function.seconds, next.seconds) << " the next plan, " << next.forms << " ("
      << printSeconds(next.seconds) << ")";
  const Decision *flip = nullptr;
  for (const Decision &decision : function.decisions)
    if (decision.cheaper && !flip)
      flip = &decision;
  if (flip)
    out << "; " << flip->name() << " is cheaper " << where(*flip->cheaper);
  out << "\n";
}

/// Three lines that answer: the plan and its price, what it gains over exact attention, and over other plans.
static void answer(const FunctionSelection &function, llvm::raw_ostream &out) {
  out << "@" << function.function << " on " << function.device << ": " << printSeconds(function.seconds)
      << " predicted at L = " << function.length << ", batch " << function.batch << ", by " << planOf(function) << "\n";
  answerExact(function, out);
  answerForms(function, out);
}

/// Other functions of the same tensors: what consent would buy.
static void explainConsent(const FunctionSelection &function, llvm::raw_ostream &out) {
  if (function.consent.empty())
    return;
  out << "  with consent, other functions of the same tensors (this one: " << printSeconds(function.exactSeconds)
      << "); `attnc suggest` measures how far they are apart\n";
  std::vector<Row> rows{{"allow", "", "time", ""}};
  for (const ConsentOffer &offer : function.consent) {
    std::string state = offer.taken ? "taken" : offer.allowed ? "allowed" : "no";
    if (offer.refusal.empty())
      rows.push_back({offer.law, state, printSeconds(offer.seconds),
                      timesAs(offer.seconds, function.exactSeconds) + ": " + offer.change});
    else
      rows.push_back({offer.law, state, "-", offer.refusal});
  }
  printTable(rows, out);
}

static void explainFunction(const FunctionSelection &function, llvm::raw_ostream &out) {
  answer(function, out);
  out << "  " << printCount(function.work.products) << " multiply-adds, " << printCount(function.work.exps)
      << " exponentials, " << printCount(function.work.mainBytes) << " bytes, " << function.work.launches
      << (function.work.launches == 1 ? " kernel\n" : " kernels\n");
  if (!function.decisions.empty()) {
    std::vector<Row> rows{{"form", "", "mul-adds", "exps", "bytes", "time", ""}};
    for (const Decision &decision : function.decisions)
      rows.push_back(rowOf(decision));
    printTable(rows, out);
  }
  if (!function.single.empty())
    out << "  no law offers another form of " << llvm::join(function.single, ", ") << "\n";
  for (const PlanFunction &plan : function.plans)
    if (function.unknownLengths)
      out << "  from L = " << plan.from << ": " << attn::stringifyForm(plan.form) << " (@" << plan.name << ")\n";
    else
      out << "  plan: " << attn::stringifyForm(plan.form) << "\n";
  if (!function.complete)
    out << "  not every combination of forms was priced: the bound on plans was reached\n";
  explainKernels(function, out);
  explainConsent(function, out);
}

void graph::explain(const Selection &selection, llvm::raw_ostream &out) {
  for (const FunctionSelection &function : selection.functions)
    explainFunction(function, out);
  if (!selection.functions.empty())
    out << "L = 2nN / (n + N); for n = N it is n\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object jsonOf(const Crossover &crossover) {
  return llvm::json::Object{{"length", crossover.length}, {"side", crossover.below ? "below" : "from"}};
}

static llvm::json::Object jsonOf(const cost::WorkEstimate &work) {
  return llvm::json::Object{{"multiply_adds", work.products},  {"useful_multiply_adds", work.usefulProducts},
                            {"elementwise", work.elementwise}, {"exps", work.exps},
                            {"main_bytes", work.mainBytes},    {"near_bytes", work.nearBytes},
                            {"live_bytes", work.liveBytes},    {"workspace_bytes", work.workspaceBytes},
                            {"grid_points", work.grain},       {"launches", work.launches}};
}

static llvm::json::Object jsonOf(const Decision &decision) {
  llvm::json::Object object{{"law", decision.law},           {"form", decision.form},     {"taken", decision.taken},
                            {"possible", decision.feasible}, {"pinned", decision.pinned}, {"reason", decision.reason}};
  if (decision.feasible) {
    object["seconds"] = decision.seconds;
    object["work"] = jsonOf(decision.work);
  }
  if (!decision.subject.empty())
    object["of"] = decision.subject;
  if (decision.part)
    object["part"] = *decision.part;
  if (decision.from)
    object["from_length"] = *decision.from;
  if (decision.cheaper)
    object["cheaper"] = jsonOf(*decision.cheaper);
  return object;
}

static llvm::json::Object jsonOf(const PriceCurve &curve) {
  llvm::json::Array lengths, seconds;
  for (auto [length, price] : curve.points)
    lengths.push_back(length), seconds.push_back(price);
  return llvm::json::Object{{"name", curve.name}, {"lengths", std::move(lengths)}, {"seconds", std::move(seconds)}};
}

static llvm::json::Object jsonOf(const ConsentOffer &offer) {
  llvm::json::Object object{{"law", offer.law},
                            {"change", offer.change},
                            {"allowed", offer.allowed},
                            {"taken", offer.taken},
                            {"possible", offer.refusal.empty()}};
  if (offer.refusal.empty())
    object["seconds"] = offer.seconds, object["forms"] = offer.forms;
  else
    object["reason"] = offer.refusal;
  return object;
}

static llvm::json::Object jsonOf(const FunctionSelection &function) {
  llvm::json::Array plans, decisions, kernels;
  for (const PlanFunction &plan : function.plans)
    plans.push_back(llvm::json::Object{
        {"function", plan.name}, {"form", attn::stringifyForm(plan.form)}, {"from_length", plan.from}});
  for (const Decision &decision : function.decisions)
    decisions.push_back(jsonOf(decision));
  for (const KernelShare &kernel : function.kernels)
    kernels.push_back(llvm::json::Object{{"kernel", kernel.kernel},
                                         {"seconds", kernel.seconds},
                                         {"waits_for", kernel.limit},
                                         {"work", jsonOf(kernel.work)}});
  llvm::json::Object object{{"function", function.function},
                            {"device", function.device},
                            {"unknown_lengths", function.unknownLengths},
                            {"length", function.length},
                            {"batch", function.batch},
                            {"seconds", function.seconds},
                            {"work", jsonOf(function.work)},
                            {"complete", function.complete},
                            {"priced", function.priced},
                            {"plans", std::move(plans)},
                            {"kernels", std::move(kernels)},
                            {"decisions", std::move(decisions)},
                            {"single_form", llvm::json::Array(function.single)}};
  llvm::json::Array rejected, curves, consent;
  for (const ConsentOffer &offer : function.consent)
    consent.push_back(jsonOf(offer));
  object["consent"] = std::move(consent);
  object["exact_seconds"] = function.exactSeconds;
  for (const RejectedPlan &plan : function.rejected)
    rejected.push_back(llvm::json::Object{{"forms", plan.forms}, {"seconds", plan.seconds}});
  for (const PriceCurve &curve : function.curves)
    curves.push_back(jsonOf(curve));
  object["forms"] = function.takenForms;
  object["rejected"] = std::move(rejected);
  object["curves"] = std::move(curves);
  if (function.exact) {
    llvm::json::Object exact{{"seconds", function.exact->seconds}};
    if (function.exact->cheaper)
      exact["cheaper"] = jsonOf(*function.exact->cheaper);
    if (function.exact->dearer)
      exact["dearer"] = jsonOf(*function.exact->dearer);
    object["exact_softmax"] = std::move(exact);
  }
  return object;
}

llvm::json::Value graph::explainAsJson(const Selection &selection) {
  llvm::json::Array functions;
  for (const FunctionSelection &function : selection.functions)
    functions.push_back(jsonOf(function));
  return llvm::json::Object{{"functions", std::move(functions)}};
}
