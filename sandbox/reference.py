"""The reference project's contract of tool-use environments, played by ours: one file in the jail.

That project's programs subclass its ``ToolUseBaseEnv``, usually without importing it. They set
``_tools`` (descriptions and JSON schemas), ``_state`` and ``_expected_answer`` in ``reset``, offer
``tool_*`` methods and, where instructions arrive one after another, ``_user_messages`` with
``_message_criteria``, functions of the state. They run here unchanged: the base class below has the
same methods, ``provide`` makes its name and its modules resolve, and ``Desk`` plays one instance by
the contract of ``envkit``: the same actions, messages and schemas.

What differs from the reference, on purpose:

- an answer wins only after a tool has run, and only when every instruction is carried out in
  order; the first that comes too early is answered, a second one in a row loses;
- an exception of ``reset`` or a reward that is not finite is a fault, never an observation or a win;
- an instruction whose criterion holds before anything was called is a fault of the environment;
- arguments are checked against the schema and the signature before a tool runs;
- a reply that makes calls does not answer as well, and a time-out does not tell the solution.

``solution()`` is prose there. Where its calls can be read and win on a few seeds, it is a solution;
else the environment counts as one without.
"""

import random
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sandbox import envkit
    from sandbox.envkit import Message, Schema
else:
    import envkit

    Any = Message = Schema = object

