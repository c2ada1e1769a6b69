// Approximate laws fire only if they are allowed; else their price is told, and nothing changes.
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml" | FileCheck %s --check-prefix=EXACT
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml offers" \
// RUN:   --remarks-filter=attn-select-rewrites -o %t.offered 2>&1 | FileCheck %s --check-prefix=OFFER
// RUN: FileCheck %s --check-prefix=EXACT < %t.offered
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml allow=efficient,drop_guards" \
// RUN:   | FileCheck %s --check-prefix=ALLOWED
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml allow=local" | FileCheck %s --check-prefix=LOCAL
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml allow=agents" | FileCheck %s --check-prefix=AGENTS
// RUN: not attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml allow=efficent" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: expected the name of a law (efficient, local, agents, drop_guards) to allow, but got 'efficent'
// UNKNOWN: note: did you mean 'efficient'?

// On this machine only products of tiles cost time, so that every linear function of long sequences is cheaper.
// OFFER: [Analysis] plan | {{.*}}Function=dense | Remark="{{.*}} predicted at n = 4096, batch 1, on products, by keys: in_order; softmax {{.*}}, waits for compute"
// OFFER: [Missed] efficient | {{.*}}Remark="efficient: would need consent (allow), {{.*}}: softmax of q's features and of k's sequence apart, without the scale"
// OFFER: [Missed] local | {{.*}}Remark="local: would need consent (allow), {{.*}}: softmax inside blocks of 256 tokens"
// OFFER: [Missed] agents | {{.*}}Remark="agents: would need consent (allow), {{.*}}"
// EXACT-LABEL:   func.func @dense(
// EXACT:           attn.softmax %{{.*}} {scale = 1.000000e+00 : f64}
// ALLOWED-LABEL: func.func @dense(
// ALLOWED:         attn.effatt %arg0, %arg1, %arg2
// LOCAL-LABEL:   func.func @dense(
// LOCAL:           attn.softmax %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64, window = #attn.window<256>}
// AGENTS-LABEL:  func.func @dense(
// AGENTS:          attn.agent %arg0, %arg1, %arg2 {agents = 64 : i64, scale = 1.000000e+00 : f64}
func.func @dense(%q: tensor<1x1x4096x128xf32>, %k: tensor<1x1x4096x128xf32>, %v: tensor<1x1x4096x128xf32>) -> tensor<1x1x4096x128xf32> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32> -> tensor<1x1x4096x128xf32>
  return %o : tensor<1x1x4096x128xf32>
}

// -----

// The function's own consent, and its pin. 1000 tokens are no blocks of 256; 50 is the largest number of agents that divides them.
// OFFER: [Missed] local | {{.*}}Function=own | Remark="local: cannot change the function: blocks of 256 do not fill 1000 tokens"
// OFFER: [Passed] agents | {{.*}}Remark="agents: allowed and taken, {{.*}}"
// AGENTS-LABEL: func.func @own(
// AGENTS:         attn.agent %arg0, %arg1, %arg2 {agents = 50 : i64, scale = 1.000000e+00 : f64}
// EXACT-LABEL:  func.func @own(
// EXACT:          attn.agent
func.func @own(%q: tensor<1x1x1000x128xf32>, %k: tensor<1x1x1000x128xf32>, %v: tensor<1x1x1000x128xf32>) -> tensor<1x1x1000x128xf32>
    attributes {attn.allow = ["agents", "linearize"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x1000x128xf32>, tensor<1x1x1000x128xf32>, tensor<1x1x1000x128xf32> -> tensor<1x1x1000x128xf32>
  return %o : tensor<1x1x1000x128xf32>
}

// -----

// Too short to gain: 64 keys are one tile, which 64 agents do not make cheaper.
// EXACT-LABEL:  func.func @short(
// AGENTS-LABEL: func.func @short(
// AGENTS:         attn.softmax
// OFFER: [Missed] agents | {{.*}}Function=short | Remark="agents: cannot change the function: no number of agents from 16 to 64 divides 31 queries"
func.func @short(%q: tensor<1x1x31x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>) -> tensor<1x1x31x128xf32> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x31x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x31x128xf32>
  return %o : tensor<1x1x31x128xf32>
}

// -----

