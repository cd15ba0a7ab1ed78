"""An environment as files of another ecosystem. Pure: what is given is text, what comes out is text.

Every export is a folder that runs by itself: the program to the byte, ``envkit.py`` where it needs
it, ``episode.py`` that plays it, and a thin layer in the ecosystem's convention.
"""

import ast
import html
import json
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from envgen.sourcefile import write
from sandbox import JailInfo
from spadekit.errors import BadInput

Files = dict[str, str]
REFERENCE = re.compile(r"\bToolUseBaseEnv\b")
MARKS = re.compile(r"([\\`*_\[\]!|~#$])")
MOST_SLUG = 60
TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}
TAKEN = {"reset", "get_reward", "close", "render", "reply", *TYPES.values()}
"""What no tool's method may be called: the annotations of later methods would mean it."""


@dataclass(frozen=True)
class Exportable:
    """An environment with what its jail says of it."""

    source: str
    hint: str
    skills: tuple[str, ...]
    difficulty: int
    info: JailInfo

    @property
    def slug(self) -> str:
        """The name of the package: the class's, in small letters, ending in ``_env``."""
        plain = re.sub(r"[^A-Za-z0-9]+", "_", self.info.class_name).removesuffix("Env")
        words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", plain)
        name = "_".join(word.lower() for word in words)[:MOST_SLUG].strip("_") or "spade"
        return f"n{name}_env" if name[0].isdigit() else f"{name}_env"

    @property
    def name(self) -> str:
        """The slug in camel case, without ``Env``."""
        return "".join(part.capitalize() for part in self.slug.removesuffix("_env").split("_"))


def render(env: Exportable, kind: str) -> Files:
    """Return the files of an export, by path. Raises ``BadInput``."""
    if kind not in KINDS:
        raise BadInput(f"--to {kind}: use one of {', '.join(KINDS)}")
    made = KINDS[kind](env)
    for path, text in made.items():
        if path.endswith(".py") and text != env.source:
            _check(path, text)
    return made


def _check(path: str, text: str) -> None:
    """Refuse what would not be Python; it is parsed, never run."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadInput(f"{path} would not be valid Python ({error}); use --to source") from None


def source(env: Exportable) -> Files:
    """One plain file that ``import`` takes back as the same environment."""
    return {f"{env.slug}.py": write(env.source, env.hint, env.skills, env.difficulty)}


def gymnasium(env: Exportable) -> Files:
    """A package that registers ``spadework/NAME-v0``."""
    use = f"""    import gymnasium
    import {env.slug}

    env = gymnasium.make("spadework/{env.name}-v0", render_mode="ansi")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step("\\\\boxed{{...}}")"""
    return _package(env, "gymnasium", ["gymnasium>=1.0"], use)


def verifiers(env: Exportable) -> Files:
    """A package with a taskset and an environment for verifiers 0.4 (its ``v1`` interface)."""
    use = f"""    pip install -e .
    eval {env.slug} -n 10 --push False --env.player.runtime.type subprocess

Without those two options the command uploads results and rents a machine. What a model has to know
is in each task's system prompt; calls are written as text."""
    return _package(env, "verifiers", ["verifiers>=0.4"], use)


def trl(env: Exportable) -> Files:
    """A package with a class for ``GRPOTrainer(environment_factory=...)``."""
    use = f"""    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer
    from {env.slug} import {env.name}Env, dataset_rows

    GRPOTrainer(
        model="...",
        args=GRPOConfig(max_completion_length=4096, max_tool_calling_iterations=25),
        train_dataset=Dataset.from_list(dataset_rows(100)),
        environment_factory={env.name}Env,
        reward_funcs=lambda environments, **_: [one.get_reward() for one in environments],
    ).train()"""
    found = _package(env, "trl", ["trl>=1.16", "datasets"], use)
    path = f"{env.slug}/__init__.py"
    return found | {path: found[path].replace("ENV_METHODS\n", _methods(env.info))}


