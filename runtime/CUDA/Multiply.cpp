//===- Multiply.cpp - A projection by cuBLASLt on a stream ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   out[b, h, i, c] = Σ_k x[b, i, k] w[k, h width + c]
//
// One call multiplies for all heads of a batch entry, or for all entries of a head: whichever takes fewer calls.
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "Memory.h"
#include "Module.h"

#include <cstdlib>

using namespace attune::rt;

namespace {

/// Of the slots of the kernel in whose place the product is.
enum : uint32_t { slotX = 0, slotW = 7, slotOut = 12, rankX = 3, rankW = 2, rankOut = 4 };

/// The tokens of all entries: the rows lie `row` elements apart.
struct Tokens {
  char *data;
  int64_t batch, count, entry, row;
};

/// Whether cuBLASLt may read the rows where they are.
bool liesWell(const Tokens &x, int64_t depth, int64_t bytes, uint32_t alignment) {
  auto aligned = [&](int64_t elements) { return elements * bytes % alignment == 0; };
  bool rows = x.count == 1 || (x.row >= depth && aligned(x.row));
  return rows && (x.batch == 1 || (x.entry >= 0 && aligned(x.entry))) &&
         reinterpret_cast<uint64_t>(x.data) % alignment == 0;
}

attune_status copyEntry(const CudaDriver &driver, const Place &place, char *to, const char *from, const Tokens &x,
                        int64_t rowBytes, int64_t bytes, CuStream stream) {
  auto address = [](const char *data) { return reinterpret_cast<CuAddress>(data); };
  if (x.row * bytes >= rowBytes) {
    CuCopy2D copy = {};
    copy.fromType = copy.toType = cuMemoryDevice;
    copy.fromDevice = address(from), copy.fromPitch = static_cast<size_t>(x.row * bytes);
    copy.toDevice = address(to), copy.toPitch = copy.widthBytes = static_cast<size_t>(rowBytes);
    copy.height = static_cast<size_t>(x.count);
    return checkCuda(place, driver, driver.copy2D(&copy, stream), "cuMemcpy2DAsync");
  }
  // Rows that overlap, or one for all.
  for (int64_t i = 0; i < x.count; ++i)
    if (attune_status status = checkCuda(
            place, driver,
            driver.copyOnDevice(address(to + i * rowBytes), address(from + i * x.row * bytes),
                                static_cast<size_t>(rowBytes), stream),
            "cuMemcpyDtoDAsync"))
      return status;
  return ATTUNE_OK;
}

/// Brings the rows to `spare`, one after another, so that the same algorithm serves, and with it the same bits.
attune_status gather(const CudaDriver &driver, const Place &place, Tokens &x, int64_t depth, int64_t bytes, char *spare,
                     CuStream stream) {
  int64_t rowBytes = depth * bytes, entryBytes = x.count * rowBytes;
  for (int64_t b = 0; b < x.batch; ++b)
    if (attune_status status = copyEntry(driver, place, spare + b * entryBytes, x.data + b * x.entry * bytes, x,
                                         rowBytes, bytes, stream))
      return status;
  x = {spare, x.batch, x.count, x.count * depth, depth};
  return ATTUNE_OK;
}

/// A matrix of each of the products of one call, and where the next call finds its own: distances in elements.
struct Operand {
  char *data;
  BlasLayout layout;
  int64_t bytes, within, between;
};

BlasStatus describe(const Blas &blas, const Operand &operand, int32_t count) {
  BlasStatus status = blas.layoutSet(operand.layout, blasLayoutBatchCount, &count, sizeof(count));
  return status ? status
                : blas.layoutSet(operand.layout, blasLayoutBatchStride, &operand.within, sizeof(operand.within));
}

BlasStatus describeAll(const Blas &blas, const Product &product, const Tokens &x, int64_t depth,
                       const Operand (&operands)[3], int32_t count) {
  int64_t row = x.row > depth ? x.row : depth;
  auto n = static_cast<uint64_t>(x.count);
  BlasStatus status = blas.layoutSet(product.x, blasLayoutLeading, &row, sizeof(row));
  status = status ? status : blas.layoutSet(product.x, blasLayoutColumns, &n, sizeof(n));
  status = status ? status : blas.layoutSet(product.out, blasLayoutColumns, &n, sizeof(n));
  for (const Operand &operand : operands)
    status = status ? status : describe(blas, operand, count);
  return status;
}

BlasStatus enqueue(const CudaCode &code, const Product &product, const Operand (&operands)[3], int64_t calls,
                   CuStream stream) {
  const float one = 1, zero = 0;
  BlasStatus status = 0;
  for (int64_t call = 0; status == 0 && call < calls; ++call) {
    auto at = [&](int which) { return operands[which].data + call * operands[which].between * operands[which].bytes; };
    status = code.blas->multiply(code.blasHandle, product.product, &one, at(0), product.w, at(1), product.x, &zero,
                                 at(2), product.out, at(2), product.out, &product.algorithm, nullptr, 0, stream);
  }
  return status;
}

} // namespace

attune_status attune::rt::multiply(const attune_rt_handle &handle, const Place &place, Product &product,
                                   const uint64_t *slots, char *spare, CuStream stream, bool &done) {
  const CudaCode &code = *handle.cuda;
  const attune_rt_product &asked = *product.asked;
  auto *all = const_cast<uint64_t *>(slots);
  SlotView given{all + slotX, rankX}, w{all + slotW, rankW}, out{all + slotOut, rankOut};
  int64_t bytes = asked.dtype == ATTUNE_RT_F32 ? 4 : 2;
  Tokens x{given.data(), given.size(0), given.size(1), given.stride(0), given.stride(1)};
  if (!liesWell(x, asked.depth, bytes, product.alignment))
    if (attune_status status = gather(*code.driver, place, x, asked.depth, bytes, spare, stream))
      return status;
  bool heads = asked.heads >= x.batch; // of an entry in one call
  const Operand operands[] = {
      {w.data(), product.w, bytes, heads ? asked.width : 0, heads ? 0 : asked.width},
      {x.data, product.x, bytes, heads ? 0 : x.entry, heads ? x.entry : 0},
      {out.data(), product.out, 4, out.stride(heads ? 1 : 0), out.stride(heads ? 0 : 1)}};
  BlasStatus status = describeAll(*code.blas, product, x, asked.depth, operands,
                                  static_cast<int32_t>(heads ? asked.heads : x.batch));
  if (status == 0)
    status = enqueue(code, product, operands, heads ? x.batch : asked.heads, stream);
  done = status == 0;
  if (done || status == blasNotSupported || status == blasInvalidValue)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_DEVICE,
              "%s_%s: cublasLtMatmul: expected success, but got %s (%d); set ATTUNE_PRODUCTS=own to do without "
              "cuBLASLt",
              place.library, place.function, code.blas->getStatusName(status), status);
}