// Causal: only blocks keep the order of time.
// OFFER: [Missed] efficient | {{.*}}Function=causal | Remark="efficient: cannot change the function: a softmax over all keys would let a causal query see later ones"
// OFFER: [Missed] local | {{.*}}Remark="local: would need consent (allow), {{.*}}"
// OFFER: [Missed] agents | {{.*}}Remark="agents: cannot change the function: an agent mixes queries of all places, and this attention is causal"
// EXACT-LABEL: func.func @causal(
// LOCAL-LABEL: func.func @causal(
// LOCAL:         attn.softmax %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64, window = #attn.window<256>}
func.func @causal(%q: tensor<1x1x1024x64xf32>, %k: tensor<1x1x1024x64xf32>, %v: tensor<1x1x1024x64xf32>) -> tensor<1x1x1024x64xf32> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.0 : f64}
      : tensor<1x1x1024x64xf32>, tensor<1x1x1024x64xf32>, tensor<1x1x1024x64xf32> -> tensor<1x1x1024x64xf32>
  return %o : tensor<1x1x1024x64xf32>
}

// -----

// Unknown lengths, and more keys than queries.
// OFFER: [Missed] local | {{.*}}Function=unknown | Remark="local: cannot change the function: whether blocks of 256 fill the sequence is known only to a run"
// OFFER: [Missed] agents | {{.*}}Remark="agents: cannot change the function: into how many equal runs the queries fall is known only to a run"
// EXACT-LABEL:   func.func @unknown(
// ALLOWED-LABEL: func.func @unknown(
// ALLOWED:         attn.effatt
func.func @unknown(%q: tensor<1x1x?x64xf32>, %k: tensor<1x1x?x64xf32>, %v: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}

// -----

// OFFER: [Missed] local | {{.*}}Function=cross | Remark="local: cannot change the function: blocks need as many queries as keys"
// EXACT-LABEL: func.func @cross(
func.func @cross(%q: tensor<1x1x256x64xf32>, %k: tensor<1x1x512x64xf32>, %v: tensor<1x1x512x64xf32>) -> tensor<1x1x256x64xf32> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x256x64xf32>, tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32> -> tensor<1x1x256x64xf32>
  return %o : tensor<1x1x256x64xf32>
}

// -----

// What is linear already stays.
// OFFER: [Missed] efficient | {{.*}}Function=linear | Remark="efficient: cannot change the function: its windows make it linear in the length already"
// EXACT-LABEL: func.func @linear(
func.func @linear(%q: tensor<1x1x256x64xf32>, %k: tensor<1x1x256x64xf32>, %v: tensor<1x1x256x64xf32>) -> tensor<1x1x256x64xf32> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<64>}
      : tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32> -> tensor<1x1x256x64xf32>
  return %o : tensor<1x1x256x64xf32>
}

// -----

// OFFER: [Missed] efficient | {{.*}}Function=compressed | Remark="efficient: cannot change the function: its compressed keys make it linear in the length already"
// EXACT-LABEL: func.func @compressed(
func.func @compressed(%q: tensor<1x1x256x64xf32>, %k: tensor<1x1x256x64xf32>, %v: tensor<1x1x256x64xf32>, %e: tensor<1x32x256xf32>)
    -> tensor<1x1x256x64xf32> {
  %ck = attn.compress %k, %e : tensor<1x1x256x64xf32>, tensor<1x32x256xf32> -> tensor<1x1x32x64xf32>
  %cv = attn.compress %v, %e : tensor<1x1x256x64xf32>, tensor<1x32x256xf32> -> tensor<1x1x32x64xf32>
  %o = attn.softmax %q, %ck, %cv {scale = 1.0 : f64}
      : tensor<1x1x256x64xf32>, tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32> -> tensor<1x1x256x64xf32>
  return %o : tensor<1x1x256x64xf32>
}

// -----

// FAVOR: without epsilon and guards there is no pass for the maximum.
// EXACT-LABEL:   func.func @favor(
// ALLOWED-LABEL: func.func @favor(
// ALLOWED:         #attn.feature_map<favor, features = 128, epsilon = 0.000000e+00
// ALLOWED:         #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>
// OFFER: [Missed] drop_guards | {{.*}}Function=favor | Remark="drop_guards: would need consent (allow), {{.*}}"
func.func @favor(%q: tensor<1x1x4096x128xf32>, %k: tensor<1x1x4096x128xf32>, %v: tensor<1x1x4096x128xf32>, %w: tensor<1x128x128xf32>)
    -> tensor<1x1x4096x128xf32> {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x128x128xf32>)
      {denominator = #attn.denominator<bias = 1.0e-6, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 128, epsilon = 1.0e-4, scale = 0.125, stabilizer = max>}
      : tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32> -> tensor<1x1x4096x128xf32>
  return %o : tensor<1x1x4096x128xf32>
}

