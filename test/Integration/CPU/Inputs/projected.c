/* Attention with projections, called from C. The weights lie as PyTorch's nn.Linear keeps them, [outputs, inputs], and
   are given as transposed views; they are overwritten after prepare, which must have copied them. */
#include "projected.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, N = 19, H = 2, D = 8, DV = 5, MODEL = 12 };

static float x[B][N][MODEL], y[B][N][MODEL];
static float wq[H * D][MODEL], wk[H * D][MODEL], wv[H * DV][MODEL], wo[MODEL][H * DV];
static float bq[H * D], bk[H * D], bv[H * DV], bo[MODEL];
static double want[B][N][MODEL];

static void fill(float *values, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 8) / (1 << 23) - 1.0f;
  }
}

/* out = weight token + bias, as nn.Linear does. */
static void linear(const float *token, const float *weight, const float *bias, int outputs, double *out) {
  for (int i = 0; i < outputs; ++i) {
    out[i] = bias[i];
    for (int j = 0; j < MODEL; ++j)
      out[i] += (double)weight[i * MODEL + j] * token[j];
  }
}

static void attend(int b, int i, double heads[H * DV]) {
  double q[H * D], k[H * D], v[H * DV], sums[H] = {0};
  linear(x[b][i], wq[0], bq, H * D, q);
  memset(heads, 0, sizeof(double) * H * DV);
  for (int j = 0; j < N; ++j) {
    linear(x[b][j], wk[0], bk, H * D, k);
    linear(x[b][j], wv[0], bv, H * DV, v);
    for (int h = 0; h < H; ++h) {
      double logit = 0;
      for (int c = 0; c < D; ++c)
        logit += q[h * D + c] * k[h * D + c];
      double weight = exp(logit / sqrt(D));
      sums[h] += weight;
      for (int c = 0; c < DV; ++c)
        heads[h * DV + c] += weight * v[h * DV + c];
    }
  }
  for (int c = 0; c < H * DV; ++c)
    heads[c] /= sums[c / DV];
}

static void compute(void) {
  double heads[H * DV];
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < N; ++i) {
      attend(b, i, heads);
      for (int m = 0; m < MODEL; ++m) {
        want[b][i][m] = bo[m];
        for (int c = 0; c < H * DV; ++c)
          want[b][i][m] += wo[m][c] * heads[c];
      }
    }
}

static DLTensor tensor(void *data, int32_t rank, int64_t *shape, int64_t *strides) {
  DLTensor result = {data, {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, shape, strides, 0};
  return result;
}

int main(void) {
  fill(x[0][0], sizeof x / 4, 1), fill(wq[0], sizeof wq / 4, 2), fill(wk[0], sizeof wk / 4, 3);
  fill(wv[0], sizeof wv / 4, 4), fill(wo[0], sizeof wo / 4, 5), fill(bq, H * D, 6), fill(bk, H * D, 7);
  fill(bv, H * DV, 8), fill(bo, MODEL, 9);
  compute();

  /* [inputs, outputs] of a weight that lies as [outputs, inputs]. */
  int64_t in[2] = {MODEL, H * D}, values[2] = {MODEL, H * DV}, out[2] = {H * DV, MODEL};
  int64_t transposed[2] = {1, MODEL}, transposedOut[2] = {1, H * DV}, wide[1] = {H * D}, narrow[1] = {H * DV};
  int64_t model[1] = {MODEL}, tokens[3] = {B, N, MODEL};
  DLTensor q = tensor(wq, 2, in, transposed), k = tensor(wk, 2, in, transposed), v = tensor(wv, 2, values, transposed);
  DLTensor o = tensor(wo, 2, out, transposedOut), qb = tensor(bq, 1, wide, NULL), kb = tensor(bk, 1, wide, NULL);
  DLTensor vb = tensor(bv, 1, narrow, NULL), ob = tensor(bo, 1, model, NULL);
  DLTensor source = tensor(x, 3, tokens, NULL), result = tensor(y, 3, tokens, NULL);
  projected_parameters parameters = PROJECTED_PARAMETERS_INIT;
  parameters.wq = &q, parameters.wk = &k, parameters.wv = &v, parameters.wo = &o;
  parameters.bq = &qb, parameters.bk = &kb, parameters.bv = &vb, parameters.bo = &ob;
  projected_tensors tensors = PROJECTED_TENSORS_INIT;
  tensors.x = &source, tensors.y = &result;

  static _Alignas(64) char workspace[1 << 20];
  projected_handle *handle = NULL;
  size_t bytes = 0;
  int failed = projected_create(NULL, &handle) || projected_prepare(handle, &parameters);
  memset(wq, 0xff, sizeof wq), memset(wo, 0xff, sizeof wo), memset(bk, 0xff, sizeof bk);
  failed = failed || projected_workspace(handle, &tensors, &bytes) || bytes > sizeof workspace ||
           projected_run(handle, &tensors, workspace, sizeof workspace, NULL);
  if (failed) {
    printf("failed: %s\n", projected_message());
    return 1;
  }
  double difference = 0;
  for (int i = 0; i < B * N * MODEL; ++i)
    difference = fmax(difference, fabs(y[0][0][i] - want[0][0][i]));
  printf("largest difference %s 1e-5\n", difference < 1e-5 ? "below" : "above");

  /* A mistake in a parameter is named, and the handle keeps what it had. */
  in[1] = H * D + 1;
  printf("status %d: %s\n", projected_prepare(handle, &parameters), projected_message());
  y[0][0][0] = 1e9f;
  failed = projected_run(handle, &tensors, workspace, sizeof workspace, NULL);
  printf("again: %d %s\n", failed, fabs(y[0][0][0] - want[0][0][0]) < 1e-5 ? "the same" : "another result");
  projected_destroy(handle);
  return 0;
}
