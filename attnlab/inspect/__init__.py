"""What is on the disk: sweeps, the store, and what it no longer needs. Nothing here imports torch."""
