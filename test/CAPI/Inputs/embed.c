/*===- embed.c - A C program around Attune's C API -------------------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* embed SPEC [LIBRARY HEADER]: says what a spec becomes, and with more arguments compiles it. */
#include "attune-c/Compile.h"
#include "attune-c/Message.h"
#include "attune-c/Plan.h"
#include "attune-c/Registration.h"

#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirStringRef ref(const char *text) { return mlirStringRefCreateFromCString(text); }

static void print(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, (FILE *)file); }

static int fail(void) {
  print(attuneGetMessage(), stderr);
  return 1;
}

/* At most 64 KiB. */
static MlirStringRef read(const char *path) {
  static char text[1 << 16];
  FILE *file = fopen(path, "rb");
  size_t length = file ? fread(text, 1, sizeof text, file) : 0;
  if (file)
    fclose(file);
  return mlirStringRefCreate(text, length);
}

static MlirContext makeContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  attuneRegisterAllDialects(registry);
  attuneRegisterAllPasses();
  attuneRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  return context;
}

static int explain(MlirModule module) {
  AttunePlan plan = attunePlanCreate(module, ref("x86-64-avx512"), 1);
  if (attunePlanIsNull(plan))
    return fail();
  for (intptr_t i = 0; i < attunePlanGetNumFunctions(plan); ++i) {
    print(attunePlanGetFunctionName(plan, i), stdout);
    printf(" takes ");
    print(attunePlanGetForms(plan, i), stdout);
    printf(", at L = %lld %s\n", (long long)attunePlanGetLength(plan, i),
           attunePlanGetSeconds(plan, i) > 0 ? "with a price" : "without a price");
  }
  print(attunePlanGetExplanation(plan), stdout);
  printf("JSON of %s\n", attunePlanGetJson(plan).length > 100 ? "more than 100 bytes" : "little");
  attunePlanDestroy(plan);
  return 0;
}

/* The pass that brings a module into its cheapest forms, from a pipeline's text. */
static int lower(MlirContext context, MlirModule module) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  MlirLogicalResult parsed =
      mlirParsePassPipeline(passes, ref("builtin.module(attn-select-rewrites,attn-to-tile)"), print, stderr);
  MlirLogicalResult ran = mlirLogicalResultFailure();
  if (mlirLogicalResultIsSuccess(parsed))
    ran = mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  mlirPassManagerDestroy(manager);
  if (mlirLogicalResultIsSuccess(ran))
    mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
  return !mlirLogicalResultIsSuccess(ran);
}

static int compile(MlirStringRef spec, MlirModule module, char **arguments) {
  AttuneCompileOptions options = ATTUNE_COMPILE_OPTIONS_INIT;
  options.threads = 1;
  options.targets = "cpu,sm_70";
  if (mlirLogicalResultIsSuccess(attuneCompileModule(module, &options, ref(arguments[0]), ref(arguments[1]))))
    return 1;
  print(attuneGetMessage(), stdout);
  options.targets = "cpu";
  options.isa = "sse";
  if (mlirLogicalResultIsSuccess(attuneCompileModule(module, &options, ref(arguments[0]), ref(arguments[1]))))
    return 1;
  print(attuneGetMessage(), stdout);
  options.isa = "native";
  if (mlirLogicalResultIsFailure(attuneCompileModule(module, &options, ref(arguments[0]), ref(""))))
    return fail();
  if (mlirLogicalResultIsFailure(attuneCompileSpec(spec, ref("spec"), NULL, ref(arguments[0]), ref(arguments[1]))))
    return fail();
  printf("compiled, message of %zu bytes\n", attuneGetMessage().length);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2 && count != 4)
    return 2;
  MlirStringRef spec = read(arguments[1]);
  MlirContext context = makeContext();
  MlirModule module = attuneModuleFromSpec(context, spec, ref(arguments[1]));
  int status = mlirModuleIsNull(module) ? fail() : 0;
  if (!status) {
    mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
    status = explain(module);
    if (!status && count == 4)
      status = compile(spec, module, arguments + 2);
    if (!status)
      status = lower(context, module);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  return status;
}
