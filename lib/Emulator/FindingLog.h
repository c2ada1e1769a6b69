//===- FindingLog.h - Collects findings, one entry for a kind at an instruction --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_FINDINGLOG_H
#define ATTUNE_EMULATOR_FINDINGLOG_H

#include "Site.h"

#include "attune/Emulator/EmulatorReport.h"

namespace attune::emulator {

class FindingLog {
public:
  explicit FindingLog(unsigned maxFindings) : maxFindings(maxFindings) {}

  /// Counts a finding that this site has already given; false if it is the first and must be described.
  bool repeats(FindingKind kind, Site &site) {
    ++report.totals[unsigned(kind)];
    int32_t index = site.findingIndex[unsigned(kind)];
    if (index == 0)
      return false;
    if (index > 0)
      ++report.findings[size_t(index - 1)].count;
    return true;
  }
  void add(Finding finding, Site &site) {
    int32_t &index = site.findingIndex[unsigned(finding.kind)];
    bool firstOfKind = report.totals[unsigned(finding.kind)] == 1; // kept in any case
    if (report.findings.size() >= maxFindings && !firstOfKind) {
      index = -1;
      return;
    }
    report.findings.push_back(std::move(finding));
    index = int32_t(report.findings.size());
  }

  EmulatorReport report;

private:
  unsigned maxFindings;
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_FINDINGLOG_H
