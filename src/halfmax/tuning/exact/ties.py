"""Ties: among equally good thresholds the highest wins, so that the fewest rows are predicted.

All searches go from high thresholds to low ones and move on only if a value is strictly better.
What "equal" means depends on how the values are computed:

- One classifier, and labels tuned one by one (`one`, `choose`): values are ratios of
  whole numbers, computed in one division, so equal ratios are equal floats. They are compared
  exactly.
- Micro averages (`micro`): sums of two products are compared within `SUM_ROUNDING` of their size,
  and a move of one label must gain more than `MEAN_ROUNDING`.
- Means over labels or rows (`shared`, `samples`): means that were summed in different orders are
  compared within `MEAN_ROUNDING`.

The bootstrap and the leave-one-out estimates of `staircase` follow the first rule, too.
"""

import numpy as np

SUM_ROUNDING = 4 * np.finfo(np.float64).eps  # for a sum of two products, relative to its terms
MEAN_ROUNDING = 1e-13  # for a mean; less is due to the order of summation
