"""Spatial reasoning: fold a sheet, punch one hole, and see in the mind where holes will be."""

import random

SIZE = 4
COLUMNS = "ABCD"
SIDES = ("left", "right", "top", "bottom")

Sheet = dict[str, tuple[int, int]]  # cell: row and column of where it lies now, from 0


class FoldedSheetEnv:
    """Say where the holes are once a folded and punched sheet is opened again."""

    def __init__(self, max_turns: int = 4, **kwargs: object) -> None:
        self.max_turns = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
        """Fold and punch three sheets, with one, two and three folds."""
        rng = random.Random(seed)
        self.sheets = [self.fold_and_punch(rng, folds) for folds in (1, 2, 3)]
        self.opened = 0
        self.turns_left = self.max_turns
        rules = (
            "A sheet has columns A to D from left to right and rows 1 to 4 from top to bottom. "
            "It is folded as told and then punched through all layers. Name every cell of the "
            "opened sheet that has a hole, say, A1 B4. Three sheets; one mistake is forgiven."
        )
        return f"{rules}\n\n{self.show()}", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        """Compare the named cells with the holes."""
        cells = action.removeprefix("\\boxed{").removesuffix("}").upper().replace(",", " ").split()
        self.turns_left -= 1
        right = sorted(cells) == self.sheets[self.opened][1]
        self.opened += right
        if self.opened == 3:
            return "Every hole is where you saw it.", 1.0, True, False, {}
        if self.turns_left < 3 - self.opened:
            return "The sheets are used up.", 0.0, True, False, {}
        note = "Right." if right else "The holes are elsewhere."
        return f"{note}\n{self.show()}", 0.0, False, False, {}

    def solution(self) -> list[str]:
        """Return the holes of each sheet."""
        return [" ".join(holes) for _, holes in self.sheets]

    def fold_and_punch(self, rng: random.Random, folds: int) -> tuple[list[str], list[str]]:
        """Return what was done to a sheet, and its holes in order."""
        holes: list[str] = []
        while len(holes) < 2:
            sheet: Sheet = {
                f"{COLUMNS[col]}{row + 1}": (row, col) for row in range(SIZE) for col in range(SIZE)
            }
            story = []
            for side in rng.sample(SIDES, folds):
                sheet, line = self.fold(rng, sheet, side)
                story.append(line)
            row, col = rng.choice(sorted(set(sheet.values())))
            holes = sorted(cell for cell, place in sheet.items() if place == (row, col))
        story.append(
            f"The hole is punched in row {row + 1}, column {col + 1} of the folded sheet, "
            "counted from its top left corner."
        )
        return story, holes

    def fold(self, rng: random.Random, sheet: Sheet, side: str) -> tuple[Sheet, str]:
        """Fold a strip of one side over; places count from the new top left corner again."""
        axis = 1 if side in ("left", "right") else 0
        length = 1 + max(place[axis] for place in sheet.values())
        strip = rng.randint(1, max(1, length // 2))
        if length == 1:
            return sheet, "Nothing more can be folded there."
        folded = {}
        for cell, place in sheet.items():
            at = place[axis]
            if side in ("left", "top"):
                at = 2 * strip - 1 - at if at < strip else at
                at -= strip
            elif at >= length - strip:
                at = 2 * (length - strip) - 1 - at
            folded[cell] = (place[0], at) if axis else (at, place[1])
        kind = "column" if axis else "row"
        what = f"{side} {kind} is" if strip == 1 else f"{strip} {side} {kind}s are"
        onto = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}[side]
        return folded, f"The {what} folded over towards the {onto}."

    def show(self) -> str:
        """Tell what was done to the sheet at hand."""
        return f"Sheet {self.opened + 1} of 3\n" + "\n".join(self.sheets[self.opened][0])
