//===- StatisticsOfRelease.h - Statistics laid out as a release has them --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one header of LLVM whose classes are larger with assertions: llvm::Statistic gets a counter then, and with it every
// pass that has one. Debian's libMLIR, which makes and reads those of its own passes' base, is without. A build with
// assertions of Attune's code includes this file before any other.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_STATISTICSOFRELEASE_H
#define ATTUNE_STATISTICSOFRELEASE_H

#ifdef NDEBUG
#include "llvm/ADT/Statistic.h"
#else
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
// Declares `assert` by what NDEBUG is now, however often it was included.
#include <cassert>
#endif

#endif // ATTUNE_STATISTICSOFRELEASE_H
