"""Imported once by the fork server: everything that a job needs and that starts neither CUDA nor threads."""

import gc
import importlib
import io

import torch
from matplotlib.figure import Figure

from attnlab.store.provenance import provenance

MODULES = (
    "attnlab.data.datamodule",
    "attnlab.data.sources",
    "attnlab.data.vectors",
    "attnlab.launch.cell",
    "attnlab.launch.worker",
    "attnlab.logger",
    "attnlab.measuring",
    "attnlab.models",
    "attnlab.nn",
    "attnlab.protocols.adversarial.adversarial_attention",
    "attnlab.protocols.adversarial.model_adversary",
    "attnlab.protocols.adversarial.permutation",
    "attnlab.protocols.diagnostic.attention_leverage",
    "attnlab.protocols.diagnostic.attention_substitution",
    "attnlab.protocols.diagnostic.gradient_correlation",
    "attnlab.protocols.diagnostic.guided_mlp",
    "attnlab.protocols.diagnostic.predictions",
    "attnlab.protocols.diagnostic.seed_variance",
    "attnlab.protocols.diagnostic.uniform_baseline",
    "attnlab.protocols.erasure.input_erasure",
    "attnlab.protocols.erasure.leave_one_out",
    "attnlab.protocols.erasure.set_erasure",
    "attnlab.protocols.erasure.single_weight",
    "attnlab.run",
    "attnlab.training",
    "hydra.utils",
    "lightning.pytorch.loggers",
    "scipy.stats",
)
"""What is not here is imported by each job that needs it."""


def warm_up() -> None:
    """Import everything, and do once what is slow the first time: looking for fonts, generating kernels of an LSTM."""
    for module in MODULES:
        importlib.import_module(module)
    provenance()  # asks git about the code as it is imported, once for all jobs
    figure = Figure()
    figure.add_subplot().set_xlabel("τ")
    for form in ("pdf", "png"):
        figure.savefig(io.BytesIO(), format=form)
    torch.set_num_threads(1)  # the pass must not start any; a job sets its own number
    # With gradients, since the kernels differ; no backward pass, which would start threads for CUDA.
    torch.nn.LSTM(8, 8, bidirectional=True)(torch.zeros(2, 2, 8))
    # What is here now stays in every job: their collectors need not look at it, which would copy its memory too.
    gc.collect()
    gc.freeze()


warm_up()
