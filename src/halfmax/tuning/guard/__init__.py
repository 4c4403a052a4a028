"""Guards: thresholds that hold on new data, by pooling information across labels."""
