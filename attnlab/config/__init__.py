"""Configuration files, their help, and checks on what was composed. Nothing here imports torch."""