def openenv(env: Exportable) -> Files:
    """A folder with server, client and container file for OpenEnv."""
    use = f"""    pip install openenv-core uvicorn
    uvicorn server.app:app --port 8000        # in this folder
    docker build -t {env.slug} . && docker run -p 8000:8000 {env.slug}

and from elsewhere, with this folder installed (`pip install -e .`):

    from {env.slug} import {env.name}Action, {env.name}Client

    with {env.name}Client(base_url="http://localhost:8000").sync() as client:
        result = client.reset(seed=7)
        result = client.step({env.name}Action(text="\\\\boxed{{...}}"))"""
    names = ("Action", "Observation")
    models = ", ".join(f"{env.name}{name}" for name in names)
    exports = ", ".join(f'"{env.name}{name}"' for name in (*names, "Client"))
    found = {
        "__init__.py": f'"""{env.name} for OpenEnv."""\n\n'
        f"from .client import {env.name}Client\nfrom .models import {models}\n\n"
        f"__all__ = [{exports}]\n",
        "server/__init__.py": "",
        "pyproject.toml": _pyproject(env, ["openenv-core>=0.3", "uvicorn"], flat=True),
        "README.md": _readme(env, "OpenEnv", use),
        **_program(env, ""),
    }
    for path, template in OPENENV.items():
        found[path] = _filled(env, template)
    return found


OPENENV = {
    "models.py": "openenv_models",
    "client.py": "openenv_client",
    "server/environment.py": "openenv_environment",
    "server/app.py": "openenv_app",
    "openenv.yaml": "openenv_yaml",
    "Dockerfile": "openenv_docker",
}
KINDS: Mapping[str, Callable[[Exportable], Files]] = {
    "gymnasium": gymnasium,
    "verifiers": verifiers,
    "openenv": openenv,
    "trl": trl,
    "source": source,
}
"""What ``--to`` takes."""


def _package(env: Exportable, template: str, needs: list[str], use: str) -> Files:
    return {
        "README.md": _readme(env, template, use),
        "pyproject.toml": _pyproject(env, needs, flat=False),
        f"{env.slug}/__init__.py": _filled(env, template),
        **_program(env, f"{env.slug}/"),
    }


def _program(env: Exportable, folder: str) -> Files:
    """Return the program and what plays it."""
    if REFERENCE.search(env.source) and env.info.setting == "tool_use":
        raise BadInput(
            "this environment is written for another project's tool base class, which is not part "
            "of an export; --to source writes it as it is"
        )
    found = {f"{folder}environment.py": env.source, f"{folder}episode.py": _filled(env, "episode")}
    if env.info.setting == "tool_use":
        kit = files("sandbox") / "envkit.py"
        found[f"{folder}envkit.py"] = kit.read_text(encoding="utf-8")
    return found


