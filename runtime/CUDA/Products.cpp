//===- Products.cpp - Which projections cuBLASLt computes -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "Module.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

using namespace attune::rt;

namespace {

constexpr uint32_t widestAccess = 16; // bytes
/// Tokens that the algorithm is asked for where only a run knows how many there are.
constexpr int64_t usualTokens = 4096;
constexpr int maxResults = 8;

BlasType typeOf(uint32_t dtype) {
  return dtype == ATTUNE_RT_F16 ? blasF16 : dtype == ATTUNE_RT_BF16 ? blasBf16 : blasF32;
}

int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/// The largest power of two up to 16 that divides a number of bytes.
uint32_t alignmentOf(int64_t bytes) {
  uint32_t alignment = widestAccess;
  while (bytes % alignment)
    alignment /= 2;
  return alignment;
}

attune_status readChoice(const Place &place, bool &own) {
  const char *value = getenv("ATTUNE_PRODUCTS");
  own = value && strcmp(value, "own") == 0;
  if (!value || own || strcmp(value, "library") == 0)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: environment variable ATTUNE_PRODUCTS: expected 'library' (the default) or 'own', but got '%s'",
              place.library, place.function, value);
}

/// Says what computes a product; with a null reason, cuBLASLt.
void log(const attune_rt_handle &handle, const Place &place, const attune_rt_product &product, const char *reason) {
  const char *wanted = getenv("ATTUNE_LOG");
  if (!wanted || !*wanted || strcmp(wanted, "0") == 0)
    return;
  const char *kernel = handle.variant->kernels[product.kernel].name;
  if (reason) {
    fprintf(stderr, "attune: %s_%s: %s: own kernel: %s\n", place.library, place.function, kernel, reason);
    return;
  }
  size_t version = handle.cuda->blas->version;
  fprintf(stderr, "attune: %s_%s: %s: cuBLASLt %zu.%zu.%zu\n", place.library, place.function, kernel, version / 10000,
          version / 100 % 100, version % 100);
}

/// Notes a call that failed.
bool succeeded(const Blas &blas, BlasStatus status, const char *call, BlasReason &reason) {
  if (status != 0)
    snprintf(reason.text, sizeof(reason.text), "%s gave %s", call, blas.getStatusName(status));
  return status == 0;
}

/// Layouts with the number of tokens, heads and the leading dimension that a heuristic is asked for.
bool makeLayouts(const Blas &blas, Product &product, int64_t tokens, BlasReason &reason) {
  const attune_rt_product &asked = *product.asked;
  BlasType type = typeOf(asked.dtype);
  auto width = static_cast<uint64_t>(asked.width), depth = static_cast<uint64_t>(asked.depth),
       n = static_cast<uint64_t>(tokens);
  if (!succeeded(blas, blas.productCreate(&product.product, blasComputeF32, blasF32), "cublasLtMatmulDescCreate", reason))
    return false;
  BlasStatus status = blas.layoutCreate(&product.w, type, width, depth, asked.heads * asked.width);
  status = status ? status : blas.layoutCreate(&product.x, type, depth, n, asked.depth);
  status = status ? status : blas.layoutCreate(&product.out, blasF32, width, n, asked.width);
  auto heads = static_cast<int32_t>(asked.heads);
  int64_t strides[] = {asked.width, 0, asked.width * tokens};
  int matrix = 0;
  for (BlasLayout layout : {product.w, product.x, product.out}) {
    int64_t stride = strides[matrix++];
    status = status ? status : blas.layoutSet(layout, blasLayoutBatchCount, &heads, sizeof(heads));
    status = status ? status : blas.layoutSet(layout, blasLayoutBatchStride, &stride, sizeof(stride));
  }
  return succeeded(blas, status, "cublasLtMatrixLayoutCreate", reason);
}

/// No workspace, no split sum, no wider accesses than the static sizes allow.
bool fillPreference(const Blas &blas, const Product &product, BlasPreference preference, BlasReason &reason) {
  const attune_rt_product &asked = *product.asked;
  int64_t bytes = asked.dtype == ATTUNE_RT_F32 ? 4 : 2;
  uint64_t workspace = 0;
  uint32_t out = alignmentOf(asked.width * 4), w = alignmentOf(asked.width * bytes), schemes = blasNoReduction;
  BlasStatus status = blas.preferenceSet(preference, blasMaxWorkspaceBytes, &workspace, sizeof(workspace));
  struct {
    BlasPreferenceField field;
    uint32_t value;
  } const fields[] = {{blasReductionSchemes, schemes}, {blasAlignmentA, w},   {blasAlignmentB, product.alignment},
                      {blasAlignmentC, out},           {blasAlignmentD, out}};
  for (const auto &field : fields)
    status = status ? status : blas.preferenceSet(preference, field.field, &field.value, sizeof(field.value));
  return succeeded(blas, status, "cublasLtMatmulPreferenceSetAttribute", reason);
}

