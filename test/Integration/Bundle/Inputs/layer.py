"""Prints the spec of a layer in bf16, with or without biases."""
import sys

bias = sys.argv[1] == "yes"
print(f"""attention: {'biased' if bias else 'plain'}
dtype: bf16
batch: '?'
queries: '?'
heads: 4
kv_heads: 2
head_dim: 32
projection: {{model_dim: 96, bias: {str(bias).lower()}}}
mechanism: {{kind: softmax}}""")
