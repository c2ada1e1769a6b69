//===- ExplainGraphs.cpp - A function before and after its laws ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExplainGraphs.h"

#include "OpGraph.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune::attnc;

/// Units of the picture.
static constexpr double rowHeight = 74, boxHeight = 40, margin = 6;

/// Of its size, to which a picture may be made smaller: words must stay readable. A wider one can be scrolled.
static constexpr double least = 0.8;

std::string attune::attnc::escaped(llvm::StringRef words) {
  std::string text;
  for (char c : words)
    switch (c) {
    case '<':
      text += "&lt;";
      break;
    case '>':
      text += "&gt;";
      break;
    case '&':
      text += "&amp;";
      break;
    case '"':
      text += "&quot;";
      break;
    default:
      text += c;
    }
  return text;
}

static double topOf(const OpGraph::Node &node) { return margin + node.row * rowHeight; }

/// From the lower side of one node to the upper side of another; through a bend it goes straight down.
static void drawEdge(const OpGraph::Node &from, const OpGraph::Node &to, llvm::raw_ostream &os) {
  double start = topOf(from) + boxHeight, end = topOf(to), half = (start + end) / 2;
  os << llvm::formatv("<path d=\"M{0:f1} {1:f1}C{0:f1} {2:f1} {3:f1} {2:f1} {3:f1} {4:f1}", from.middle + margin, start,
                      half, to.middle + margin, end);
  if (to.bend())
    os << llvm::formatv("V{0:f1}", end + boxHeight);
  os << "\"" << (to.bend() ? "" : " marker-end=\"url(#tip)\"") << "/>\n";
}

static void drawNode(const OpGraph::Node &node, bool changed, llvm::raw_ostream &os) {
  double left = node.middle - node.width / 2 + margin, top = topOf(node), middle = node.middle + margin;
  os << "<g class=\""
     << (node.argument ? "argument"
         : changed     ? "op changed"
                       : "op")
     << "\"><title>" << escaped(node.argument ? node.name + ": " + node.result : node.text) << "</title>"
     << llvm::formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3:f1}\" rx=\"{4}\"/>", left, top,
                      node.width, boxHeight, node.argument ? 20 : 5)
     << llvm::formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" class=\"name\">{2}</text>", middle,
                      top + (node.result.empty() ? 24 : 17), escaped(node.name))
     << llvm::formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" class=\"shape\">{2}</text></g>\n", middle, top + 32,
                      escaped(node.result));
}

void attune::attnc::drawGraph(func::FuncOp function, func::FuncOp other, llvm::raw_ostream &os) {
  OpGraph graph(function), compared(other);
  llvm::StringMap<int> there;
  for (const OpGraph::Node &node : compared.nodes)
    ++there[node.key];
  os << llvm::formatv(
      "<svg class=\"graph\" viewBox=\"0 0 {0:f0} {1:f0}\" style=\"max-width:{0:f0}px;min-width:{2:f0}px\" "
      "role=\"img\" aria-label=\"ops of {3}\">\n",
      graph.width + 2 * margin, graph.rows.size() * rowHeight - rowHeight + boxHeight + 2 * margin, least * graph.width,
      escaped(function.getName()));
  os << "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";
  for (auto [from, to] : graph.edges)
    drawEdge(graph.nodes[from], graph.nodes[to], os);
  for (const OpGraph::Node &node : graph.nodes)
    if (!node.bend())
      drawNode(node, !node.argument && there[node.key]-- <= 0, os);
  os << "</svg>\n";
}