// -----

// OFFER: [Missed] drop_guards | {{.*}}Function=plain | Remark="drop_guards: cannot change the function: its epsilon, bias and floor are 0 already"
// EXACT-LABEL: func.func @plain(
func.func @plain(%q: tensor<1x1x4096x128xf32>, %k: tensor<1x1x4096x128xf32>, %v: tensor<1x1x4096x128xf32>, %w: tensor<1x128x128xf32>)
    -> tensor<1x1x4096x128xf32> {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x128x128xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 128, epsilon = 0.0, scale = 0.125, stabilizer = max>}
      : tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32> -> tensor<1x1x4096x128xf32>
  return %o : tensor<1x1x4096x128xf32>
}

// -----

// OFFER: [Missed] drop_guards | {{.*}}Function=bare | Remark="drop_guards: cannot change the function: it has no stabilizer to get rid of"
// EXACT-LABEL: func.func @bare(
func.func @bare(%q: tensor<1x1x4096x128xf32>, %k: tensor<1x1x4096x128xf32>, %v: tensor<1x1x4096x128xf32>, %w: tensor<1x128x128xf32>)
    -> tensor<1x1x4096x128xf32> {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x128x128xf32>)
      {denominator = #attn.denominator<bias = 1.0e-6, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 128, epsilon = 0.0, scale = 0.125, stabilizer = none>}
      : tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32> -> tensor<1x1x4096x128xf32>
  return %o : tensor<1x1x4096x128xf32>
}

// -----

// OFFER: [Missed] drop_guards | {{.*}}Function=naive | Remark="drop_guards: cannot change the function: naive low rank has no denominator"
// EXACT-LABEL: func.func @naive(
func.func @naive(%q: tensor<1x1x256x64xf32>, %k: tensor<1x1x256x64xf32>, %v: tensor<1x1x256x64xf32>, %w: tensor<1x64x64xf32>,
                 %e: tensor<1x32x256xf32>) -> tensor<1x1x256x64xf32> {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x64x64xf32>) compress(%e, %e : tensor<1x32x256xf32>, tensor<1x32x256xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 64, epsilon = 1.0e-4, scale = 0.125, stabilizer = constant>}
      : tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32> -> tensor<1x1x256x64xf32>
  return %o : tensor<1x1x256x64xf32>
}

// -----

// OFFER: [Missed] drop_guards | {{.*}}Function=carried | Remark="drop_guards: cannot change the function: the state that goes in or out is of the guarded features"
// EXACT-LABEL: func.func @carried(
func.func @carried(%q: tensor<1x1x256x64xf32>, %k: tensor<1x1x256x64xf32>, %v: tensor<1x1x256x64xf32>, %w: tensor<1x64x64xf32>)
    -> (tensor<1x1x256x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64xf32>) {
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%w : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 1.0e-6, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 64, epsilon = 0.0, scale = 0.125, stabilizer = constant>}
      : tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32> -> tensor<1x1x256x64xf32>,
      final tensor<1x1x64x64xf32>, tensor<1x1x64xf32>
  return %o, %s, %z : tensor<1x1x256x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64xf32>
}

// -----

// OFFER: [Missed] efficient | {{.*}}Function=sums | Remark="efficient: cannot change the function: the logarithm of the softmax's sum is asked for"
// EXACT-LABEL: func.func @sums(
func.func @sums(%q: tensor<1x1x256x64xf32>, %k: tensor<1x1x256x64xf32>, %v: tensor<1x1x256x64xf32>)
    -> (tensor<1x1x256x64xf32>, tensor<1x1x256xf32>) {
  %o, %lse = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32> -> tensor<1x1x256x64xf32>, lse tensor<1x1x256xf32>
  return %o, %lse : tensor<1x1x256x64xf32>, tensor<1x1x256xf32>
}
