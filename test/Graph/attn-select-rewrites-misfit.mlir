// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=sm_80 -verify-diagnostics

// Keys and values of 64 tokens in bf16, one stage, with the queries: 64 · (1024 + 1024 + 1024) · 2 = 393,216 bytes, and a
// thread block of an A100 has 166,912.
// expected-error @below {{expected a plan that sm_80 can run, but found none: no schedule fits: expected tiles of at most 166912 bytes of shared memory on sm_80, but got 393216}}
func.func @wide(%q: tensor<1x1x9x1024xbf16>, %k: tensor<1x1x9x1024xbf16>, %v: tensor<1x1x9x1024xbf16>) -> tensor<1x1x9x1024xbf16> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x1024xbf16>, tensor<1x1x9x1024xbf16>, tensor<1x1x9x1024xbf16> -> tensor<1x1x9x1024xbf16>
  return %o : tensor<1x1x9x1024xbf16>
}
