"""Imported once by the fork server: everything that a job needs and that starts neither CUDA nor threads."""

import attnlab.data.datamodule
import attnlab.data.sources
import attnlab.data.vectors
import attnlab.launch.cell
import attnlab.launch.worker
import attnlab.logger
import attnlab.measuring
import attnlab.models
import attnlab.nn
import attnlab.protocols.adversarial.adversarial_attention
import attnlab.protocols.adversarial.permutation
import attnlab.protocols.diagnostic.attention_leverage
import attnlab.protocols.diagnostic.gradient_correlation
import attnlab.protocols.diagnostic.predictions
import attnlab.protocols.erasure.leave_one_out
import attnlab.protocols.erasure.set_erasure
import attnlab.protocols.erasure.single_weight
import attnlab.run
import attnlab.training  # noqa: F401
