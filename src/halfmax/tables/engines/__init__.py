"""Where Spark and Dask meet the staircase."""
