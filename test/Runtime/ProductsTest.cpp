//===- ProductsTest.cpp - Projections by cuBLASLt, against stand-ins ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs with the stand-ins of the driver and of cuBLASLt on LD_LIBRARY_PATH. Both the library's kernel and cuBLASLt compute
// whole numbers, so results are judged exactly.
//
//===----------------------------------------------------------------------===//

#include "ProjectionToy.h"
#include "StandIn/Blas.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace projection;

namespace {

std::string message() { return attune_rt_message(); }

class Products : public testing::Test {
protected:
  void SetUp() override {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    standIn = driver ? static_cast<StandIn *>(dlsym(driver, "standIn")) : nullptr;
    void *library = dlopen("libcublasLt.so.13", RTLD_NOW);
    blas = library ? static_cast<BlasStandIn *>(dlsym(library, "blasStandIn")) : nullptr;
    if (!standIn)
      GTEST_SKIP() << "the stand-in driver is not first on LD_LIBRARY_PATH";
    *standIn = StandIn{};
    standIn->devices = 1, standIn->major = 9, standIn->sharedLimit = 232448;
    standIn->parametersToRead = kernelSlots;
    standIn->compute = computeOnHost;
    if (needsBlas() && !blas)
      GTEST_SKIP() << "the stand-in for cuBLASLt is not first on LD_LIBRARY_PATH";
    if (blas) {
      *blas = BlasStandIn{};
      blas->version = 120804, blas->found = 1;
    }
  }
  void TearDown() override {
    unsetenv("ATTUNE_PRODUCTS");
    unsetenv("ATTUNE_LOG");
  }
  virtual bool needsBlas() const { return true; }

  /// Also that nothing of cuBLASLt's is left when the handle is gone.
  void release() {
    handle.reset();
    if (blas) {
      EXPECT_EQ(blas->handles, 0);
      EXPECT_EQ(blas->objects, 0);
    }
    EXPECT_EQ(standIn->modules, 0);
    EXPECT_EQ(standIn->depth, 0);
  }

  attune_status create(uint32_t dtype = ATTUNE_RT_BF16) {
    handle.reset();
    attune_rt_handle *raw = nullptr;
    attune_status status = attune_rt_create(&libraryOf(dtype), nullptr, &raw);
    handle.reset(raw);
    if (blas)
      blas->products = 0; // of the trial
    return status;
  }

  /// What create says on standard error.
  std::string logOfCreate() {
    setenv("ATTUNE_LOG", "1", 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(create(), ATTUNE_OK) << message();
    return testing::internal::GetCapturedStderr();
  }

  /// Runs a case; whether it was right, by cuBLASLt or by the kernel.
  void expectRun(Case &c, bool byLibrary) {
    standIn->launches = 0;
    ASSERT_EQ(c.prepare(handle), ATTUNE_OK) << message();
    ASSERT_EQ(c.run(handle), ATTUNE_OK) << message();
    EXPECT_EQ(standIn->launches, byLibrary ? 0 : 1);
    EXPECT_EQ(c.wrong(), 0);
  }

  /// The kernel stays, for this reason, and is right; nothing is left behind.
  void expectOwn(const std::string &reason) {
    EXPECT_EQ(logOfCreate(), "attune: layer_create: project: own kernel: " + reason + "\n");
    {
      Case c(driver, ATTUNE_RT_BF16, 2, 70);
      expectRun(c, /*byLibrary=*/false);
    }
    release();
    EXPECT_EQ(standIn->blocks, 0);
  }

  void *driver = nullptr;
  StandIn *standIn = nullptr;
  BlasStandIn *blas = nullptr;
  Handle handle;
};

class NoProducts : public Products {
protected:
  bool needsBlas() const override { return false; }
};

TEST_F(Products, ComputeInPlaceOfTheKernel) {
  for (uint32_t dtype : {ATTUNE_RT_F32, ATTUNE_RT_F16, ATTUNE_RT_BF16}) {
    ASSERT_EQ(create(dtype), ATTUNE_OK) << message();
    Case c(driver, dtype, 1, 70);
    expectRun(c, /*byLibrary=*/true);
    EXPECT_EQ(blas->products, 1) << "all heads of the one entry";
    EXPECT_EQ(blas->batch, heads);
  }
  release();
}

TEST_F(Products, TakeTheFewestCalls) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case few(driver, ATTUNE_RT_BF16, 2, 5), many(driver, ATTUNE_RT_BF16, 7, 5);
  expectRun(few, /*byLibrary=*/true);
  EXPECT_EQ(blas->products, 2);
  EXPECT_EQ(blas->batch, heads);
  blas->products = 0;
  expectRun(many, /*byLibrary=*/true);
  EXPECT_EQ(blas->products, heads);
  EXPECT_EQ(blas->batch, 7);
}

TEST_F(Products, AskOnceAndKeepTheAlgorithm) {
  blas->found = 3, blas->useless = 2;
  blas->workspace = 1024;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(blas->asked, 1);
  EXPECT_EQ(blas->alignmentX, 16u);
  for (int64_t batch : {1, 4}) {
    Case c(driver, ATTUNE_RT_BF16, batch, 33 * batch);
    expectRun(c, /*byLibrary=*/true);
    EXPECT_EQ(blas->algorithm, 2) << "the first two need workspace";
  }
  EXPECT_EQ(blas->asked, 1);
}

TEST_F(Products, TokensThatLieOtherwiseAreBroughtTogether) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  const Place places[] = {{1, depth, -1},          // the first row at an odd place
                          {0, depth + 1, -1},      // every other row
                          {0, depth, 9 * depth + 3}, // every other entry
                          {0, 2 * depth, -1},      // aligned: read where they are
                          {3, 0, -1},              // one row for all
                          {0, 5, -1},              // rows that overlap
                          {0, depth, 0}};          // one entry for all
  for (const Place &place : places) {
    Case c(driver, ATTUNE_RT_BF16, 3, 9, place);
    expectRun(c, /*byLibrary=*/true);
  }
}