def _filled(env: Exportable, template: str) -> str:
    text = (files("envgen.export") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    values = {
        "ENV_SLUG": env.slug,
        "ENV_NAME": env.name,
        "ENV_TITLE": repr(_line(env.info.title)),
        "ENV_SETTING": repr(env.info.setting),
        "ENV_TOOLS": repr(list(env.info.tools)),
        "ENV_TURNS": repr(min(env.info.max_turns or 25, 100)),
        "ENV_CLASS": repr(env.info.class_name),
    }
    return re.sub(
        r"ENV_(?:SLUG|NAME|TITLE|SETTING|TOOLS|TURNS|CLASS)", lambda m: values[m[0]], text
    )


def _pyproject(env: Exportable, needs: list[str], *, flat: bool) -> str:
    lines = [
        "[build-system]",
        'requires = ["setuptools>=77"]',
        'build-backend = "setuptools.build_meta"',
        "",
        "[project]",
        f'name = "{env.slug.replace("_", "-")}"',
        'version = "0.1.0"',
        # Without escapes for what is beyond ASCII: JSON's are in halves, and TOML has no such.
        f"description = {json.dumps(_line(env.info.title), ensure_ascii=False)}",
        'readme = "README.md"',
        'requires-python = ">=3.11"',
        f"dependencies = {json.dumps(needs)}",
        "",
        "[tool.setuptools]",
    ]
    if flat:
        names = [env.slug, f"{env.slug}.server"]
        places = f'{{ "{env.slug}" = ".", "{env.slug}.server" = "server" }}'
        lines += [f"packages = {json.dumps(names)}", f"package-dir = {places}"]
    else:
        lines.append(f'packages = ["{env.slug}"]')
    return "\n".join(lines) + "\n"


def _readme(env: Exportable, ecosystem: str, use: str) -> str:
    told = f"\n## Hint\n\nFor people; no player is shown it: {_escaped(env.hint)}\n"
    hint = told if env.hint else ""
    return f"""# {_escaped(env.info.title)}

An environment exported by Spadework for {ecosystem}: setting `{env.info.setting}`, \
skills {", ".join(map(_escaped, env.skills)) or "unknown"}.

**Safety.** `environment.py` was written by a language model, and running this package runs it in
your process, with all your rights. Read it first, or run it in a container or virtual machine that
holds nothing of value. Spadework itself runs it only inside a jail.

## Use

{use}
{hint}"""


def _methods(info: JailInfo) -> str:
    """Return the public methods of a TRL environment: one for each tool, or one for a game."""
    if info.setting == "game":
        note, text = "Play your next action.", [("text", "str", "the action", True)]
        return _method("act", note, text, "self._play(text)")
    taken = set(TAKEN)
    made = [_tool(tool["function"], taken) for tool in info.tools]
    note = "End your turn with a text for the user instead of a call."
    body = 'self._play(json.dumps({"content": text, "tool_calls": []}))'
    return "\n".join([*made, _method("reply", note, [("text", "str", "the text", True)], body)])


def _tool(function: Mapping[str, Any], taken: set[str]) -> str:
    """Return a tool's method; its name is added to those that are ``taken``."""
    required = function["parameters"]["required"]
    known = {"self"}
    arguments, given = [], []
    for name, schema in function["parameters"]["properties"].items():
        safe = _safe(name, known)
        arguments.append((safe, _annotation(schema), _described(name, schema), name in required))
        given.append(f"{name!r}: {safe}")
    arguments.sort(key=lambda one: not one[3])
    body = f"self._call({function['name']!r}, {{{', '.join(given)}}})"
    return _method(_safe(function["name"], taken), function["description"], arguments, body)


def _safe(name: str, taken: set[str]) -> str:
    """Return a public name of Python's that is not ``taken``, and add it there.

    A leading ``_`` falls away: TRL takes public methods only, and a class renames what begins with two.
    Raises ``BadInput`` for what is no name at all.
    """
    safe = name.replace("-", "_").lstrip("_") or "tool"
    if not safe.isidentifier():
        safe = f"n{safe}"
    if not safe.isidentifier():
        raise BadInput(f"{name!r} is no name of a tool or parameter; use --to source")
    while keyword.iskeyword(safe) or safe in taken:
        safe = f"{safe}_"
    taken.add(safe)
    return safe


def _method(name: str, summary: str, arguments: list[tuple[str, str, str, bool]], body: str) -> str:
    """Return a method's source; the docstring is in the form that chat templates are made from."""
    signature = "".join(
        f", {key}: {kind}" if needed else f", {key}: {kind} | None = None"
        for key, kind, _, needed in arguments
    )
    told = [f"            {key}: {_quoted(text)}" for key, _, text, _ in arguments]
    return "\n".join(
        [
            f"    def {name}(self{signature}) -> str:",
            f'        """{_quoted(summary)}',
            *(["", "        Args:", *told] if told else []),
            '        """',
            f"        return {body}",
            "",
        ]
    )


def _annotation(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        parts = [_annotation(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " | ".join(dict.fromkeys(parts)) or "str"
    if "enum" in schema:
        kinds = dict.fromkeys(type(value).__name__ for value in schema["enum"])
        return (
            " | ".join(kind for kind in kinds if kind in ("str", "int", "float", "bool")) or "str"
        )
    kind = TYPES.get(schema.get("type", ""), "str")
    if kind == "list" and schema.get("items"):
        return f"list[{_annotation(schema['items'])}]"
    return kind


def _described(name: str, schema: Mapping[str, Any]) -> str:
    text = schema.get("description") or name.replace("_", " ")
    if "enum" in schema:
        return f"{text} (choices: {json.dumps(schema['enum'])})"
    return str(text)


def _quoted(text: str) -> str:
    """Return a text that stands in a docstring on one line."""
    return _line(text).replace("\\", "\\\\").replace('"""', "'''").rstrip('"')


def _escaped(text: str) -> str:
    """Return a text on one line that Markdown and HTML show as it is."""
    return MARKS.sub(r"\\\1", html.escape(_line(text), quote=False))


def _line(text: str) -> str:
    """Return a text on one line, control characters left out."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
