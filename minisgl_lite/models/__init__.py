"""From a checkpoint on disk to logits. Chapter 01."""
