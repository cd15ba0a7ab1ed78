"""A small causal model and its tokenizer, made on the spot, for all solver tests."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

EMBEDDED = (
    "{% if tools %}<|system|>tools{% for t in tools %} {{ t.function.name }}"
    "({{ t.function.parameters.properties | join(', ') }}){% endfor %}<|end|>{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA3 = (
    "<|begin_of_text|>{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
STRIPPING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{{ m.content.split('</think>')[-1].lstrip('\\n') if m.role == 'assistant' else m.content }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIALS = [
    *("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"),
    *("<|im_start|>", "<|im_end|>"),
    *("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
]
EOS = {EMBEDDED: "<|end|>", CHATML: "<|im_end|>", STRIPPING: "<|im_end|>", LLAMA3: "<|eot_id|>"}
TEXT = [
    "Walk the barge to the lock. You are at 3, the lock is at 7. left or right?",
    "design game\nskill spatial_reasoning\nlevel 3\ntopic canal lock gate",
    "the numbers are 4 8 15 16 23 42, give the next one in \\boxed{answer}",
    '<tool_call>{"name": "find_parcel", "arguments": {"name": "A. Ito"}}</tool_call>',
    "def step(self, action):\n    return 'no', 0.0, False, False, {}",
]


def make_tokenizer(template: str | None = EMBEDDED) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE of 400 symbols on a few lines and give it a chat template."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(TEXT, trainer)
    eos = EOS.get(template or EMBEDDED, "<|end|>")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token=eos,
        pad_token="<|pad|>",
        additional_special_tokens=[token for token in SPECIALS if token not in (eos, "<|pad|>")],
    )
    tokenizer.chat_template = template
    return tokenizer


def make_model(seed: int = 0) -> LlamaForCausalLM:
    """A random Llama of 50,000 parameters: grouped queries, tied embeddings, peaked logits."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=96,
        vocab_size=400,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        initializer_range=0.2,
        eos_token_id=None,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder in the transformers format with the embedded policy's template."""
    folder = tmp_path_factory.mktemp("model")
    make_model().save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tokenizer_with() -> Callable[[str | None], PreTrainedTokenizerFast]:
    """Make the test tokenizer with a given template."""
    return make_tokenizer


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """Chat templates by name."""
    return {"embedded": EMBEDDED, "chatml": CHATML, "llama3": LLAMA3, "stripping": STRIPPING}


@dataclass(frozen=True)
class Asked:
    """One request that arrived at a test's server."""

    method: str
    path: str
    body: Any
    headers: dict[str, str]


@dataclass
class Served:
    """A test's server: where it is and what it was asked."""

    url: str
    asked: list[Asked]


Reply = Callable[[Served, Asked], Any]


@contextmanager
def _serve(reply: Reply) -> Iterator[Served]:
    served = Served("", [])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Asked(
                self.command, self.path, json.loads(data) if data else None, dict(self.headers)
            )
            served.asked.append(asked)
            answer = reply(served, asked)
            if answer is None:
                self.close_connection = True
                return
            if "value" not in answer:
                answer = {"value": answer}
            time.sleep(answer.get("delay_s", 0))
            value = answer["value"]
            body = value if isinstance(value, bytes) else json.dumps(value).encode()
            try:
                self.send_response(answer.get("status", 200))
                for name, text in answer.get("headers", {}).items():
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # whoever asked has given up

        do_GET = do_POST = _answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def serve() -> Callable[[Reply], AbstractContextManager[Served]]:
    """An HTTP server on loopback whose answers a function decides.

    It gives a JSON value, a dictionary with ``value`` (JSON or bytes), ``status``, ``headers`` and
    ``delay_s``, or None to hang up without a word.
    """
    return _serve
