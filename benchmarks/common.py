"""What the benchmarks share: naming the machine."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

import torch


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
