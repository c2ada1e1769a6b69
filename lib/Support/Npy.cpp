//===- Npy.cpp - NumPy's file format -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is: \x93NUMPY, major, minor, the length of the header (2 bytes in version 1, 4 in versions 2 and 3, little
// endian), a header that spells a Python dict with exactly descr, fortran_order and shape, then the elements.
//
//===----------------------------------------------------------------------===//
#include "attune/Support/TensorFiles.h"

#include "BoundedFile.h"
#include "NpyHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <algorithm>

namespace attune {

static constexpr llvm::StringLiteral magic = "\x93NUMPY";
/// Longer headers are nobody's: NumPy itself writes a few hundred bytes and refuses to read more than 10,000.
static constexpr int64_t longestHeader = 1 << 16;

namespace {
struct Preamble {
  std::string header;
  int64_t dataStart = 0;
};

/// A file whose header has been read and suits its size.
struct OpenNpy {
  BoundedFile file;
  NpyHeader header;
  int64_t dataStart = 0;
};
} // namespace

static llvm::Expected<Preamble> readPreamble(BoundedFile &file) {
  char lead[12];
  if (file.size() < 10)
    return file.fail("expected a .npy file, but got " + llvm::Twine(file.size()) + " bytes");
  if (llvm::Error error = file.read(0, lead, 10))
    return error;
  if (llvm::StringRef(lead, 6) != magic)
    return file.fail("expected a .npy file, but got another format");
  unsigned major = static_cast<unsigned char>(lead[6]);
  if (major < 1 || major > 3)
    return file.fail("expected .npy version 1, 2 or 3, but got " + llvm::Twine(major));
  int64_t start = major == 1 ? 10 : 12, length = llvm::support::endian::read16le(lead + 8);
  if (major > 1) {
    if (llvm::Error error = file.read(0, lead, 12))
      return error;
    length = llvm::support::endian::read32le(lead + 8);
  }
  if (length > longestHeader)
    return file.fail("expected a header of at most " + llvm::Twine(longestHeader) + " bytes, but got " +
                     llvm::Twine(length));
  Preamble result;
  result.dataStart = start + length;
  if (result.dataStart > file.size())
    return file.fail("expected a header of " + llvm::Twine(length) + " bytes, but got an early end");
  result.header.resize(length);
  if (llvm::Error error = file.read(start, result.header.data(), length))
    return error;
  return result;
}

static void swapBytes(HostTensor &tensor) {
  unsigned width = bytesOf(tensor.type);
  for (size_t at = 0; at < tensor.bytes.size(); at += width)
    std::reverse(tensor.bytes.begin() + at, tensor.bytes.begin() + at + width);
}

/// Column-major elements put in row-major order.
static void transposeFortran(HostTensor &tensor) {
  size_t rank = tensor.shape.size();
  if (rank < 2 || tensor.bytes.empty())
    return;
  unsigned width = bytesOf(tensor.type);
  std::vector<char> rows(tensor.bytes.size());
  llvm::SmallVector<int64_t> index(rank, 0), stride(rank, 1);
  for (size_t i = 1; i < rank; ++i)
    stride[i] = stride[i - 1] * tensor.shape[i - 1];
  for (size_t at = 0; at < rows.size(); at += width) {
    int64_t from = 0;
    for (size_t i = 0; i < rank; ++i)
      from += index[i] * stride[i];
    std::copy_n(tensor.bytes.begin() + from * width, width, rows.begin() + at);
    for (size_t i = rank; i-- > 0 && ++index[i] == tensor.shape[i];)
      index[i] = 0;
  }
  tensor.bytes = std::move(rows);
}

static llvm::Expected<OpenNpy> openNpy(llvm::StringRef path) {
  llvm::Expected<BoundedFile> file = BoundedFile::open(path);
  if (!file)
    return file.takeError();
  llvm::Expected<Preamble> preamble = readPreamble(*file);
  if (!preamble)
    return preamble.takeError();
  llvm::Expected<NpyHeader> header = parseNpyHeader(preamble->header);
  if (!header)
    return file->fail(llvm::toString(header.takeError()));
  std::optional<int64_t> bytes = byteCount(header->type, header->shape);
  if (!bytes)
    return file->fail("expected a shape that fits in memory, but got " + showShape(header->shape));
  int64_t given = file->size() - preamble->dataStart;
  if (*bytes != given)
    return file->fail("expected " + llvm::Twine(*bytes) + " bytes of data for shape " + showShape(header->shape) +
                      ", but got " + llvm::Twine(given));
  return OpenNpy{std::move(*file), std::move(*header), preamble->dataStart};
}

llvm::Expected<TensorHeader> readNpyHeader(llvm::StringRef path) {
  llvm::Expected<OpenNpy> npy = openNpy(path);
  if (!npy)
    return npy.takeError();
  return TensorHeader{npy->header.type, npy->header.shape};
}

llvm::Expected<HostTensor> readNpy(llvm::StringRef path) {
  llvm::Expected<OpenNpy> npy = openNpy(path);
  if (!npy)
    return npy.takeError();
  llvm::Expected<HostTensor> tensor = HostTensor::allocate(npy->header.type, npy->header.shape);
  if (!tensor)
    return npy->file.fail(llvm::toString(tensor.takeError()));
  if (llvm::Error error = npy->file.read(npy->dataStart, tensor->bytes.data(), tensor->bytes.size()))
    return error;
  if (npy->header.bigEndian)
    swapBytes(*tensor);
  if (npy->header.fortranOrder)
    transposeFortran(*tensor);
  return tensor;
}

llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor) {
  if (tensor.type == ElementType::BF16) {
    llvm::Expected<HostTensor> wide = convertTensor(tensor, ElementType::F32);
    return wide ? writeNpy(path, *wide) : wide.takeError();
  }
  std::string header = formatNpyHeader(tensor.type, tensor.shape);
  // Padded with spaces so that the data starts at a multiple of 64 bytes, as the format asks.
  size_t length = 10 + header.size() + 1;
  header.append((64 - length % 64) % 64, ' ');
  header += '\n';
  std::string lead = magic.str() + std::string("\x01\x00", 2);
  lead += static_cast<char>(header.size() & 255);
  lead += static_cast<char>(header.size() >> 8);
  return writeWhole(path, {lead, header, llvm::StringRef(tensor.bytes.data(), tensor.bytes.size())});
}

} // namespace attune
