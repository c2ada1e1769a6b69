"""Creates, prepares and runs a layer on the stand-in GPU: a folder and the library's name."""
import sys

import numpy as np

from library import opened
from memory import Cuda

folder, name = sys.argv[1:]
memory = Cuda()
with opened(folder, name, "bf16", memory=memory) as library:
    library.prepare({parameter: np.zeros([int(size) for size in member.sizes], np.float32)
                     for parameter, member in library.parameters.items()})
    x = memory.put(np.zeros((2, 70, 96), np.float32), "bf16")
    result, y = library.output(x=x)
    run, workspace = library.runner(x=x, **{result: y})
    run()
    print(f"ran with {workspace} bytes of workspace", flush=True)
