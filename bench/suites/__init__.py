"""The public benchmarks that the paper reports, asked over any engine and marked in the sandbox."""