TEST_F(Products, WorkspaceIsAskedFor) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(driver, ATTUNE_RT_BF16, 3, 9, {1, depth, -1});
  ASSERT_EQ(c.prepare(handle), ATTUNE_OK) << message();
  EXPECT_EQ(c.workspace(handle), 64 + 3 * 9 * depth * 2u);
  EXPECT_EQ(c.run(handle, nullptr, /*missing=*/1), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "layer_run: argument 'workspace': expected at least 1360 bytes, but got 1359; ask layer_workspace "
                       "for the number");
  setenv("ATTUNE_PRODUCTS", "own", 1);
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  ASSERT_EQ(c.prepare(handle), ATTUNE_OK) << message();
  EXPECT_EQ(c.workspace(handle), 4u) << "the plan's own";
}

TEST_F(Products, RunMakesNoCallThatACaptureForbids) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  for (const Place &place : {Place{}, Place{1, depth, -1}}) {
    Case c(driver, ATTUNE_RT_BF16, 1, 9, place);
    expectRun(c, /*byLibrary=*/true);
    int stream, objects = blas->objects, asked = blas->asked;
    Case again(driver, ATTUNE_RT_BF16, 1, 9, place);
    standIn->calls = 0;
    ASSERT_EQ(again.run(handle, &stream), ATTUNE_OK) << message();
    std::vector<std::string> calls(standIn->called, standIn->called + standIn->calls);
    ASSERT_EQ(calls.front(), "cuMemAlloc_v2"); // the test's own
    calls.erase(calls.begin());
    std::vector<std::string> expected{"cuCtxPushCurrent_v2", "cuMemcpy2DAsync_v2", "cuCtxPopCurrent_v2"};
    if (place.before == 0)
      expected.erase(expected.begin() + 1);
    EXPECT_EQ(calls, expected);
    EXPECT_EQ(blas->stream, &stream);
    EXPECT_EQ(blas->objects, objects);
    EXPECT_EQ(blas->asked, asked);
  }
}

TEST_F(Products, OneHandleOfTheLibraryAContext) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Handle first = std::move(handle);
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(blas->handles, 1);
  first.reset();
  EXPECT_EQ(blas->handles, 1);
  release();
}

TEST_F(Products, TheChoiceIsSaid) {
  EXPECT_EQ(logOfCreate(), "attune: layer_create: project: cuBLASLt 12.8.4\n");
  setenv("ATTUNE_PRODUCTS", "own", 1);
  expectOwn("ATTUNE_PRODUCTS asks for it");
  setenv("ATTUNE_PRODUCTS", "mine", 1);
  EXPECT_EQ(create(), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "layer_create: environment variable ATTUNE_PRODUCTS: expected 'library' (the default) or 'own', but "
                       "got 'mine'");
  release();
}

TEST_F(Products, VersionsThatNobodyKnowsAreLeftAlone) {
  blas->version = 110300;
  expectOwn("expected cuBLASLt 11.5 ... 13, but got version 110300");
  blas->version = 140000;
  expectOwn("expected cuBLASLt 11.5 ... 13, but got version 140000");
}

