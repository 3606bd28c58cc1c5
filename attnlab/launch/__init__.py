"""Sweeps: many jobs, each in a process of its own. Nothing here imports torch in the process that schedules."""
