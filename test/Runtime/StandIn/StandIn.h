/*===- StandIn.h - What the stand-in driver records and obeys --------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEST_RUNTIME_STANDIN_H
#define ATTUNE_TEST_RUNTIME_STANDIN_H

#include <stddef.h>
#include <stdint.h>

enum { standInMaxCalls = 256, standInMaxLaunches = 8, standInMaxParameters = 96, standInMaxBlocks = 4096 };

/* Device addresses lie this far from the host memory behind them, so that neither can be taken for the other. */
#define STAND_IN_DEVICE ((uint64_t)1 << 62)

typedef struct StandInLaunch {
  const char *kernel;
  unsigned grid[3], block[3], shared;
  void *stream;
  int count; /* of the parameters below */
  uint64_t parameters[standInMaxParameters];
} StandInLaunch;

/* Device memory that has been allocated and not freed. */
typedef struct StandInBlock {
  uint64_t address;
  size_t bytes;
  void *memory; /* a pointer that a leak checker knows: what a driver loses is not its caller's leak */
} StandInBlock;

/* CUDA_MEMCPY2D. */
typedef struct StandInCopy {
  size_t fromX, fromY;
  int fromType;
  const void *fromHost;
  uint64_t from;
  void *fromArray;
  size_t fromPitch, toX, toY;
  int toType;
  void *toHost;
  uint64_t to;
  void *toArray;
  size_t toPitch, bytes, rows;
} StandInCopy;

typedef struct StandIn {
  /* Obeyed. */
  int devices, major, minor, sharedLimit;
  const char *failing;  /* the function that fails from now on; null: none */
  int failingAt;        /* the call that fails, whatever it is, counted by `made` from 1; 0: none */
  int error;            /* that it fails with; 0: 719 */
  int capturing;        /* whether a stream is captured, so that most calls fail with 900 */
  int nameless;         /* whether errors have neither name nor text */
  const char *refused;  /* modules that begin so are refused with the error, 0: 209; null: none */
  void *current;        /* the caller's context; null: none */
  int currentDevice;    /* which is of this device */
  int parametersToRead; /* of each launch */
  int (*parametersOf)(const char *kernel); /* in place of that number, if it is there */
  /* Computes a launch if it is there; device addresses among the parameters have become host addresses. */
  void (*compute)(const char *kernel, const unsigned grid[3], const uint64_t *parameters);
  void (*loaded)(const void *image); /* is shown each module that is taken, while it is there; null: nobody is */
  /* Recorded. */
  int calls, made; /* those that are named below, and all */
  const char *called[standInMaxCalls];
  const void *pushed;    /* the last context */
  int depth;             /* contexts pushed and not popped */
  int retained, modules; /* held now */
  const void *image;     /* of the last module; it may be gone after the call */
  char imageText[64];    /* its beginning */
  int sharedAttribute;   /* last cuFuncSetAttribute */
  int launches;
  StandInLaunch launch[standInMaxLaunches];
  int blocks; /* allocated now */
  StandInBlock block[standInMaxBlocks];
} StandIn;

/* For hosts that know no struct. */
void standInCapture(int capturing);
/* A GPU of compute capability major.minor whose driver takes no machine code, and shows `loaded` the PTX that it is given. */
void standInTakePtx(int major, int minor, void (*loaded)(const void *text));

#endif
