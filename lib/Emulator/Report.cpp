//===- Report.cpp - What a run of device code showed ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/EmulatorReport.h"

#include "llvm/Support/ErrorHandling.h"
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
    return "barrier misuse";
  }
  llvm_unreachable("every finding is above");
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

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

llvm::ArrayRef<CounterName> attune::counterNames() {
  static const CounterName names[] = {
      {"blocks", &WorkCounters::blocks},
      {"barriers", &WorkCounters::barriers},
      {"mma", &WorkCounters::matrixMultiplies},
      {"mma m16n8k4", &WorkCounters::depth4Multiplies},
      {"mma m16n8k8", &WorkCounters::depth8Multiplies},
      {"mma m16n8k16", &WorkCounters::depth16Multiplies},
      {"mma multiply-adds", &WorkCounters::matrixMultiplyAdds},
      {"mma multiply-adds on tf32", &WorkCounters::tf32MultiplyAdds},
      {"ldmatrix", &WorkCounters::matrixLoads},
      {"stmatrix", &WorkCounters::matrixStores},
      {"shuffles", &WorkCounters::shuffles},
      {"special functions", &WorkCounters::specialFunctions},
      {"cp.async", &WorkCounters::asyncCopies},
      {"cp.async bytes", &WorkCounters::asyncCopyBytes},
      {"global load bytes", &WorkCounters::globalLoadBytes},
      {"global store bytes", &WorkCounters::globalStoreBytes},
      {"shared load bytes", &WorkCounters::sharedLoadBytes},
      {"shared store bytes", &WorkCounters::sharedStoreBytes},
      {"global bytes of warps", &WorkCounters::globalBytes},
      {"global requests below 4 bytes a lane", &WorkCounters::narrowRequests},
      {"global requests of 4 bytes a lane", &WorkCounters::requestsOf4},
      {"global requests of 8 bytes a lane", &WorkCounters::requestsOf8},
      {"global requests of 16 bytes a lane", &WorkCounters::requestsOf16},
      {"global bytes by 16 bytes a lane", &WorkCounters::wideGlobalBytes},
  };
  return names;
}

WorkCounters &WorkCounters::operator+=(const WorkCounters &other) {
  for (const CounterName &each : counterNames())
    this->*each.counter += other.*each.counter;
  return *this;
}

void EmulatorReport::printCounters(llvm::raw_ostream &os) const {
  for (const CounterName &each : counterNames())
    if (uint64_t value = counters.*each.counter)
      os << each.name << ": " << value << "\n";
  if (uint64_t sectors = globalSectors())
    os << "global sectors: " << sectors << "\n";
  for (const SectorUse &use : sectorUse)
    os << "sector efficiency: " << llvm::format("%.2f", use.efficiency()) << " (" << use.requests << " requests) at "
       << use.instruction << "\n";
  for (const BankUse &use : bankUse)
    os << "bank waves per phase: " << llvm::format("%.2f", use.wavesPerPhase()) << " (" << use.requests
       << " requests) at " << use.instruction << "\n";
  if (!bankUse.empty())
    os << "bank waves per phase, all: " << llvm::format("%.2f", wavesPerPhase()) << "\n";
}
