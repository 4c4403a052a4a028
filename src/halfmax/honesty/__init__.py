"""What new data will show: assess, diagnose, the winner's curse."""