TEST_F(Products, WithoutAnAlgorithmTheKernelStays) {
  blas->found = 0;
  expectOwn("cuBLASLt has no algorithm for it without workspace");
  blas->found = 2, blas->useless = 2;
  blas->splits = 4;
  expectOwn("cuBLASLt has no algorithm for it without workspace");
}

TEST_F(Products, WrongResultsOfTheTrialAreNotTaken) {
  blas->off = 1;
  expectOwn("cuBLASLt computed something else");
}

TEST_F(Products, EveryCallOfCreateMayFail) {
  blas->error = 1;
  for (const char *call : {"cublasLtCreate", "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate",
                           "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute",
                           "cublasLtMatmulAlgoGetHeuristic"}) {
    blas->failing = call;
    expectOwn(std::string(call) + " gave CUBLAS_STATUS_NOT_INITIALIZED");
  }
  blas->failing = "cublasLtMatmulAlgoConfigGetAttribute";
  expectOwn("cuBLASLt has no algorithm for it without workspace");
  blas->failing = "cublasLtMatmul", blas->error = 15;
  expectOwn("cuBLASLt did not take the algorithm that it gave");
  blas->failing = nullptr;
  EXPECT_EQ(logOfCreate(), "attune: layer_create: project: cuBLASLt 12.8.4\n");
}

TEST_F(Products, SizesThatAreNotTakenGoToTheKernel) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  blas->failing = "cublasLtMatmul", blas->error = 15;
  Case c(driver, ATTUNE_RT_BF16, 2, 9);
  expectRun(c, /*byLibrary=*/false);
}

TEST_F(Products, ErrorsAreNamed) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  blas->failing = "cublasLtMatmul", blas->error = 13;
  Case c(driver, ATTUNE_RT_BF16, 2, 9, {1, depth, -1});
  ASSERT_EQ(c.prepare(handle), ATTUNE_OK) << message();
  EXPECT_EQ(c.run(handle), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message(), "layer_run: cublasLtMatmul: expected success, but got CUBLAS_STATUS_EXECUTION_FAILED (13); set "
                       "ATTUNE_PRODUCTS=own to do without cuBLASLt");
  blas->failing = nullptr;
  standIn->failing = "cuMemcpy2DAsync_v2";
  EXPECT_EQ(c.run(handle), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message().find("layer_run: cuMemcpy2DAsync: expected success, but got CUDA_ERROR_LAUNCH_FAILED"), 0u) << message();
  EXPECT_EQ(standIn->depth, 0);
}

TEST_F(Products, ErrorsOfCopiesAreNamed) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(driver, ATTUNE_RT_BF16, 2, 9, {3, 0, -1}); // one row for all
  ASSERT_EQ(c.prepare(handle), ATTUNE_OK) << message();
  standIn->failing = "cuMemcpyDtoDAsync_v2";
  EXPECT_EQ(c.run(handle), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message().find("layer_run: cuMemcpyDtoDAsync: expected success, but got CUDA_ERROR_LAUNCH_FAILED"), 0u)
      << message();
  EXPECT_EQ(standIn->depth, 0);
}

/// A trial that the driver ends leaves the kernel in its place.
TEST_F(Products, EachCallOfTheDriverMayFailInCreate) {
  int trials = 0;
  for (int at = 1;; ++at) {
    int blocks = standIn->blocks;
    standIn->made = standIn->calls = 0;
    standIn->failingAt = at;
    attune_status status = create();
    bool reached = standIn->made >= at;
    // A context that cannot be made current is gone, and with it what is there.
    bool lost = reached && strcmp(standIn->called[at - 1], "cuCtxPushCurrent_v2") == 0;
    standIn->failingAt = 0;
    if (status == ATTUNE_OK) {
      Case c(driver, ATTUNE_RT_BF16, 2, 9);
      ASSERT_EQ(c.prepare(handle), ATTUNE_OK) << message();
      standIn->launches = 0;
      ASSERT_EQ(c.run(handle), ATTUNE_OK) << message();
      EXPECT_EQ(c.wrong(), 0) << at;
      trials += standIn->launches;
    }
    release();
    EXPECT_EQ(standIn->retained, 0) << at;
    EXPECT_LE(standIn->blocks, blocks + lost) << at;
    if (!reached)
      break;
  }
  EXPECT_GE(trials, 5) << "push, allocation, two copies and the wait of a trial";
}

/// With files on the path that are no libraries.
TEST_F(NoProducts, WithoutTheLibraryTheKernelStays) {
  if (!getenv("ATTUNE_TEST_NO_BLAS"))
    GTEST_SKIP() << "only where cuBLASLt cannot be opened";
  ASSERT_EQ(blas, nullptr);
  expectOwn("no libcublasLt.so.13, .12 or .11 is on the library path");
}

} // namespace
