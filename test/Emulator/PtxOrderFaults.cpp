//===- PtxOrderFaults.cpp - Waits, barriers and fences of PTX ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fault.h"

using namespace attune;
using namespace attune::test;

static PtxEdit without(std::string statement, unsigned skip = 0) { return {std::move(statement), "", "", skip}; }

llvm::ArrayRef<Fault> test::ptxOrderFaults() {
  static const Fault faults[] = {
      inPtx("causal", "ptx-no-first-wait", "no wait for the queries", reported(FindingKind::CopyInFlight),
            without("cp.async.wait_group 0;")),
      inPtx("causal", "ptx-no-wait", "no wait in the loop over keys", reported(FindingKind::CopyInFlight),
            without("cp.async.wait_group 0;", 1)),
      inPtx("causal", "ptx-no-commit", "the copies of the queries are in no group", reported(FindingKind::CopyInFlight),
            without("cp.async.commit_group;")),
      inPtx("causal", "ptx-no-barrier", "no barrier behind the wait for the queries", reported(FindingKind::Race),
            without("bar.sync 0;")),
      inPtx("causal", "ptx-no-loop-barrier", "no barrier behind the wait in the loop", reported(FindingKind::Race),
            {"cp.async.wait_group 0; bar.sync 0; add.s32", "cp.async.wait_group 0; add.s32"}),
      inPtx("causal", "ptx-barrier-count", "a barrier of half the threads", reported(FindingKind::Race),
            {"bar.sync 0;", "bar.sync 0, 64;"}),
      inPtx(
          "causal", "ptx-barrier-predicate", "a barrier that some threads pass by", reported(FindingKind::Divergence),
          {"cp.async.wait_group 0; bar.sync 0;", "cp.async.wait_group 0; setp.lt.s32 %p1, %r1, 100; @%p1 bar.sync 0;"}),
      inPtx("favor", "ptx-no-exchange-barrier", "no barrier between the stores of a tile and its loads",
            reported(FindingKind::Race), {"bar.sync 0;", "", "st.shared.v2.b32 [<to>], {<a>, <b>};", 0, true}),
      inPtx("merged", "ptx-no-release", "no fence before the counter", reported(FindingKind::Race),
            without("fence.acq_rel.gpu;")),
      inPtx("merged", "ptx-no-acquire", "no fence behind the counter", reported(FindingKind::Race),
            without("fence.acq_rel.gpu;", 1)),
      inPtx("merged", "ptx-fence-scope", "a fence for the block alone", reported(FindingKind::Race),
            {"fence.acq_rel.gpu;", "fence.acq_rel.cta;"}),
      inPtx("merged", "ptx-counter-scope", "a counter for the block alone", reported(FindingKind::Race),
            {"atom.relaxed.gpu.global.cas.b64 <d>, [<at>], <compared>, <new>;",
             "atom.relaxed.cta.global.cas.b64 <d>, [<at>], <compared>, <new>;"}),
      inPtx("warpgroups", "ptx-wgmma-no-fence", "no fence before the products", reported(FindingKind::RegisterInFlight),
            without("wgmma.fence.sync.aligned;")),
      inPtx("warpgroups", "ptx-wgmma-no-wait", "no wait for the logits", reported(FindingKind::RegisterInFlight),
            without("wgmma.wait_group.sync.aligned 0;")),
      inPtx("warpgroups", "ptx-wgmma-wait-count", "the newest products are not waited for",
            reported(FindingKind::RegisterInFlight),
            {"wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"}),
      inPtx("warpgroups", "ptx-wgmma-no-commit", "products in no group", reported(FindingKind::RegisterInFlight),
            without("wgmma.commit_group.sync.aligned;")),
      inPtx("warpgroups", "ptx-no-proxy-fence", "no fence between copies and products",
            reported(FindingKind::ProxyOrder), {"fence.proxy.async.shared::cta;", "", "", 0, true}),
  };
  return faults;
}
