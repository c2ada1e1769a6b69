//===- HeadersTest.cpp - Our declarations beside NVIDIA's headers ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Driver.h"

#include "CUDA/Blas.h"
#include "StandIn/Errors.h"

#include <gtest/gtest.h>

#if __has_include(<cublasLt.h>) && __has_include(<cuda.h>)

#include <cublasLt.h>
#include <cuda.h>

#include <type_traits>

using namespace attune::rt;

namespace {

/// Whether two parameters, or results, are passed alike.
template <typename Ours, typename Theirs> constexpr bool passedAlike() {
  if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>)
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  else
    return sizeof(Ours) == sizeof(Theirs) && std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
}

template <typename Ours, typename Theirs> struct Calls : std::false_type {};
template <typename R, typename... P, typename S, typename... Q>
struct Calls<R (*)(P...), S (*)(Q...)>
    : std::bool_constant<[] {
        if constexpr (sizeof...(P) == sizeof...(Q))
          return passedAlike<R, S>() && (passedAlike<P, Q>() && ...);
        else
          return false;
      }()> {};

TEST(Headers, BlasFunctions) {
#define COMPARE(symbol, field, result, parameters)                                                                     \
  EXPECT_TRUE((Calls<decltype(Blas::field), decltype(&::symbol)>::value)) << #symbol;
  ATTUNE_BLAS_FUNCTIONS(COMPARE)
#undef COMPARE
}

TEST(Headers, BlasNumbers) {
  EXPECT_EQ(blasInvalidValue, static_cast<int>(CUBLAS_STATUS_INVALID_VALUE));
  EXPECT_EQ(blasNotSupported, static_cast<int>(CUBLAS_STATUS_NOT_SUPPORTED));
  EXPECT_EQ(static_cast<int>(blasComputeF32), static_cast<int>(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(static_cast<int>(blasF32), static_cast<int>(CUDA_R_32F));
  EXPECT_EQ(static_cast<int>(blasF16), static_cast<int>(CUDA_R_16F));
  EXPECT_EQ(static_cast<int>(blasBf16), static_cast<int>(CUDA_R_16BF));
  EXPECT_EQ(static_cast<int>(blasLayoutColumns), static_cast<int>(CUBLASLT_MATRIX_LAYOUT_COLS));
  EXPECT_EQ(static_cast<int>(blasLayoutLeading), static_cast<int>(CUBLASLT_MATRIX_LAYOUT_LD));
  EXPECT_EQ(static_cast<int>(blasLayoutBatchCount), static_cast<int>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
  EXPECT_EQ(static_cast<int>(blasLayoutBatchStride), static_cast<int>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
  EXPECT_EQ(static_cast<int>(blasMaxWorkspaceBytes), static_cast<int>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  EXPECT_EQ(static_cast<int>(blasReductionSchemes), static_cast<int>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK));
  EXPECT_EQ(static_cast<int>(blasAlignmentA), static_cast<int>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
  EXPECT_EQ(static_cast<int>(blasAlignmentB), static_cast<int>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
  EXPECT_EQ(static_cast<int>(blasAlignmentC), static_cast<int>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
  EXPECT_EQ(static_cast<int>(blasAlignmentD), static_cast<int>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
  EXPECT_EQ(static_cast<int>(blasSplits), static_cast<int>(CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
  EXPECT_EQ(static_cast<int>(blasNoReduction), static_cast<int>(CUBLASLT_REDUCTION_SCHEME_NONE));
}

TEST(Headers, BlasStructs) {
  EXPECT_EQ(sizeof(BlasAlgorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(BlasHeuristic), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(BlasHeuristic, workspaceBytes), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(BlasHeuristic, state), offsetof(cublasLtMatmulHeuristicResult_t, state));
}

TEST(Headers, DriverFunctions) {
#define COMPARE(symbol, field, parameters)                                                                             \
  EXPECT_TRUE((Calls<decltype(CudaDriver::field), decltype(&::symbol)>::value)) << #symbol;
  ATTUNE_CUDA_FUNCTIONS(COMPARE)
#undef COMPARE
}

TEST(Headers, DriverNumbers) {
  EXPECT_EQ(static_cast<int>(cuMemoryDevice), static_cast<int>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(static_cast<int>(cuMaxSharedBytesPerBlock), static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(static_cast<int>(cuCapabilityMajor), static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(static_cast<int>(cuCapabilityMinor), static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(cuFunctionMaxDynamicSharedBytes, static_cast<int>(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(cuJitErrorLogBuffer, static_cast<int>(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(cuJitErrorLogBufferBytes, static_cast<int>(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(static_cast<int>(cuInvalidImage), static_cast<int>(CUDA_ERROR_INVALID_IMAGE));
  EXPECT_EQ(static_cast<int>(cuNoBinaryForGpu), static_cast<int>(CUDA_ERROR_NO_BINARY_FOR_GPU));
  EXPECT_EQ(static_cast<int>(cuInvalidPtx), static_cast<int>(CUDA_ERROR_INVALID_PTX));
  EXPECT_EQ(static_cast<int>(cuUnsupportedPtxVersion), static_cast<int>(CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
  EXPECT_EQ(static_cast<int>(cuInvalidSource), static_cast<int>(CUDA_ERROR_INVALID_SOURCE));
}

#if CUDA_VERSION >= 13000
TEST(Headers, DriverErrors) {
#define COMPARE(name, number) EXPECT_EQ(number, static_cast<int>(CUDA_ERROR_##name));
  STAND_IN_ERRORS(COMPARE)
#undef COMPARE
}
#endif

TEST(Headers, DriverStructs) {
  EXPECT_EQ(sizeof(CuCopy2D), sizeof(CUDA_MEMCPY2D));
  EXPECT_EQ(offsetof(CuCopy2D, fromType), offsetof(CUDA_MEMCPY2D, srcMemoryType));
  EXPECT_EQ(offsetof(CuCopy2D, fromDevice), offsetof(CUDA_MEMCPY2D, srcDevice));
  EXPECT_EQ(offsetof(CuCopy2D, fromPitch), offsetof(CUDA_MEMCPY2D, srcPitch));
  EXPECT_EQ(offsetof(CuCopy2D, toType), offsetof(CUDA_MEMCPY2D, dstMemoryType));
  EXPECT_EQ(offsetof(CuCopy2D, toDevice), offsetof(CUDA_MEMCPY2D, dstDevice));
  EXPECT_EQ(offsetof(CuCopy2D, toPitch), offsetof(CUDA_MEMCPY2D, dstPitch));
  EXPECT_EQ(offsetof(CuCopy2D, widthBytes), offsetof(CUDA_MEMCPY2D, WidthInBytes));
  EXPECT_EQ(offsetof(CuCopy2D, height), offsetof(CUDA_MEMCPY2D, Height));
}

} // namespace

#else

TEST(Headers, AreThere) { GTEST_SKIP() << "no cublasLt.h and cuda.h where the build looks (CUDA_HOME, /usr/local/cuda)"; }

#endif