MAX_TURNS = 25
SEEDS = (0, 1, 2)
"""Schemas that hold for these seeds are shown for all; a solution that wins on them is believed."""
PATIENCE_S = 0.5
"""After this time no further seed is tried: the source has to load within its limit."""
PACKAGE = "spade.core.envs"
MODULES = ("tool_use_base_env", PACKAGE + ".tool_use_base_env", "spare.core.envs.tool_use_base_env")
# What that project's loader puts into every program's namespace, standard library only.
MODULE_NAMES = (
    "collections copy functools heapq itertools json math operator random re statistics string"
)
MEMBERS = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "copy": "deepcopy",
    "functools": "lru_cache reduce",
    "heapq": "heappop heappush",
    "itertools": "accumulate chain combinations permutations product",
    "typing": "Any Callable Dict FrozenSet Iterable List Mapping Optional Sequence Set Tuple Union",
}
TYPES = {
    **dict.fromkeys(("string", "str", "text"), "string"),
    **dict.fromkeys(("integer", "int"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple"), "array"),
    **dict.fromkeys(("object", "dict"), "object"),
    **dict.fromkeys(("null", "none"), "null"),
}
SCALARS = (str, int, float, bool, type(None))
AST_ONLY = 0x400
"""``ast.PyCF_ONLY_AST``, without the module."""

GIVEN: dict[str, Any] = {}
"""What ``provide`` adds to the namespace of the program."""


class ToolUseBaseEnv:
    """What the reference project's programs subclass; its methods may be overridden one by one."""

    max_turns: int = MAX_TURNS
    turn_count: int = 0
    _tools: Any = None
    _state: Any = None
    _call_history: Any = None
    _expected_answer: Any = None
    _current_msg: Any = None

    def __init__(self, max_turns: int = MAX_TURNS, **_: Any) -> None:
        self.max_turns = max_turns
        self.turn_count = 0
        for name, value in (("_tools", {}), ("_state", {}), ("_call_history", [])):
            if getattr(self, name) is None:
                setattr(self, name, value)
        self.reset()

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Set up the instance of ``seed`` and return its first text; every subclass has its own."""
        raise NotImplementedError("write reset(self, seed=None)")

    def solution(self) -> Any:
        """Tell how to win; optional."""
        raise NotImplementedError("there is no solution()")

    def get_tools(self) -> list[Schema]:
        """Return the schemas of ``_tools`` in the OpenAI form, as they are written."""
        if not isinstance(self._tools, dict):
            return list(self._tools or ())
        told = {
            name: facts if isinstance(facts, dict) else {"description": facts}
            for name, facts in self._tools.items()
        }
        return [
            {"type": "function", "function": {**facts, "name": name}}
            for name, facts in told.items()
        ]

    def execute_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run a tool; return its "output" and a "returncode", 1 for an error text."""
        method = getattr(self, f"tool_{name}", None)
        if method is None:
            return {"output": f"error: there is no tool `{name}`", "returncode": 1}
        try:
            output = envkit.told(method(**arguments))
        except (MemoryError, RecursionError):
            raise
        except Exception as error:
            return {"output": f"error: {type(error).__name__}: {error}", "returncode": 1}
        if self._call_history is None:
            self._call_history = []
        entry = {"name": name, "arguments": arguments, "result": output}
        self._call_history.append(entry)
        return {"output": output, "returncode": 0}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one reply in text form; for subclasses that wrap it. ``Desk`` does without."""
        self.turn_count += 1
        late = self.turn_count >= self.max_turns
        answer = answer_in(action)
        if answer is not None:
            if self._check_answer(answer):
                return "Correct.", 1.0, True, False, {}
            return self._incorrect_answer_feedback(), 0.0, False, late, {}
        calls, _, problem = read_reply(action)
        outputs = [self.execute_tool(c["name"], c.get("arguments") or {})["output"] for c in calls]
        text = "\n".join(outputs) or problem or "Use the tools, then reply <answer>...</answer>."
        return text, 0.0, False, late, {}

    def _check_answer(self, answer: str) -> bool:
        """Compare without regard to case, numbers within 0.01; nothing expected, nothing right."""
        if self._expected_answer is None:
            return bool(getattr(self, "_message_criteria", None))
        given, expected = str(answer).strip(), str(self._expected_answer).strip()
        if given.lower() == expected.lower():
            return bool(given)
        try:
            numbers = [float(text.replace("$", "").replace(",", "")) for text in (given, expected)]
        except ValueError:
            return False
        return abs(numbers[0] - numbers[1]) < 0.01

    def _incorrect_answer_feedback(self) -> str:
        """Say what a refused answer is told."""
        asked, place = getattr(self, "_user_messages", None), self._current_msg
        if isinstance(asked, (list, tuple)) and type(place) is int and 0 <= place < len(asked):
            return f"That is not done yet: {asked[place]}"
        return "That is not the answer. Use the tools."

    def _obs_suffix(self) -> str:
        """Return nothing; older programs call it."""
        return ""

    def close(self) -> None:
        """Do nothing; the process ends."""


class Desk:
    """One instance of such a program, played by our contract."""

    def __init__(self, env: ToolUseBaseEnv) -> None:
        self.env = env
        self.wraps_step = type(env).step is not ToolUseBaseEnv.step
        self.tools: dict[str, Schema] = {}
        self.open: set[str] = set()
        self.asked: list[str] = []
        self.goals: list[Any] = []
        self.done = self.turns = self.words = 0
        self.called = self.over = False

    def reset(self, seed: int | None = None) -> tuple[list[Message], dict[str, Any]]:
        """Reset the program; returns its first text, and the first instruction if not in there."""
        result: Any = self.env.reset(seed=seed)
        text = result[0] if isinstance(result, tuple) and len(result) == 2 else result
        if not isinstance(text, str):
            raise TypeError("reset() must return (text, info)")
        self._read_tools()
        self._read_instructions()
        told = [text] if text.strip() else []
        if self.asked and self.asked[0] not in text:
            told.append(self.asked[0])
        if not told:
            raise ValueError("reset() gives no text and there is no instruction")
        if not self.asked and "<answer>" not in text:
            told[0] += "\n\nWhen you know the result, reply with <answer>result</answer>."
        return [_user(one) for one in told], {}

    def step(self, action: object) -> Any:
        """Play one action, JSON as in ``envkit`` or a text with <tool_call> and <answer>."""
        if self.over:
            return [], 0.0, True, False, {}
        self.turns += 1
        messages: list[Message] = []
        calls, text, problem = read_reply(action)
        result: Any = (0.0, False, False)
        if problem:
            messages.append({"role": "tool", "content": problem})
        elif not calls:
            result = self._reply(text, messages)
        for call in calls:
            self.words = 0
            result = self._call(call, messages)
            if result is None or result[1] is not False or result[2] is not False:
                break
        if result is None:
            return None
        for message in messages:
            message["content"] = envkit.clean(message["content"])
        reward, terminated, truncated = result
        self.over = terminated is True
        cap = self.env.max_turns
        late = type(cap) is int and self.turns >= cap
        return messages, reward, terminated, truncated or (late and not self.over), {}

    def solution(self) -> list[Any]:
        """Return ``solution()`` as actions; an empty list where it cannot be read as calls."""
        told = self.env.solution()
        if isinstance(told, (list, tuple)) and any(isinstance(one, dict) for one in told):
            actions = [one for one in told if isinstance(one, (dict, list, str))]
        else:
            text = told if isinstance(told, str) else "\n".join(str(one) for one in told)
            actions = plan_in(text, self.tools)
        if actions and not isinstance(actions[-1], str):
            expected = self.env._expected_answer
            actions.append(f"<answer>{'done' if expected is None else expected}</answer>")
        return actions

    # ---- within

    def _read_tools(self) -> None:
        methods = envkit.methods_of(type(self.env))
        self.tools, self.open = {}, set()
        for schema in self.env.get_tools():
            facts = schema.get("function", schema)
            name = facts.get("name")
            if isinstance(name, str) and callable(getattr(self.env, "tool_" + name, None)):
                self._add_tool(name, facts, methods.get(name))
        if not self.tools:
            for name, method in methods.items():
                summary = (method.__doc__ or "").strip().partition("\n")[0]
                self._add_tool(name, {"description": summary}, method)

    def _add_tool(self, name: str, facts: Schema, method: Any) -> None:
        """Take types and notes from what the program declares, the names from its method."""
        declared, required = _parameters(facts.get("parameters"))
        properties = declared
        try:
            signature = envkit.parameters_of(name, method)
        except (TypeError, AttributeError, NameError):
            self.open.add(name)  # it takes whatever it is given
        else:
            properties = {}
            for key, hint, optional, _ in signature:
                properties[key] = declared.get(key) or _hinted(hint)
                if not optional and key not in required:
                    required.append(key)
        self.tools[name] = {
            "type": "function",
            "function": {
                "name": name,
                "description": str(facts.get("description") or name.replace("_", " ")),
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": [key for key in required if key in properties],
                    "additionalProperties": name in self.open,
                },
            },
        }

    def _read_instructions(self) -> None:
        goals = getattr(self.env, "_message_criteria", None) or []
        asked = getattr(self.env, "_user_messages", None) or []
        place = self.env._current_msg
        if not goals and type(place) is not int:
            asked = []
        if goals and len(goals) != len(asked):
            raise ValueError(f"{len(asked)} _user_messages but {len(goals)} _message_criteria")
        self.asked, self.goals = [str(one) for one in asked], list(goals)
        if self.asked and type(place) is not int:
            self.env._current_msg = 0
        self.done = place if type(place) is int else 0
        for number, goal in enumerate(self.goals, 1):
            if self._holds(goal):
                raise ValueError(f"instruction {number} is done before anything was called")

    def _holds(self, goal: Any) -> bool:
        try:
            return bool(goal(self.env._state))
        except (MemoryError, RecursionError):
            raise
        except Exception:
            return False  # it looks for what is not there yet

    def _finished(self) -> bool:
        return self.called and self.done >= len(self.asked)

    def _call(self, call: Schema, messages: list[Message]) -> Any:
        """Make one call; returns (reward, terminated, truncated), None for no such triple."""
        name, given = call["name"], call.get("arguments", {})
        outcome: Any = (0.0, False, False)
        if name not in self.tools:
            output = envkit.unknown_tool(name, self.tools)
        else:
            parameters = self.tools[name]["function"]["parameters"]
            if name in self.open and isinstance(given, dict):
                others: Schema = {key: {} for key in given if key not in parameters["properties"]}
                parameters = {**parameters, "properties": {**parameters["properties"], **others}}
            arguments, problem = envkit.check_arguments(name, given, parameters)
            if problem:
                output = "error: " + problem
            elif self.wraps_step:
                self.called = True
                block = envkit.dumps({"name": name, "arguments": arguments})
                output, outcome = self._through(f"<tool_call>{block}</tool_call>")
            else:
                answer: Any = self.env.execute_tool(name, arguments)
                said = answer if isinstance(answer, dict) else {"output": answer}
                output = envkit.told(said.get("output"))
                self.called = self.called or not said.get("returncode")
        messages.append({"role": "tool", "content": output})
        self._advance(messages, output)
        return self._judged(outcome)

    def _advance(self, messages: list[Message], output: str) -> None:
        """Follow the program's own place among its instructions, or keep it where it does not."""
        before, place = self.done, self.env._current_msg
        by_itself = type(place) is int and place != before
        if by_itself:
            self.done = place
        while not by_itself and self.done < len(self.goals) and self._holds(self.goals[self.done]):
            self.done += 1
            self.env._current_msg = self.done
        if self.done != before and 0 <= self.done < len(self.asked):
            text = self.asked[self.done]
            if not (by_itself and text in output):
                messages.append(_user(text))

    def _reply(self, text: str, messages: list[Message]) -> Any:
        """The assistant ends its turn, with an answer or without."""
        answer = answer_in(text)
        if answer is None and self.asked and self._finished():
            answer, text = "done", "<answer>done</answer>"
        if self.wraps_step:
            output, outcome = self._through(text)
            messages.append(_user(output))
            return self._judged(outcome)
        if answer is not None and self._finished() and self.env._check_answer(answer):
            return 1.0, True, False
        self.words += 1
        if self.words > 1:
            messages.append(_user("That was not done. The task has failed."))
            return 0.0, True, False
        if answer is not None:
            told = str(self.env._incorrect_answer_feedback())
        elif self.done < len(self.asked):
            told = "That is not done yet: " + self.asked[self.done]
        else:
            told = "Use the tools, then reply with <answer>result</answer>."
        messages.append(_user(told))
        return 0.0, False, False

    def _through(self, text: str) -> tuple[str, Any]:
        """Play a text through the program's own ``step``."""
        result: Any = self.env.step(text)
        if not isinstance(result, tuple) or len(result) != 5:
            return "", None
        return str(result[0]), result[1:4]

    def _judged(self, outcome: Any) -> Any:
        """Take the reward from a win that no tool has earned; what is odd is left for the guest."""
        if outcome is not None and outcome[1] is True and not self._finished():
            reward, terminated, truncated = outcome
            if isinstance(reward, (int, float)) and reward > 0:
                return 0.0, terminated, truncated
        return outcome


def describe(kind: Any) -> dict[str, Any]:
    """Return the "tools" of a program's class, and whether it "has_solution" that can be played.

    Schemas are made in ``reset``: shown is what those of a few seeds have in common. A ``reset``
    that fails is passed over here; every episode meets and reports it.
    """
    tools: dict[str, Schema] = {}
    wins = []
    began = time.monotonic()
    for seed in SEEDS:
        try:
            desk = _started(kind, seed)
        except Exception:
            continue
        tools = {**desk.tools, **{n: _common(t, desk.tools.get(n, t)) for n, t in tools.items()}}
        wins.append(kind.solution is not ToolUseBaseEnv.solution and _wins(kind, desk, seed))
        if time.monotonic() - began > PATIENCE_S:
            break
    return {"tools": list(tools.values()), "has_solution": bool(wins) and all(wins)}


def _started(kind: Any, seed: int) -> Desk:
    random.seed(seed)
    desk = Desk(kind())
    desk.reset(seed)
    return desk


def _wins(kind: Any, told: Desk, seed: int) -> bool:
    """Whether ``solution()`` of one instance can be read and wins, played on a fresh one."""
    try:
        actions = told.solution()
        desk = _started(kind, seed)
        for action in actions:
            calls = [action] if isinstance(action, dict) else action
            played = {"tool_calls": calls} if isinstance(calls, list) else {"content": action}
            result = desk.step(played)
            if result[2] or result[3]:
                return result[2] is True and result[1] > 0.5
    except Exception:
        return False
    return False


def provide(source: str, code: Any) -> None:
    """Make the base class resolve by its modules and its bare name; fills ``GIVEN``.

    Also whatever else of the loader's names the program uses, and any module that it imports
    ``ToolUseBaseEnv`` from.
    """
    here = sys.modules[__name__]
    names = set(MODULES)
    for line in source.splitlines():
        words = line.split()
        if words[:1] == ["from"] and words[2:3] == ["import"] and "ToolUseBaseEnv" in line:
            names.add(words[1])
    for name in names - {name for name in names if name.startswith(".")}:
        parts = name.split(".")
        for size in range(1, len(parts)):
            package = sys.modules.setdefault(".".join(parts[:size]), type(sys)(parts[size - 1]))
            package.__dict__.setdefault("__path__", [])
            inner = ".".join(parts[: size + 1])
            last = size + 1 == len(parts)
            child = here if last else sys.modules.setdefault(inner, type(sys)(parts[size]))
            setattr(package, parts[size], child)
        sys.modules.setdefault(name, here)
    for package_name in (PACKAGE, "spare.core.envs"):
        setattr(sys.modules[package_name], "ToolUseBaseEnv", ToolUseBaseEnv)  # noqa: B010
    GIVEN.update(ToolUseBaseEnv=ToolUseBaseEnv, __package__=PACKAGE)
    used = _names(code)
    for name in MODULE_NAMES.split():
        if name in used:
            GIVEN[name] = __import__(name)
    for module, members in MEMBERS.items():
        for name in used.intersection(members.split()):
            GIVEN[name] = getattr(__import__(module), name)


def _names(code: Any) -> set[str]:
    inner = [_names(const) for const in code.co_consts if hasattr(const, "co_names")]
    return set(code.co_names).union(*inner)


# ---- replies and solutions


def read_reply(action: object) -> tuple[list[Schema], str, str]:
    """Return (calls, text, problem) of an action in our form or in the reference's text form."""
    if isinstance(action, str) and not action.lstrip().startswith("{"):
        calls: list[Schema] = []
        text, problem = action, ""
    else:
        calls, text, problem = envkit.read_action(action)
    if calls or problem or "<tool_call>" not in text:
        return calls, text, problem
    found = []
    for block in text.split("<tool_call>")[1:]:
        try:
            call = envkit.loads(block.partition("</tool_call>")[0])
        except ValueError:
            call = None
        if not isinstance(call, dict):
            form = '<tool_call>{"name": ..., "arguments": {...}}</tool_call>'
            return [], "", f"error: what stands in <tool_call> is not a JSON object; write {form}"
        found.append(call)
    return envkit.read_action({"content": text, "tool_calls": found})


def answer_in(text: str) -> str | None:
    """Return what stands in the last <answer>...</answer>, None without one."""
    head, tag, _ = text.rpartition("</answer>")
    _, opened, answer = head.rpartition("<answer>")
    return answer.strip() if tag and opened else None


def plan_in(text: str, tools: dict[str, Schema]) -> list[Any]:
    """Read calls written as prose, ``1. cd(path="/a") 2. ls() ANSWER: 3``, or as <tool_call>s.

    Returns calls and, at the end, the answer as text if there is one; an empty list where a call
    cannot be read.
    """
    calls: list[Any] = []
    answer = answer_in(text)
    if "<tool_call>" in text:
        calls, _, _ = read_reply(text)
    else:
        places = sorted(
            (place, name) for name in tools for place in _places(text, name + "(") if place >= 0
        )
        for place, name in places:
            order = list(tools[name]["function"]["parameters"]["properties"])
            arguments = _arguments(text[place + len(name) :], order)
            if arguments is None:
                return []
            calls.append({"name": name, "arguments": arguments})
        _, cue, rest = text.rpartition("ANSWER:")
        if answer is None and cue:
            answer = rest.strip().partition("\n")[0].strip().strip("'\"")
    return [*calls, f"<answer>{answer}</answer>"] if calls and answer is not None else calls


def _places(text: str, wanted: str) -> list[int]:
    """Where a call's name stands as a word, or after ``tool_``."""
    found, place = [], text.find(wanted)
    while place >= 0:
        before = text[:place].removesuffix("tool_")
        if not (before[-1:].isalnum() or before[-1:] == "_"):
            found.append(place)
        place = text.find(wanted, place + 1)
    return found


def _arguments(text: str, order: list[str]) -> dict[str, Any] | None:
    """Read the literal arguments in the parentheses that ``text`` begins with; None if not so."""
    end = 0
    while True:
        end = text.find(")", end) + 1
        if not end or end > 4_000:
            return None
        try:
            call: Any = compile("f" + text[:end], "call", "eval", AST_ONLY).body
            break
        except (SyntaxError, ValueError):
            continue  # this parenthesis was within a text
    try:
        values = [_literal(node) for node in call.args]
        if len(values) == 1 and isinstance(values[0], dict) and not call.keywords:
            return values[0]
        named = {keyword.arg: _literal(keyword.value) for keyword in call.keywords}
        return {**dict(zip(order, values, strict=False)), **named}
    except (ValueError, AttributeError):
        return None


def _literal(node: Any) -> Any:
    kind = type(node).__name__
    if kind == "Constant" and isinstance(node.value, SCALARS):
        return node.value
    if kind in ("List", "Tuple"):
        return [_literal(item) for item in node.elts]
    if kind == "Dict":
        return {
            _literal(key): _literal(value)
            for key, value in zip(node.keys, node.values, strict=True)
        }
    if kind == "UnaryOp" and type(node.op).__name__ == "USub":
        return -_literal(node.operand)
    words = {"true": True, "false": False, "null": None}
    if kind == "Name" and node.id in words:
        return words[node.id]
    raise ValueError("not a literal")


# ---- schemas


def _parameters(told: Any) -> tuple[dict[str, Schema], list[str]]:
    """Return (properties, required) of a declaration, which may lack the outer object."""
    if not isinstance(told, dict):
        return {}, []
    properties = told.get("properties")
    if not isinstance(properties, dict):
        outer = ("required", "additionalProperties", "properties")
        properties = {k: v for k, v in told.items() if k not in outer and v != "object"}
    wanted = told.get("required")
    required = [key for key in wanted if key in properties] if isinstance(wanted, list) else []
    for key, value in properties.items():
        if isinstance(value, dict) and value.get("required") is True and key not in required:
            required.append(key)
    return {str(key): _property(value) for key, value in properties.items()}, required


def _property(told: Any) -> Schema:
    """Return a property's schema with the keywords that we check or show, types by their names."""
    if isinstance(told, (str, type)):
        told = {"type": told} if isinstance(told, type) or told in TYPES else {"description": told}
    if not isinstance(told, dict):
        return {}
    kind = told.get("type")
    options = None
    if isinstance(kind, (list, tuple)):
        bare = {key: told[key] for key in ("enum", "items", "properties") if key in told}
        options = [{**bare, "type": one} for one in kind]
    options = options or told.get("anyOf") or told.get("oneOf")
    entry: Schema = {}
    if isinstance(options, list):
        entry["anyOf"] = [_property(option) for option in options]
    elif kind is not None:
        name = kind.__name__ if isinstance(kind, type) else str(kind).lower()
        if name in TYPES:
            entry["type"] = TYPES[name]
    values: Any = told.get("enum")
    if isinstance(values, (set, frozenset)):
        values = sorted(values, key=str)
    if hasattr(values, "__iter__") and not isinstance(values, str) and "anyOf" not in entry:
        scalars = [one for one in values if isinstance(one, SCALARS)]
        entry |= {"enum": scalars} if scalars else {}
    if "items" in told:
        entry["items"] = _property(told["items"])
    if isinstance(told.get("properties"), dict):
        entry["properties"] = {str(k): _property(v) for k, v in told["properties"].items()}
    if told.get("description"):
        entry["description"] = str(told["description"])
    if isinstance(told.get("default", ()), SCALARS):
        entry["default"] = told["default"]
    return entry


def _hinted(hint: Any) -> Schema:
    """Return the schema of an argument that is declared nowhere but in the signature."""
    try:
        return {} if hint is None else envkit.type_schema(hint)
    except TypeError:
        return {}


def _common(one: Any, other: Any) -> Any:
    """Return what two schemas have in common: a list of choices that differs is left out."""
    if isinstance(one, list) and isinstance(other, list):
        return [item for item in one if item in other]
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    return {
        key: _common(value, other[key])
        for key, value in one.items()
        if key in other and (isinstance(value, dict) or key == "required" or value == other[key])
    }


def _user(text: str) -> Message:
    return {"role": "user", "content": text}
