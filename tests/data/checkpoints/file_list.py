#!/usr/bin/env python3
"""Files of a llama3 checkpoint (rank, name, bytes), computed apart from the tool's own code from the published rules' formulas.

file_list.py 8b|70b|405b|1t > list.csv. Where a weight's values are shared, the division truncates at every step."""
import sys

VOCABULARY, WEIGHT_BYTES, STATE_BYTES = 128256, 2, 4
#        layers hidden  ffn    heads kv  TP PP DP ZeRO
MODELS = {
    "8b": (32, 4096, 14336, 32, 8, 1, 1, 8, 3),
    "70b": (80, 8192, 28672, 128, 8, 8, 1, 8, 3),
    "405b": (126, 16384, 53248, 128, 8, 8, 32, 2, 1),
    "1t": (128, 25872, 98304, 192, 32, 8, 64, 2, 1),
}


def files(layers, hidden, ffn, heads, kv_heads, tp, pp, dp, zero):
    kv = hidden // heads * kv_heads
    share = dp if zero == 3 else 1

    def layer_values(index):
        if index in (0, layers + 1):
            return hidden * VOCABULARY // tp // share
        if index == layers + 2:
            return hidden // share
        tensors = [hidden, hidden * (hidden + 2 * kv) // tp, hidden * hidden // tp, hidden, 2 * hidden * ffn // tp, hidden * ffn // tp]
        return sum(t // share for t in tensors)

    stages, at = [], 1
    for stage in range(pp):
        count = layers // pp + (1 if stage < layers % pp else 0)
        stages.append(list(range(at, at + count)))
        at += count
    stages[0].insert(0, 0)
    stages[-1] += [layers + 1, layers + 2]

    parameters = 2 * VOCABULARY * hidden + hidden + layers * (2 * hidden + hidden * (hidden + 2 * kv) + hidden * hidden + 3 * hidden * ffn)
    state = 3 * (parameters // (dp * tp * pp) + 5 * hidden) * STATE_BYTES
    for rank in range(tp * pp * dp):
        mp, copy = rank % (tp * pp), rank // (tp * pp)
        mine = stages[mp // tp]
        if zero == 3:
            yield rank, f"zero_pp_rank_{copy}_mp_rank_{mp}_model_states.pt", sum(map(layer_values, mine)) * WEIGHT_BYTES
        elif copy == 0:
            for layer in mine:
                yield rank, f"layer_{layer}-model_{mp}_model_states.pt", layer_values(layer) * WEIGHT_BYTES
        yield rank, f"zero_pp_rank_{copy}_mp_rank_{mp}_optim_states.pt", state


print("rank,name,bytes")
for row in files(*MODELS[sys.argv[1]]):
    print(*row, sep=",")
