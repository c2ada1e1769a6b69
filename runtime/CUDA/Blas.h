//===- Blas.h - cuBLASLt, opened at run time ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that is used of cublasLt.h, declared here, so that neither the build nor a compiled library needs it. A test holds
// this file against the header where that is found.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_BLAS_H
#define ATTUNE_RT_CUDA_BLAS_H

#include <cstddef>
#include <cstdint>

namespace attune::rt {

using BlasStatus = int;
using BlasHandle = struct BlasHandleTag *;
using BlasProduct = struct BlasProductTag *;       // cublasLtMatmulDesc_t
using BlasLayout = struct BlasLayoutTag *;         // cublasLtMatrixLayout_t
using BlasPreference = struct BlasPreferenceTag *; // cublasLtMatmulPreference_t
using BlasStream = struct CuStreamTag *;

enum : BlasStatus { blasInvalidValue = 7, blasNotSupported = 15 };
enum BlasCompute : int { blasComputeF32 = 68 }; // sums and, of f32, products in f32: no TF32
enum BlasType : int { blasF32 = 0, blasF16 = 2, blasBf16 = 14 };
enum BlasLayoutField : int {
  blasLayoutColumns = 3,
  blasLayoutLeading = 4,
  blasLayoutBatchCount = 5,
  blasLayoutBatchStride = 6
};
enum BlasPreferenceField : int {
  blasMaxWorkspaceBytes = 1,
  blasReductionSchemes = 3,
  blasAlignmentA = 5,
  blasAlignmentB = 6,
  blasAlignmentC = 7,
  blasAlignmentD = 8
};
enum BlasAlgorithmField : int { blasSplits = 2 };
constexpr uint32_t blasNoReduction = 0;

struct BlasAlgorithm {
  uint64_t data[8];
};

struct BlasHeuristic {
  BlasAlgorithm algorithm;
  size_t workspaceBytes;
  BlasStatus state;
  float waves;
  int reserved[4];
};

// Name in the library, name in the table, result, parameters.
#define ATTUNE_BLAS_FUNCTIONS(F)                                                                                       \
  F(cublasLtGetVersion, getVersion, size_t, ())                                                                        \
  F(cublasLtGetStatusName, getStatusName, const char *, (BlasStatus status))                                           \
  F(cublasLtCreate, create, BlasStatus, (BlasHandle * handle))                                                         \
  F(cublasLtDestroy, destroy, BlasStatus, (BlasHandle handle))                                                         \
  F(cublasLtMatmulDescCreate, productCreate, BlasStatus,                                                               \
    (BlasProduct * product, BlasCompute compute, BlasType scale))                                                      \
  F(cublasLtMatmulDescDestroy, productDestroy, BlasStatus, (BlasProduct product))                                      \
  F(cublasLtMatrixLayoutCreate, layoutCreate, BlasStatus,                                                              \
    (BlasLayout * layout, BlasType type, uint64_t rows, uint64_t columns, int64_t leading))                            \
  F(cublasLtMatrixLayoutDestroy, layoutDestroy, BlasStatus, (BlasLayout layout))                                       \
  F(cublasLtMatrixLayoutSetAttribute, layoutSet, BlasStatus,                                                           \
    (BlasLayout layout, BlasLayoutField field, const void *value, size_t bytes))                                       \
  F(cublasLtMatmulPreferenceCreate, preferenceCreate, BlasStatus, (BlasPreference * preference))                       \
  F(cublasLtMatmulPreferenceDestroy, preferenceDestroy, BlasStatus, (BlasPreference preference))                       \
  F(cublasLtMatmulPreferenceSetAttribute, preferenceSet, BlasStatus,                                                   \
    (BlasPreference preference, BlasPreferenceField field, const void *value, size_t bytes))                           \
  F(cublasLtMatmulAlgoGetHeuristic, heuristics, BlasStatus,                                                            \
    (BlasHandle handle, BlasProduct product, BlasLayout a, BlasLayout b, BlasLayout c, BlasLayout d,                   \
     BlasPreference preference, int asked, BlasHeuristic *results, int *found))                                        \
  F(cublasLtMatmulAlgoConfigGetAttribute, algorithmGet, BlasStatus,                                                    \
    (const BlasAlgorithm *algorithm, BlasAlgorithmField field, void *value, size_t bytes, size_t *written))            \
  F(cublasLtMatmul, multiply, BlasStatus,                                                                              \
    (BlasHandle handle, BlasProduct product, const void *alpha, const void *a, BlasLayout aLayout, const void *b,      \
     BlasLayout bLayout, const void *beta, const void *c, BlasLayout cLayout, void *d, BlasLayout dLayout,             \
     const BlasAlgorithm *algorithm, void *workspace, size_t workspaceBytes, BlasStream stream))

struct Blas {
#define DECLARE(symbol, field, result, parameters) result(*field) parameters;
  ATTUNE_BLAS_FUNCTIONS(DECLARE)
#undef DECLARE
  size_t version; ///< 120804 for 12.8.4
};

/// Why there is no cuBLASLt, in the words of a log.
struct BlasReason {
  char text[160];
};

/// The library, opened once for the process: one that the process has loaded already before others, later versions before
/// earlier ones. Null, and the reason, if there is none that is understood.
const Blas *openBlas(BlasReason &reason);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_BLAS_H
