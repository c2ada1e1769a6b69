/* A C program of somebody else: needs nothing but the generated header and the library. Computes attention both
   through the library and from the definition, on tensors laid out [batch, tokens, heads, width] as models keep them,
   and then makes a mistake that the library must name. */
#include "c_consumer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 4, G = 2, QUERIES = 37, KEYS = 53, D = 24, DV = 20 };

static float q[B][QUERIES][H][D], k[B][KEYS][G][D], v[B][KEYS][G][DV], o[B][QUERIES][H][DV];
static int32_t lengths[B] = {53, 17};

static void fill(float *x, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / (1 << 23) - 1.0f;
  }
}

/* The view [batch, heads, tokens, width] of an array [batch, tokens, heads, width]. */
static DLTensor view(void *data, int64_t shape[4], int64_t strides[4], int64_t heads, int64_t tokens, int64_t width) {
  int64_t sizes[4] = {B, heads, tokens, width};
  int64_t steps[4] = {tokens * heads * width, width, heads * width, 1};
  DLTensor tensor = {data, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape, strides, 0};
  memcpy(shape, sizes, sizeof sizes);
  memcpy(strides, steps, sizeof steps);
  return tensor;
}

static double expected(int b, int i, int h, int c) {
  int g = h * G / H;
  double weighted = 0, sum = 0;
  for (int j = 0; j < lengths[b]; ++j) {
    double dot = 0;
    for (int x = 0; x < D; ++x)
      dot += (double)q[b][i][h][x] * k[b][j][g][x];
    double weight = exp(dot / sqrt(D));
    weighted += weight * v[b][j][g][c];
    sum += weight;
  }
  return weighted / sum;
}

static double largest_difference(void) {
  double largest = 0;
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < QUERIES; ++i)
      for (int h = 0; h < H; ++h)
        for (int c = 0; c < DV; ++c)
          largest = fmax(largest, fabs(expected(b, i, h, c) - o[b][i][h][c]));
  return largest;
}

static void must(attune_status status, const char *what) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "%s: %s\n", what, c_consumer_message());
  exit(1);
}

int main(void) {
  int64_t shapes[4][4], strides[4][4], batch = B;
  fill(&q[0][0][0][0], sizeof q / sizeof(float), 1);
  fill(&k[0][0][0][0], sizeof k / sizeof(float), 2);
  fill(&v[0][0][0][0], sizeof v / sizeof(float), 3);
  DLTensor tq = view(q, shapes[0], strides[0], H, QUERIES, D), tk = view(k, shapes[1], strides[1], G, KEYS, D);
  DLTensor tv = view(v, shapes[2], strides[2], G, KEYS, DV), to = view(o, shapes[3], strides[3], H, QUERIES, DV);
  DLTensor tl = {lengths, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, &batch, NULL, 0};

  attune_options options = ATTUNE_OPTIONS_INIT;
  options.threads = 2;
  c_consumer_handle *handle = NULL;
  must(c_consumer_create(&options, &handle), "create");
  must(c_consumer_prepare(handle, NULL), "prepare");

  c_consumer_tensors tensors = {.size = sizeof tensors, .q = &tq, .k = &tk, .v = &tv, .key_lengths = &tl, .o = &to};
  size_t bytes = 0;
  must(c_consumer_workspace(handle, &tensors, &bytes), "workspace");
  void *workspace = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
  must(c_consumer_run(handle, &tensors, workspace, bytes, NULL), "run");
  double difference = largest_difference();
  printf("largest difference %s 1e-5\n", difference < 1e-5 ? "below" : "NOT below");

  /* Values of a wrong width are refused, and the message says which tensor and which sizes. */
  shapes[2][3] = DV - 1;
  attune_status status = c_consumer_run(handle, &tensors, workspace, bytes, NULL);
  printf("status %d: %s\n", (int)status, c_consumer_message());
  c_consumer_destroy(handle);
  free(workspace);
  return difference < 1e-5 && status == ATTUNE_ERROR_ARGUMENT ? 0 : 1;
}
