"""What new data will show: `assess`, `diagnose` and the winner's curse."""
