"""Sweeps on SLURM: job arrays, submitted by submitit."""
