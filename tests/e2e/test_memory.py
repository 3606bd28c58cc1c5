"""Peak memory does not grow with the number of measured instances, beyond records and memory-mapped data."""

import json
import subprocess
import sys

import pytest

from tests.e2e.conftest import SMALL

SCRIPT = """
import json, resource, sys, tempfile
from pathlib import Path

from attnlab.config.composing import compose
from attnlab.instantiate import instantiate
from attnlab.measuring import run_protocol
from attnlab.models.trained import build_model

config, _ = compose(sys.argv[1:])
data = instantiate(config["data"], "data")
data.setup()
task = {"vocab_size": data.vocab_size, "num_classes": data.num_classes, "pos_weight": data.pos_weight}
model = build_model(config["model"], task).eval()
(name,) = config["protocols"]
protocol = instantiate(config["protocols"][name], name, model=model)
with tempfile.TemporaryDirectory() as folder:
    records = run_protocol(protocol, data, "test", config["trainer"], Path(folder))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
read = sum(file.stat().st_size for file in Path(config["data"]["cache_dir"]).rglob("test.arrow"))
print(json.dumps({"peak": peak, "records": records.nbytes, "read": read}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["predictions", "permutation", "adversarial_attention"])
def test_peak_memory_grows_by_the_records_alone(protocol, environment, tmp_path):
    def measured(instances):
        cache = tmp_path / str(instances)
        arguments = [*SMALL, f"data.source.test={instances}", f"protocol=[{protocol}]", f"paths.cache_dir={cache}"]
        command = [sys.executable, "-c", SCRIPT, *arguments]
        result = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(result.stdout.splitlines()[-1])

    # The first run of each size makes the tokenised data, which takes memory of its own.
    few, many = ((measured(n), measured(n))[1] for n in (20000, 80000))
    growth = many["peak"] - few["peak"]
    # Reading and sorting hold the records a few times at the end; the pages of the memory-mapped data count too, and
    # the names of its rows. Nothing else may grow: at the published size their hidden states would be about 1 GB.
    allowed = 5 * (many["records"] - few["records"]) + (many["read"] - few["read"]) + 200 * 60000
    assert growth <= allowed, (few, many)
