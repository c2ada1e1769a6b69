// Two attentions that share the features of their queries and keys.
func.func @two(%q: tensor<1x2x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x24xf32> {attn.name = "v"}, %w: tensor<1x2x200x24xf32> {attn.name = "w"}
             ) -> (tensor<1x2x200x24xf32> {attn.name = "o"}, tensor<1x2x200x24xf32> {attn.name = "p"}) attributes {attn.gradients = ["q", "k", "v", "w"]} {
  %a = attn.map %q {feature_map = #attn.feature_map<cosformer, max_position = 900>} : tensor<1x2x200x16xf32> -> tensor<1x2x200x32xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<cosformer, max_position = 900>, keys} : tensor<1x2x200x16xf32> -> tensor<1x2x200x32xf32>
  %S, %z = attn.state %b, %v : tensor<1x2x200x32xf32>, tensor<1x2x200x24xf32> -> tensor<1x2x32x24xf32>, tensor<1x2x32xf32>
  %T, %y = attn.state %b, %w : tensor<1x2x200x32xf32>, tensor<1x2x200x24xf32> -> tensor<1x2x32x24xf32>, tensor<1x2x32xf32>
  %num, %den = attn.readout %a, %S, %z : tensor<1x2x200x32xf32>, tensor<1x2x32x24xf32>, tensor<1x2x32xf32> -> tensor<1x2x200x24xf32>, tensor<1x2x200xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 1.0e-06>} : tensor<1x2x200x24xf32>, tensor<1x2x200xf32> -> tensor<1x2x200x24xf32>
  %num2, %den2 = attn.readout %a, %T, %y : tensor<1x2x200x32xf32>, tensor<1x2x32x24xf32>, tensor<1x2x32xf32> -> tensor<1x2x200x24xf32>, tensor<1x2x200xf32>
  %o2 = attn.normalize %num2, %den2 {guard = #attn.denominator<bias = 0.0, floor = 1.0e-06>} : tensor<1x2x200x24xf32>, tensor<1x2x200xf32> -> tensor<1x2x200x24xf32>
  return %o, %o2 : tensor<1x2x200x24xf32>, tensor<1x2x200x24xf32>
}