/// The first algorithm that keeps each sum in one piece.
bool findAlgorithm(const CudaCode &code, Product &product, BlasPreference preference, BlasReason &reason) {
  const Blas &blas = *code.blas;
  BlasHeuristic results[maxResults];
  int found = 0;
  BlasStatus status = blas.heuristics(code.blasHandle, product.product, product.w, product.x, product.out, product.out,
                                      preference, maxResults, results, &found);
  if (status != blasNotSupported && !succeeded(blas, status, "cublasLtMatmulAlgoGetHeuristic", reason))
    return false;
  for (int i = 0; status == 0 && i < found; ++i) {
    uint32_t splits = 0;
    size_t written = 0;
    product.algorithm = results[i].algorithm;
    if (results[i].state == 0 && results[i].workspaceBytes == 0 &&
        blas.algorithmGet(&product.algorithm, blasSplits, &splits, sizeof(splits), &written) == 0 && splits <= 1)
      return true;
  }
  snprintf(reason.text, sizeof(reason.text), "cuBLASLt has no algorithm for it without workspace");
  return false;
}

void release(const Blas &blas, Product &product) {
  for (BlasLayout layout : {product.w, product.x, product.out})
    if (layout)
      blas.layoutDestroy(layout);
  if (product.product)
    blas.productDestroy(product.product);
}

bool choose(const attune_rt_handle &handle, const Place &place, Product &product, BlasReason &reason) {
  const CudaCode &code = *handle.cuda;
  const Blas &blas = *code.blas;
  const attune_rt_product &asked = *product.asked;
  const int64_t *sizes = handle.descriptor->sizes;
  int64_t tokens = larger(sizes[ATTUNE_RT_QUERIES], sizes[ATTUNE_RT_KEYS]);
  product.alignment = alignmentOf(asked.depth * (asked.dtype == ATTUNE_RT_F32 ? 4 : 2));
  if (!makeLayouts(blas, product, tokens > 0 ? tokens : usualTokens, reason))
    return false;
  BlasPreference preference = nullptr;
  if (!succeeded(blas, blas.preferenceCreate(&preference), "cublasLtMatmulPreferenceCreate", reason))
    return false;
  bool found = fillPreference(blas, product, preference, reason) && findAlgorithm(code, product, preference, reason);
  blas.preferenceDestroy(preference);
  return found && tryProduct(handle, place, product, reason);
}

} // namespace

attune_status attune::rt::chooseProducts(attune_rt_handle &handle, const Place &place) {
  const attune_rt_variant &variant = *handle.variant;
  bool own = false;
  if (variant.product_count == 0)
    return ATTUNE_OK;
  if (attune_status status = readChoice(place, own))
    return status;
  if (own || !handle.cuda->blas) {
    for (uint64_t i = 0; i < variant.product_count; ++i)
      log(handle, place, variant.products[i], own ? "ATTUNE_PRODUCTS asks for it" : handle.cuda->blasReason.text);
    return ATTUNE_OK;
  }
  handle.products = static_cast<Product *>(calloc(variant.product_count, sizeof(Product)));
  for (uint64_t i = 0; handle.products && i < variant.product_count; ++i) {
    Product product = {};
    product.asked = &variant.products[i];
    BlasReason reason = {};
    bool chosen = choose(handle, place, product, reason);
    log(handle, place, *product.asked, chosen ? nullptr : reason.text);
    if (chosen)
      handle.products[handle.productCount++] = product;
    else
      release(*handle.cuda->blas, product);
  }
  clearMessage(); // of a trial that failed
  return ATTUNE_OK;
}

void attune::rt::releaseProducts(attune_rt_handle &handle) {
  for (uint32_t i = 0; i < handle.productCount; ++i)
    release(*handle.cuda->blas, handle.products[i]);
  free(handle.products);
}

Product *attune::rt::productFor(const attune_rt_handle &handle, int64_t kernel) {
  for (uint32_t i = 0; i < handle.productCount; ++i)
    if (handle.products[i].asked->kernel == kernel)
      return &handle.products[i];
  return nullptr;
}

/// Bytes of all tokens, one after another; the largest number there is where they are more.
static int64_t tokenBytes(const attune_rt_product &product, int64_t batch, int64_t tokens) {
  int64_t bytes = product.dtype == ATTUNE_RT_F32 ? 4 : 2;
  if (batch <= 0 || tokens <= 0)
    return 0;
  bool fits = !__builtin_mul_overflow(bytes, product.depth, &bytes) && !__builtin_mul_overflow(bytes, tokens, &bytes) &&
              !__builtin_mul_overflow(bytes, batch, &bytes);
  return fits ? bytes : INT64_MAX;
}

size_t attune::rt::productWorkspace(const attune_rt_handle &handle, const Binding &binding) {
  int64_t largest = 0, tokens = larger(binding.queries(), binding.keys());
  for (uint32_t i = 0; i < handle.productCount; ++i)
    largest = larger(largest, tokenBytes(*handle.products[i].asked, binding.batch(), tokens));
  return static_cast<size_t>(largest);
}
