"""The mathematics of the protocols: tensors in, tensors out.

Shapes use B instances, any number of counterfactual axes K, T positions, C outputs.
Masks are true where attention may go. Nothing here knows Lightning or a configuration.
"""
