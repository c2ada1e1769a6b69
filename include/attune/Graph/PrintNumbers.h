//===- PrintNumbers.h - Times, counts, sizes and ratios for people -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_PRINTNUMBERS_H
#define ATTUNE_GRAPH_PRINTNUMBERS_H

#include <string>

namespace attune::graph {

/// Three digits and a unit: "1.25 ms".
std::string printSeconds(double seconds);

/// Three digits: "4.36G", "512".
std::string printCount(double count);

/// Three digits and a decimal unit: "16.8 MB", "512 B".
std::string printBytes(double bytes);

/// Three digits: "18.7", "114k".
std::string printRatio(double ratio);

/// How long `seconds` are beside others: "18.7 times as long", "3.0 % longer", "just as long", "1.35 times as fast".
std::string comparePrice(double seconds, double other);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_PRINTNUMBERS_H
