"""What `scripts/bench_tokens` is made of."""
