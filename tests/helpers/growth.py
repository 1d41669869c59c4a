"""How processor time grows with the size of an input, on a machine that others use as well."""

import gc
import time

LINEAR = 9
"""What four times the input may take, in times what the input took: 4 where time is in proportion to size, 16
where it grows with the square. In between is room for caches, and for a core that is shared.
"""


def growth(small, large, times=4):
    """The processor time of `large` over that of `small`: the least of several, if it is not linear."""
    small()
    least = [float("inf"), float("inf")]
    gc.collect()
    gc.disable()  # its own time grows with what other tests have left
    try:
        for _ in range(times):
            for index, call in enumerate((small, large)):
                started = time.process_time()
                call()
                least[index] = min(least[index], time.process_time() - started)
            if least[1] < LINEAR * least[0]:
                break
    finally:
        gc.enable()
    return least[1] / least[0]
