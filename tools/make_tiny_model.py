"""Make and check the bundled checkpoint: `train`, `sample`, `oracle` (record Hugging Face's answers) and `gates`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "minisgl_lite" / "assets" / "tiny-qwen3"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["train", "sample", "oracle", "gates"])
    parser.add_argument("--model", type=Path, default=ASSETS, help="the checkpoint's folder (default: the bundled one)")
    parser.add_argument("--steps", type=int, default=4500)
    parser.add_argument("--batch", type=int, default=32, help="rows of 640 tokens a step; on a CPU take 4 and 600 steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.action == "train":
        from tiny.train import train

        train(options.model, options.steps, options.seed, options.batch)
        return 0
    if options.action == "sample":
        from tiny.sample import show

        show(options.model)
        return 0
    if options.action == "oracle":
        from tiny.record import record

        record(options.model)
        return 0
    from tiny.gates import check

    return check(options.model)


if __name__ == "__main__":
    raise SystemExit(main())
