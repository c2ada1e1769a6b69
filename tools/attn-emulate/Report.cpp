//===- Report.cpp - What a run of device code showed ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/EmulatorReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace attune;

llvm::StringRef attune::findingName(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out of bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::UninitialisedRead:
    return "uninitialised read";
  case FindingKind::Race:
    return "race";
  case FindingKind::CopyInFlight:
    return "copy in flight";
  case FindingKind::CopyNotWaited:
    return "copy not waited for";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::InactiveLane:
    return "inactive lane";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::ProxyOrder:
    return "proxy order";
  case FindingKind::RegisterInFlight:
    return "register in flight";
  case FindingKind::BarrierMisuse:
    return "mbarrier misuse";
  }
  return "unknown";
}

bool EmulatorReport::clean() const {
  return std::all_of(totals.begin(), totals.end(), [](uint64_t total) { return total == 0; });
}

double EmulatorReport::wavesPerPhase() const {
  uint64_t waves = 0, phases = 0;
  for (const BankUse &use : bankUse) {
    waves += use.waves;
    phases += use.phases;
  }
  return phases ? double(waves) / double(phases) : 0;
}

uint64_t EmulatorReport::globalSectors() const {
  uint64_t sectors = 0;
  for (const SectorUse &use : sectorUse)
    sectors += use.sectors;
  return sectors;
}

static void printFinding(llvm::raw_ostream &os, const Finding &finding) {
  if (!finding.location.empty())
    os << finding.location << ": ";
  os << findingName(finding.kind) << ": " << finding.message << "\n  in kernel '" << finding.kernel << "', block ("
     << finding.block.x << ", " << finding.block.y << ", " << finding.block.z << "), thread " << finding.thread;
  if (finding.count > 1)
    os << ", " << finding.count << " times";
  os << "\n";
  if (!finding.instruction.empty())
    os << "  at " << finding.instruction << "\n";
}

void EmulatorReport::printFindings(llvm::raw_ostream &os) const {
  for (const Finding &finding : findings)
    printFinding(os, finding);
  if (clean()) {
    os << "no findings\n";
    return;
  }
  os << "findings:";
  for (unsigned kind = 0; kind < numFindingKinds; ++kind)
    if (totals[kind])
      os << " " << findingName(FindingKind(kind)) << " " << totals[kind] << ";";
  os << "\n";
}

void EmulatorReport::printCounters(llvm::raw_ostream &os) const {
  auto line = [&](llvm::StringRef name, uint64_t value) {
    if (value)
      os << name << ": " << value << "\n";
  };
  line("blocks", counters.blocks);
  line("barriers", counters.barriers);
  line("mma", counters.matrixMultiplies);
  line("mma multiply-adds", counters.matrixMultiplyAdds);
  line("ldmatrix", counters.matrixLoads);
  line("stmatrix", counters.matrixStores);
  line("shuffles", counters.shuffles);
  line("special functions", counters.specialFunctions);
  line("cp.async", counters.asyncCopies);
  line("cp.async bytes", counters.asyncCopyBytes);
  line("global load bytes", counters.globalLoadBytes);
  line("global store bytes", counters.globalStoreBytes);
  line("shared load bytes", counters.sharedLoadBytes);
  line("shared store bytes", counters.sharedStoreBytes);
  line("global sectors", globalSectors());
  for (const SectorUse &use : sectorUse)
    os << "sector efficiency: " << llvm::format("%.2f", use.efficiency()) << " (" << use.requests << " requests) at "
       << use.instruction << "\n";
  for (const BankUse &use : bankUse)
    os << "bank waves per phase: " << llvm::format("%.2f", use.wavesPerPhase()) << " (" << use.requests
       << " requests) at " << use.instruction << "\n";
  if (!bankUse.empty())
    os << "bank waves per phase, all: " << llvm::format("%.2f", wavesPerPhase()) << "\n";
}
