//===- ExplainJson.cpp - A selection for programs -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Explain.h"

using namespace attune;
using namespace attune::graph;

static llvm::json::Object jsonOf(const Crossover &crossover) {
  return llvm::json::Object{{"length", crossover.length}, {"side", crossover.below ? "below" : "from"}};
}

static llvm::json::Object jsonOf(const cost::WorkEstimate &work) {
  return llvm::json::Object{{"multiply_adds", work.products},
                            {"elementwise", work.elementwise}, {"exps", work.exps},
                            {"main_bytes", work.mainBytes},    {"near_bytes", work.nearBytes},
                            {"wide_bytes", work.wideBytes},    {"shuffles", work.shuffles},
                            {"live_bytes", work.liveBytes},    {"workspace_bytes", work.workspaceBytes},
                            {"programs", work.grain},       {"launches", work.launches}};
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

static llvm::json::Object jsonOf(const SavedTensors &saved) {
  return llvm::json::Object{{"names", llvm::json::Array(saved.names)}, {"bytes", saved.bytes}, {"taken", saved.taken}, {"stored", saved.stored},
                            {"again_seconds", saved.again}, {"read_seconds", saved.moved}};
}

static llvm::json::Array jsonOf(llvm::ArrayRef<KernelShare> kernels) {
  llvm::json::Array list;
  for (const KernelShare &kernel : kernels) {
    llvm::json::Object object{{"kernel", kernel.kernel},
                              {"seconds", kernel.seconds},
                              {"waits_for", kernel.limit},
                              {"work", jsonOf(kernel.work)}};
    if (!kernel.subject.empty())
      object["of"] = kernel.subject;
    list.push_back(std::move(object));
  }
  return list;
}

static llvm::json::Object jsonOf(const BackwardPlan &backward) {
  if (!backward.refusal.empty())
    return llvm::json::Object{{"refusal", backward.refusal}};
  return llvm::json::Object{{"function", backward.function},
                            {"seconds", backward.seconds},
                            {"work", jsonOf(backward.work)},
                            {"kernels", jsonOf(backward.kernels)}};
}

static llvm::json::Object jsonOf(const FunctionSelection &function) {
  llvm::json::Array plans, decisions;
  for (const PlanFunction &plan : function.plans)
    plans.push_back(llvm::json::Object{{"function", plan.name},
                                       {"form", attn::stringifyForm(plan.form)},
                                       {"forms", plan.forms},
                                       {"from_length", plan.from}});
  for (const Decision &decision : function.decisions)
    decisions.push_back(jsonOf(decision));
  llvm::json::Object object{{"function", function.function},
                            {"device", function.device},
                            {"unknown_lengths", function.unknownLengths},
                            {"length", function.length},
                            {"queries", function.queries},
                            {"keys", function.keys},
                            {"batch", function.batch},
                            {"seconds", function.seconds},
                            {"work", jsonOf(function.work)},
                            {"complete", function.complete},
                            {"priced", function.priced},
                            {"plans", std::move(plans)},
                            {"kernels", jsonOf(function.kernels)},
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
  if (function.threads)
    object["threads"] = function.threads;
  if (function.leftBytes)
    object["left_bytes"] = *function.leftBytes;
  if (!function.saved.empty()) {
    llvm::json::Array saved;
    for (const SavedTensors &each : function.saved)
      saved.push_back(jsonOf(each));
    object["saved"] = std::move(saved);
  }
  if (function.backward)
    object["backward"] = jsonOf(*function.backward);
  object["forms"] = function.takenForms;
  object["rejected"] = std::move(rejected);
  llvm::json::Array unbound;
  for (const Pin &pin : function.unbound)
    unbound.push_back(pin.law + ": " + pin.form);
  object["unbound_pins"] = std::move(unbound);
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
