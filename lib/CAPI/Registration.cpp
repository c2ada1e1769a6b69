//===- Registration.cpp - Attune in an MlirContext, for C --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune-c/Registration.h"

#include "attune/Attn/Attn.h"
#include "attune/InitAll.h"
#include "attune/Tile/Tile.h"

#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Attn, attn, attune::attn::AttnDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Tile, tile, attune::tile::TileDialect)

void attuneRegisterAllDialects(MlirDialectRegistry registry) { attune::registerAllDialects(*unwrap(registry)); }

void attuneRegisterAllPasses() {
  static const bool registered = (attune::registerAllPasses(), true);
  (void)registered;
}
