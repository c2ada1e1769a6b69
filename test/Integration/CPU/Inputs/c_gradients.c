/* A C program that trains: a run that leaves the sums of its rows, gradients from what it has left, in one workspace for both. Each gradient is
   compared with a difference of the loss itself, of weights of pairs in double. */
#include "c_gradients.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { H = 2, QUERIES = 19, KEYS = 23, D = 6, DV = 5 };

static float q[H][QUERIES][D], k[H][KEYS][D], v[H][KEYS][DV], o[H][QUERIES][DV], lse[H][QUERIES];
static float grad_o[H][QUERIES][DV], grad_q[H][QUERIES][D], grad_k[H][KEYS][D], grad_v[H][KEYS][DV];

static void fill(float *x, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / (1 << 23) - 1.0f;
  }
}

static double loss(void) {
  double sum = 0;
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < QUERIES; ++i) {
      double of_row = 0, weights = 0;
      for (int j = 0; j < KEYS; ++j) {
        double logit = 0, reached = 0;
        for (int x = 0; x < D; ++x)
          logit += (double)q[h][i][x] * k[h][j][x];
        for (int x = 0; x < DV; ++x)
          reached += (double)v[h][j][x] * grad_o[h][i][x];
        double weight = exp(logit / sqrt(D));
        of_row += weight * reached, weights += weight;
      }
      sum += of_row / weights;
    }
  return sum;
}

static double largest(float *x, const float *gradient, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; ++i) {
    float own = x[i], step = 1.0f / 64;
    x[i] = own + step;
    double above = loss(), up = x[i];
    x[i] = own - step;
    double slope = (above - loss()) / (up - x[i]);
    x[i] = own;
    most = fmax(most, fabs(slope - gradient[i]));
  }
  return most;
}

static void must(attune_status status, const char *message) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "%s\n", message);
  exit(1);
}

static DLTensor tensor(void *data, int64_t *shape, int32_t rank) {
  DLTensor made = {data, {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, shape, NULL, 0};
  return made;
}

int main(void) {
  fill(&q[0][0][0], sizeof q / sizeof(float), 1), fill(&k[0][0][0], sizeof k / sizeof(float), 2);
  fill(&v[0][0][0], sizeof v / sizeof(float), 3), fill(&grad_o[0][0][0], sizeof grad_o / sizeof(float), 4);
  int64_t of_q[] = {1, H, QUERIES, D}, of_k[] = {1, H, KEYS, D}, of_v[] = {1, H, KEYS, DV}, of_o[] = {1, H, QUERIES, DV};
  DLTensor tq = tensor(q, of_q, 4), tk = tensor(k, of_k, 4), tv = tensor(v, of_v, 4), to = tensor(o, of_o, 4), tl = tensor(lse, of_o, 3);
  DLTensor go = tensor(grad_o, of_o, 4), gq = tensor(grad_q, of_q, 4), gk = tensor(grad_k, of_k, 4), gv = tensor(grad_v, of_v, 4);

  c_gradients_handle *forward = NULL;
  c_gradients_backward_handle *backward = NULL;
  must(c_gradients_create(NULL, &forward), c_gradients_message());
  must(c_gradients_prepare(forward, NULL), c_gradients_message());
  must(c_gradients_backward_create(NULL, &backward), c_gradients_backward_message());
  must(c_gradients_backward_prepare(backward, NULL), c_gradients_backward_message());

  c_gradients_tensors run = {.size = sizeof run, .q = &tq, .k = &tk, .v = &tv, .o = &to, .saved_lse = &tl};
  c_gradients_backward_tensors step = {.size = sizeof step, .q = &tq, .k = &tk, .v = &tv, .grad_o = &go, .saved_o = &to, .saved_lse = &tl,
                                       .grad_q = &gq, .grad_k = &gk, .grad_v = &gv};
  size_t both = 0, one = 0, other = 0;
  must(c_gradients_step_workspace(forward, &run, backward, &step, &both), c_gradients_backward_message());
  must(c_gradients_workspace(forward, &run, &one), c_gradients_message());
  must(c_gradients_backward_workspace(backward, &step, &other), c_gradients_backward_message());
  printf("one workspace %s both\n", both == (one > other ? one : other) ? "is enough for" : "is NOT the larger of");
  void *workspace = both ? aligned_alloc(ATTUNE_WORKSPACE_ALIGNMENT, (both + 63) / 64 * 64) : NULL;
  must(c_gradients_run(forward, &run, workspace, both, NULL), c_gradients_message());
  must(c_gradients_backward_run(backward, &step, workspace, both, NULL), c_gradients_backward_message());

  double most = fmax(largest(&q[0][0][0], &grad_q[0][0][0], sizeof q / sizeof(float)), largest(&k[0][0][0], &grad_k[0][0][0], sizeof k / sizeof(float)));
  most = fmax(most, largest(&v[0][0][0], &grad_v[0][0][0], sizeof v / sizeof(float)));
  printf("largest difference %s 1e-3\n", most < 1e-3 ? "below" : "NOT below");

  /* Of what is wrong with one of both the query says it. */
  of_v[3] = DV - 1;
  attune_status status = c_gradients_step_workspace(forward, &run, backward, &step, &both);
  printf("status %d: %s\n", (int)status, c_gradients_message());
  c_gradients_destroy(forward), c_gradients_backward_destroy(backward);
  free(workspace);
  return most < 1e-3 && status == ATTUNE_ERROR_ARGUMENT ? 0 : 1;
}
