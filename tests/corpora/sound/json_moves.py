# sound: observations and actions are JSON
import json
import random


class CraneEnv:
    """Steer a crane with orders in JSON."""

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.at, self.goal = [0, 0], [rng.randint(2, 40), rng.randint(-40, -2)]
        self.turn = 0
        return json.dumps(
            {"at": self.at, "hook_to": self.goal, "order": {"x": 1, "y": 1}, "per_order": 9}
        ), {}

    def step(self, action):
        self.turn += 1
        try:
            order = json.loads(action.removeprefix("\\boxed{").removesuffix("}").strip())
            for place, axis in enumerate("xy"):
                self.at[place] += max(-9, min(9, int(order[axis])))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return json.dumps({"error": "no order"}), 0.0, self.turn == 9, False, {}
        won = self.at == self.goal
        return json.dumps({"at": self.at}), float(won), won or self.turn == 9, False, {}

    def solution(self):
        orders, (x, y) = [], self.goal
        while x or y:
            dx, dy = min(9, x), max(-9, y)
            orders.append(json.dumps({"x": dx, "y": dy}))
            x, y = x - dx, y - dy
        return orders


# hint: Split the way into orders of at most nine.
