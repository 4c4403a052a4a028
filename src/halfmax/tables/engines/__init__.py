"""Tables of Spark and Dask: the engine protocol, its two adapters, and the work sent to them."""
