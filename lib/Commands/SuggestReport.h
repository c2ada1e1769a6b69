//===- SuggestReport.h - What attnc suggest found ------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_SUGGESTREPORT_H
#define ATTUNE_COMMANDS_SUGGESTREPORT_H

#include "attune/Frontend/Spec.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::attnc {

/// One attention that was tried.
struct Suggestion {
  std::string label;
  Spec spec;
  double error = 0;                        ///< ‖o − o_exact‖ / ‖o_exact‖, Frobenius, over the whole output
  std::optional<double> worstHead;         ///< the same of the head with the largest; absent where heads are mixed
  double predicted = 0;                    ///< seconds, of the cost model for the target
  double seconds = 0, least = 0, most = 0; ///< measured on this machine: median, least and largest
  bool onFront = false;                    ///< no other one is both faster and closer
};

struct SuggestReport {
  Spec spec; ///< sizes known
  std::string target, device; ///< for which times are predicted
  double maxError = 0;
  bool isWritten = false; ///< the user asked for the spec to take
  int32_t threads = 1;
  double exactPredicted = 0, exactSeconds = 0;
  double unrest = 1;                ///< the slowest run of exact softmax over its fastest
  std::vector<Suggestion> tried;    ///< the fastest first
  std::optional<size_t> chosen;     ///< the fastest within the error that beats exact attention
  std::vector<std::string> skipped; ///< why others were not tried
};

/// Marks the front and the one to take. Times are measured where the target is this machine, else predicted.
void judge(SuggestReport &report);

/// The time that counts.
double secondsOf(const SuggestReport &report, const Suggestion &suggestion);

void printReport(const SuggestReport &report, llvm::raw_ostream &os);
void printReportAsJson(const SuggestReport &report, llvm::raw_ostream &os);
/// Error over time, both logarithmic, as a picture that needs no other file.
void drawReport(const SuggestReport &report, llvm::raw_ostream &os);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_SUGGESTREPORT_H
