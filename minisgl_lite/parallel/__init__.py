"""One model on several devices: what is split, what is reduced, and ranks that agree. Chapter 13."""
