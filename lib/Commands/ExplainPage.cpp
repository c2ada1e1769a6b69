//===- ExplainPage.cpp - A selection as one HTML page ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExplainPage.h"

#include "ExplainGraphs.h"
#include "ExplainPlot.h"

#include "attune/Graph/Explain.h"
#include "attune/Laws/RewriteLaw.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune;
using namespace attune::attnc;
using namespace attune::graph;

//===----------------------------------------------------------------------===//
// Style
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral style = R"css(
:root{color-scheme:light dark;--paper:#fbfaf7;--ink:#1d2327;--quiet:#68707a;--line:#d9d6cd;--box:#fff;--accent:#1f6fb2;
--changed:#e8f1fa;--compute:#2f7d4f;--near:#b07b16;--main:#b5483a;--launch:#7a5aa6}
@media(prefers-color-scheme:dark){:root{--paper:#14181b;--ink:#e4e6e8;--quiet:#98a1ab;--line:#353c43;--box:#1c2226;
--accent:#6db3f2;--changed:#17324a;--compute:#5fbf86;--near:#e0ac4c;--main:#e98274;--launch:#b79be0}}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 24px 60px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:17px;margin:34px 0 10px}h3{font-size:14px;margin:0 0 6px;color:var(--quiet)}
p{margin:4px 0;max-width:90ch}.quiet{color:var(--quiet)}
.figures{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}
.figures div{background:var(--box);border:1px solid var(--line);border-radius:8px;padding:10px 16px}
.figures b{display:block;font-size:21px}
.graphs{display:flex;flex-wrap:wrap;gap:24px}.graphs>div{flex:1 1 440px;min-width:0;overflow-x:auto}
.graph{width:100%;height:auto}.graph rect{fill:var(--box);stroke:var(--line)}.graph .argument rect{fill:none}
.graph .changed rect{fill:var(--changed);stroke:var(--accent)}.graph path{fill:none;stroke:var(--quiet)}
.graph marker path{fill:var(--quiet);stroke:none}
.graph text{text-anchor:middle;font-size:12px;fill:var(--ink)}.graph .shape{fill:var(--quiet);font-size:11px}
.kernels{display:flex;flex-wrap:wrap;gap:4px}
.kernel{min-width:132px;background:var(--box);border:1px solid var(--line);border-top:5px solid;border-radius:6px;padding:8px 10px}
.kernel b,.kernel span{display:block;overflow-wrap:anywhere}
.compute,.shuffles{border-top-color:var(--compute)}.near{border-top-color:var(--near)}.main{border-top-color:var(--main)}
.launch{border-top-color:var(--launch)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:14px}th{text-align:left;color:var(--quiet);font-weight:500}
th,td{padding:4px 14px 4px 0;border-bottom:1px solid var(--line);white-space:nowrap}td.n{text-align:right}
td.why{white-space:normal;min-width:26ch}tr.taken td{font-weight:600}tr.not td{color:var(--quiet)}
img{width:100%;height:auto}pre{white-space:pre-wrap}
)css";

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// A number for programs: as `--json` prints it.
static std::string exact(double number) { return llvm::formatv("{0}", llvm::json::Value(number)); }

/// ` data-seconds="…"`.
static std::string data(llvm::StringRef name, double number) {
  return (" data-" + name + "=\"" + exact(number) + "\"").str();
}

static void figure(llvm::StringRef name, double number, const std::string &text, llvm::StringRef words,
                   llvm::raw_ostream &os) {
  os << "<div" << data(name, number) << "><b>" << escaped(text) << "</b>" << escaped(words) << "</div>\n";
}

//===----------------------------------------------------------------------===//
// Parts of a page
//===----------------------------------------------------------------------===//

static void writeAnswer(const FunctionSelection &function, llvm::raw_ostream &os) {
  std::string text;
  llvm::raw_string_ostream lines(text);
  answer(function, lines);
  llvm::SmallVector<llvm::StringRef> sentences;
  llvm::StringRef(text).trim().split(sentences, '\n');
  for (llvm::StringRef sentence : sentences)
    os << "<p>" << escaped(sentence.trim()) << "</p>\n";
  os << "<div class=\"figures\">\n";
  figure("seconds", function.seconds, printSeconds(function.seconds), "predicted", os);
  figure("multiply-adds", function.work.products, printCount(function.work.products), "multiply-adds", os);
  figure("exps", function.work.exps, printCount(function.work.exps), "exponentials", os);
  figure("main-bytes", function.work.mainBytes, printBytes(function.work.mainBytes), "moved", os);
  figure("launches", function.work.launches, std::to_string(int64_t(function.work.launches)),
         function.work.launches == 1 ? "kernel" : "kernels", os);
  if (function.exact)
    figure("exact-softmax-seconds", function.exact->seconds, printSeconds(function.exact->seconds),
           "exact softmax, another function", os);
  os << "</div>\n";
}

/// The function of that name; null if there is none.
static mlir::func::FuncOp functionOf(mlir::ModuleOp module, llvm::StringRef name) {
  return module.lookupSymbol<mlir::func::FuncOp>(name);
}

static void writeGraphs(const FunctionSelection &function, mlir::ModuleOp before, mlir::ModuleOp after,
                        llvm::raw_ostream &os) {
  mlir::func::FuncOp written = functionOf(before, function.function);
  if (!written || function.plans.empty())
    return;
  os << "<h2>Ops before and after the laws</h2>\n<p class=\"quiet\">";
  std::string laws;
  for (const Decision &decision : function.decisions)
    if (decision.taken)
      laws += (laws.empty() ? "" : ", ") + decision.name();
  os << (laws.empty() ? "No law offers another form." : "Taken: " + escaped(laws) + ".")
     << " Marked: ops that the other graph does not have. The text of an op is its tooltip.</p>\n<div "
        "class=\"graphs\">\n";
  os << "<div><h3>as written</h3>\n";
  drawGraph(written, functionOf(after, function.plans.front().name), os);
  os << "</div>\n";
  for (const PlanFunction &plan : function.plans)
    if (mlir::func::FuncOp made = functionOf(after, plan.name)) {
      os << "<div><h3>as compiled";
      if (&plan != &function.plans.front())
        os << ", from " << escaped(function.lengthName) << " = " << plan.from;
      else if (function.plans.size() > 1)
        os << ", below " << escaped(function.lengthName) << " = " << function.plans[1].from;
      os << "</h3>\n";
      drawGraph(made, written, os);
      os << "</div>\n";
    }
  os << "</div>\n";
}

static void writeKernels(const FunctionSelection &function, llvm::raw_ostream &os) {
  os << "<h2>Kernels, in the order in which they run</h2>\n<div class=\"kernels\">\n";
  for (const KernelShare &kernel : function.kernels) {
    double share = function.seconds > 0 ? 100 * kernel.seconds / function.seconds : 0;
    os << "<div class=\"kernel " << llvm::StringRef(kernel.limit).split(' ').first
       << "\" style=\"flex:" << llvm::formatv("{0:f2}", share) << " 1 0\"" << data("seconds", kernel.seconds) << "><b>"
       << escaped(kernel.kernel) << "</b><span>" << escaped(kernel.subject) << "&nbsp;</span><span>"
       << printSeconds(kernel.seconds) << llvm::formatv(" · {0:f0} %", share)
       << "</span><span class=\"quiet\">waits for " << escaped(kernel.limit) << "</span><span class=\"quiet\">"
       << printCount(kernel.work.products) << " multiply-adds</span><span class=\"quiet\">"
       << printBytes(kernel.work.mainBytes) << "</span></div>\n";
  }
  os << "</div>\n";
}

static void writePlot(const FunctionSelection &function, llvm::raw_ostream &os) {
  if (function.curves.empty())
    return;
  std::string picture;
  llvm::raw_string_ostream svg(picture);
  drawPrices(function, svg);
  os << "<h2>Prices over the length</h2>\n<img alt=\"predicted time of each form over the length\" "
        "src=\"data:image/svg+xml;base64,"
     << llvm::encodeBase64(picture) << "\">\n";
}

static void writeDecision(const Decision &decision, llvm::raw_ostream &os) {
  os << "<tr class=\"" << (decision.taken ? "taken" : decision.feasible ? "other" : "not") << "\"";
  if (decision.feasible)
    os << data("seconds", decision.seconds);
  os << "><td title=\"" << escaped(graph::describeForm(decision.law, decision.form)) << "\">" << escaped(decision.name())
     << "</td><td>"
     << (decision.taken      ? "taken"
         : decision.feasible ? "no"
                             : "not possible")
     << "</td>";
  for (std::string number : {printCount(decision.work.products), printCount(decision.work.exps),
                             printBytes(decision.work.mainBytes), printSeconds(decision.seconds)})
    os << "<td class=\"n\">" << (decision.feasible ? number : "") << "</td>";
  os << "<td class=\"why\">" << escaped(decision.reason) << "</td></tr>\n";
}

static void writeDecisions(const FunctionSelection &function, llvm::raw_ostream &os) {
  if (function.decisions.empty())
    return;
  os << "<h2>Forms that were weighed</h2>\n<div class=\"scroll\"><table id=\"decisions\">\n<tr><th>the best plan "
        "with</th>"
        "<th></th><th>multiply-adds</th><th>exponentials</th><th>bytes</th><th>time</th><th></th></tr>\n";
  for (const Decision &decision : function.decisions)
    writeDecision(decision, os);
  os << "</table></div>\n";
}

static void writeRejected(const FunctionSelection &function, llvm::raw_ostream &os) {
  if (function.rejected.empty())
    return;
  os << "<h2>The next plans, of " << function.priced << "</h2>\n<div class=\"scroll\"><table id=\"rejected\">\n";
  for (const RejectedPlan &plan : function.rejected)
    os << "<tr" << data("seconds", plan.seconds) << "><td class=\"n\">" << printSeconds(plan.seconds)
       << "</td><td class=\"why\">" << escaped(plan.forms) << "</td></tr>\n";
  os << "</table></div>\n";
}

static void writeConsent(const FunctionSelection &function, llvm::raw_ostream &os) {
  if (function.consent.empty())
    return;
  os << "<h2>What consent would buy</h2>\n<p class=\"quiet\">Other functions of the same tensors, only with "
        "<code>allow: "
        "[NAME]</code> in the spec; <code>attnc suggest</code> measures their errors.</p>\n<div "
        "class=\"scroll\"><table "
        "id=\"consent\">\n";
  for (const ConsentOffer &offer : function.consent) {
    bool possible = offer.refusal.empty();
    os << "<tr class=\"" << (offer.taken ? "taken" : possible ? "other" : "not") << "\"";
    if (possible)
      os << data("seconds", offer.seconds);
    os << "><td>" << escaped(offer.law) << "</td><td class=\"n\">" << (possible ? printSeconds(offer.seconds) : "")
       << "</td><td class=\"why\">" << escaped(possible ? offer.change : "not possible: " + offer.refusal)
       << "</td></tr>\n";
  }
  os << "</table></div>\n";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

/// JSON inside a script element, which ends at the first "</".
static std::string inScript(const llvm::json::Value &json) {
  std::string text = llvm::formatv("{0}", json).str();
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  return text;
}

void attune::attnc::writePage(const Selection &selection, mlir::ModuleOp before, mlir::ModuleOp after,
                              const llvm::json::Value &json, llvm::StringRef title, llvm::raw_ostream &os) {
  os << "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\">\n<title>"
     << escaped(title) << "</title>\n<style>" << style << "</style></head>\n<body><main>\n";
  for (const FunctionSelection &function : selection.functions) {
    os << "<section data-function=\"" << escaped(function.function) << "\">\n<h1>" << escaped(function.function)
       << "</h1>\n";
    writeAnswer(function, os);
    writeGraphs(function, before, after, os);
    writeKernels(function, os);
    writePlot(function, os);
    writeDecisions(function, os);
    writeRejected(function, os);
    writeConsent(function, os);
    os << "</section>\n";
  }
  os << "</main>\n<script type=\"application/json\" id=\"explain\">" << inScript(json) << "</script>\n</body></html>\n";
}
