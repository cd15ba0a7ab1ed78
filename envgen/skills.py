"""The skill tags of both settings (SPADE, arXiv 2608.19197)."""

GAME_SKILLS = (
    "mathematical_reasoning",
    "logical_deduction",
    "spatial_reasoning",
    "pattern_recognition",
    "optimisation",
    "causal_inference",
    "strategic_planning",
    "memory_recall",
    "language_understanding",
)
TOOL_SKILLS = (
    "api_orchestration",
    "data_retrieval",
    "state_modification",
    "error_recovery",
    "tool_selection",
    "multi_step_workflows",
)
SKILLS = GAME_SKILLS + TOOL_SKILLS


def setting_of(skill: str) -> str:
    """Return ``"game"`` or ``"tool_use"`` for a skill tag."""
    return "game" if skill in GAME_SKILLS else "tool_use"
