//===- Products.h - Projections by cuBLASLt in place of kernels -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choice is made once, by create, from static sizes alone: the algorithm of a product knows neither the batch nor
// the number of tokens nor where the tokens lie, so neither do the bits. It never splits the sum, takes no workspace, and
// has multiplied whole numbers without an error before it is taken. Where any of this fails, the kernel stays.
//
// ATTUNE_PRODUCTS=own keeps the kernels; ATTUNE_LOG=1 says on standard error what was chosen, and why.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_PRODUCTS_H
#define ATTUNE_RT_CUDA_PRODUCTS_H

#include "Blas.h"
#include "Driver.h"

#include "Common/Handle.h"

namespace attune::rt {

/// What cuBLASLt, whose matrices are stored by columns, is told of out = x w: outᵀ = wᵀ xᵀ.
struct Product {
  const attune_rt_product *asked;
  BlasProduct product;
  BlasLayout w, x, out; ///< [width, depth], [depth, n], [width, n]; of the handle, whose lock guards what run sets
  uint32_t alignment;   ///< bytes, that x must have; a power of two up to 16
  BlasAlgorithm algorithm;
};

/// Decides for each product of the handle's variant. An error only if the environment variable says nothing sensible.
attune_status chooseProducts(attune_rt_handle &handle, const Place &place);
void releaseProducts(attune_rt_handle &handle);

/// Bytes at the end of the workspace for tokens that do not lie as products need them.
size_t productWorkspace(const attune_rt_handle &handle, const Binding &binding);

/// The product in place of a kernel; null: there is none.
Product *productFor(const attune_rt_handle &handle, int64_t kernel);

/// Enqueues the product of a launch of its kernel with these slots. `done` stays false if cuBLASLt does not take these
/// sizes: then the kernel is to be launched. `spare` is the end of the workspace.
attune_status multiply(const attune_rt_handle &handle, const Place &place, Product &product, const uint64_t *slots,
                       char *spare, CuStream stream, bool &done);

/// Whether the product of whole numbers comes out right.
bool tryProduct(const attune_rt_handle &handle, const Place &place, Product &product, BlasReason &reason);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_PRODUCTS_H
