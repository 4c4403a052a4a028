"""What every package uses: checks of inputs, errors, files, progress, threads and results."""
