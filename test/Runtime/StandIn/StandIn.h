/*===- StandIn.h - What the stand-in driver records and obeys --------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEST_RUNTIME_STANDIN_H
#define ATTUNE_TEST_RUNTIME_STANDIN_H

#include <stdint.h>

enum { standInMaxCalls = 256, standInMaxLaunches = 8, standInMaxParameters = 96 };

typedef struct StandInLaunch {
  const char *kernel;
  unsigned grid[3], block[3], shared;
  void *stream;
  uint64_t parameters[standInMaxParameters];
} StandInLaunch;

typedef struct StandIn {
  /* Obeyed. */
  int devices, major, minor, sharedLimit;
  const char *failing;  /* the function that fails from now on; null: none */
  int parametersToRead; /* of each launch */
  /* Recorded. */
  int calls;
  const char *called[standInMaxCalls];
  int depth;             /* contexts pushed and not popped */
  int retained, modules; /* held now */
  const void *image;     /* of the last module */
  int sharedAttribute;   /* last cuFuncSetAttribute */
  int launches;
  StandInLaunch launch[standInMaxLaunches];
} StandIn;

#endif
