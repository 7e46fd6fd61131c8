"""Template helpers of the console."""
