//===- BulkCopies.cpp - cp.async.bulk and what products read ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <cstring>

using namespace attune;
using namespace attune::emulator;

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

void Machine::startBulkLoad(const LaneCall &call, char *address, std::vector<CopyPiece> pieces, uint32_t bytes) {
  Mbarrier *mbarrier = mbarrierOf(call, address);
  if (!mbarrier)
    return;
  Site &site = call.site;
  BulkCopy copy{{}, bytes, &site, &call.thread};
  for (CopyPiece &piece : pieces) {
    site.bytes = piece.bytes;
    if (!accessShared(site, call.thread, piece.to, SharedAccess::CopyBegin, piece.bytes, false))
      continue;
    auto *source = const_cast<char *>(piece.from);
    if (source && !accessGlobal(site, call.thread, source, piece.bytes, false, Atomicity::None))
      piece.from = nullptr;
    copy.pieces.push_back(piece);
    site.sectorUse.sectors += source ? (uintptr_t(source) % 32 + piece.bytes + 31) / 32 : 0;
    site.sectorUse.bytes += source ? piece.bytes : 0;
    counters().globalBytes += source ? piece.bytes : 0;
  }
  ++site.sectorUse.requests;
  ++counters().asyncCopies;
  counters().asyncCopyBytes += bytes;
  mbarrier->copies.push_back(std::move(copy));
  settle(shared.offsetOf(address), *mbarrier, &call, false);
}

void Machine::land(BulkCopy &copy) {
  for (const CopyPiece &piece : copy.pieces) {
    piece.from ? std::memcpy(piece.to, piece.from, piece.bytes) : std::memset(piece.to, 0, piece.bytes);
    shared.land(clock, OrderClock::asyncThread, shared.offsetOf(piece.to), piece.bytes);
  }
}

//===----------------------------------------------------------------------===//
// From shared memory
//===----------------------------------------------------------------------===//

void Machine::startBulkStore(const LaneCall &call, std::vector<CopyPiece> pieces) {
  Site &site = call.site;
  BulkCopy copy{{}, 0, &site, &call.thread};
  for (const CopyPiece &piece : pieces) {
    site.bytes = piece.bytes;
    auto *source = const_cast<char *>(piece.from);
    if (!accessGlobal(site, call.thread, piece.to, piece.bytes, true, Atomicity::None) ||
        !accessShared(site, call.thread, source, SharedAccess::AsyncRead, piece.bytes, false))
      continue;
    copy.pieces.push_back(piece);
    site.sectorUse.sectors += (uintptr_t(piece.to) % 32 + piece.bytes + 31) / 32;
    site.sectorUse.bytes += piece.bytes;
    counters().globalStoreBytes += piece.bytes;
    counters().globalBytes += piece.bytes;
  }
  ++site.sectorUse.requests;
  call.thread.stores.push_back(std::move(copy));
}

void Machine::commitBulkStores(Thread &thread) { thread.storeGroups.push_back(thread.stores.size()); }

void Machine::readForStore(BulkCopy &copy) {
  if (copy.read)
    return;
  Accessor who{uint16_t(copy.thread->warp->index), uint8_t(copy.thread->lane)};
  for (const CopyPiece &piece : copy.pieces) {
    copy.data.insert(copy.data.end(), piece.from, piece.from + piece.bytes);
    shared.endAsyncRead(clock, who, shared.offsetOf(piece.from), piece.bytes);
  }
  copy.read = true;
}

/// The first `count` stores of a thread come to global memory.
void Machine::landStores(Thread &thread, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const char *from = thread.stores[i].data.data();
    for (const CopyPiece &piece : thread.stores[i].pieces) {
      std::memcpy(piece.to, from, piece.bytes);
      from += piece.bytes;
    }
  }
  thread.stores.erase(thread.stores.begin(), thread.stores.begin() + ptrdiff_t(count));
}

/// 9.7.9.25.3.4: with .read the sources may be written again, but nobody may rely on what was stored.
void Machine::waitBulkStores(Thread &thread, size_t pendingGroups, bool onlyRead) {
  if (thread.storeGroups.size() <= pendingGroups)
    return;
  size_t groups = thread.storeGroups.size() - pendingGroups, done = thread.storeGroups[groups - 1];
  for (size_t i = 0; i < done; ++i)
    readForStore(thread.stores[i]);
  if (onlyRead)
    return;
  landStores(thread, done);
  thread.storeGroups.erase(thread.storeGroups.begin(), thread.storeGroups.begin() + ptrdiff_t(groups));
  for (size_t &end : thread.storeGroups)
    end -= done;
}

//===----------------------------------------------------------------------===//
// Operands of products
//===----------------------------------------------------------------------===//

static constexpr uint32_t rowBytes = 16;

char *Machine::productRow(Site &site, Thread &thread, uint32_t windowAddress, std::vector<uint32_t> &reads) {
  char *address = shared.atWindow(windowAddress);
  site.bytes = rowBytes;
  if (!accessShared(site, thread, address, SharedAccess::AsyncRead, rowBytes, true))
    return nullptr;
  reads.push_back(shared.offsetOf(address));
  return address;
}

void Machine::finishProducts(Warp &warp, size_t pendingGroups) {
  WarpProducts &products = warp.products;
  if (products.groups.size() <= pendingGroups)
    return;
  size_t groups = products.groups.size() - pendingGroups, done = products.groups[groups - 1];
  Accessor who{uint16_t(warp.index), 0, /*wholeWarp=*/true};
  for (size_t i = 0; i < done; ++i) {
    products.finished = products.inFlight[i].number;
    for (uint32_t offset : products.inFlight[i].reads)
      shared.endAsyncRead(clock, who, offset, rowBytes);
  }
  products.inFlight.erase(products.inFlight.begin(), products.inFlight.begin() + ptrdiff_t(done));
  products.groups.erase(products.groups.begin(), products.groups.begin() + ptrdiff_t(groups));
  for (size_t &end : products.groups)
    end -= done;
}

void Machine::checkProduct(Site &site, uint64_t tag) {
  if (tag > running->warp->products.finished)
    report(FindingKind::RegisterInFlight, site, *running,
           "the register holds a result of wgmma that no wgmma.wait_group has waited for");
}
