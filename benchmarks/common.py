"""What the benchmarks share: naming the machine, a process of one's own."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

P, T = ParamSpec("P"), TypeVar("T")


def machine() -> str:
    """One line: processor, cores, software, date."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    if torch.cuda.is_available():
        name = f"{torch.cuda.get_device_name()}, {name}"
    today = datetime.date.today().isoformat()
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {torch.__version__}, {today}"


def alone(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """work(*args, **options) in a fresh process: nothing that ran before it can be felt."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *args, **options).result()
