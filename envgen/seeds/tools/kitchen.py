"""Tool selection: many converters that look alike, and only some of them measure the right thing."""

from typing import Literal

from envkit import ToolError, ToolUseEnv

GRAMS_PER_100_ML = {"honey": 142, "flour": 53, "oil": 92, "sugar": 85, "milk": 103}

Ingredient = Literal["honey", "flour", "oil", "sugar", "milk"]


class KitchenConverterEnv(ToolUseEnv):
    """Turn an old recipe into metric and set scales and oven."""

    def build(self, rng):
        """Draw a recipe in cups, ounces and degrees Fahrenheit."""
        self.loose, self.weighed = rng.sample(sorted(GRAMS_PER_100_ML), 2)
        self.cups, self.ounces = rng.randint(2, 6), rng.randint(3, 15)
        self.fahrenheit = rng.randrange(300, 460, 5)
        self.grams = round(self.cups * 240 * GRAMS_PER_100_ML[self.loose] / 100)
        self.state = {"scales": [], "oven": None}
        self.ask(
            f"The recipe wants {self.cups} cups of {self.loose}. Set the scales to that in grams.",
            until=lambda s: s["scales"] == [self.grams],
        )
        self.ask(
            f"Next, {self.ounces} ounces of {self.weighed}, by weight. The scales again, please.",
            until=lambda s: s["scales"] == [self.grams, round(self.ounces * 28.35)],
        )
        self.ask(
            f"It bakes at {self.fahrenheit} degrees Fahrenheit. Set the oven.",
            until=lambda s: s["oven"] == round((self.fahrenheit - 32) / 1.8),
        )
        # What is once weighed out is in the bowl.
        self.never(lambda s: s["scales"][:1] not in ([], [self.grams]) or len(s["scales"]) > 2)

    def tool_cups_to_millilitres(self, cups: float) -> str:
        """Convert cups, a measure of volume, to millilitres.

        cups: how many
        """
        return f"{cups * 240:g} ml"

    def tool_fluid_ounces_to_millilitres(self, ounces: float) -> str:
        """Convert fluid ounces, a measure of volume, to millilitres.

        ounces: how many fluid ounces
        """
        return f"{ounces * 29.57:.0f} ml"

    def tool_ounces_to_grams(self, ounces: float) -> str:
        """Convert ounces, a measure of weight, to grams.

        ounces: how many ounces
        """
        return f"{ounces * 28.35:.0f} g"

    def tool_weigh_volume(self, ingredient: Ingredient, millilitres: float) -> str:
        """Tell what a volume of an ingredient weighs, in grams.

        ingredient: what it is
        millilitres: how much of it
        """
        return f"{millilitres * GRAMS_PER_100_ML[ingredient] / 100:.0f} g"

    def tool_water_weight(self, millilitres: float) -> str:
        """Tell what a volume of water weighs, in grams.

        millilitres: how much water
        """
        return f"{millilitres:.0f} g"

    def tool_fahrenheit_to_celsius(self, degrees: float) -> str:
        """Convert a temperature from Fahrenheit to Celsius.

        degrees: degrees Fahrenheit
        """
        return f"{(degrees - 32) / 1.8:.0f} degrees Celsius"

    def tool_celsius_to_kelvin(self, degrees: float) -> str:
        """Convert a temperature from Celsius to Kelvin.

        degrees: degrees Celsius
        """
        return f"{degrees + 273:.0f} Kelvin"

    def tool_set_scales(self, grams: int) -> str:
        """Weigh something out into the bowl; it cannot be taken out again.

        grams: how much
        """
        if not 0 < grams <= 5000:
            raise ToolError("the scales go from 1 to 5000 grams")
        self.state["scales"].append(grams)
        return f"{grams} grams are in the bowl."

    def tool_set_oven(self, celsius: int) -> str:
        """Heat the oven.

        celsius: degrees Celsius
        """
        self.state["oven"] = celsius
        return f"The oven heats to {celsius} degrees."

    def solution(self):
        """Volume to weight in two steps, weight to weight in one, then the oven."""
        millilitres, celsius = self.cups * 240, round((self.fahrenheit - 32) / 1.8)
        return [
            {"name": "cups_to_millilitres", "arguments": {"cups": self.cups}},
            {
                "name": "weigh_volume",
                "arguments": {"ingredient": self.loose, "millilitres": millilitres},
            },
            {"name": "set_scales", "arguments": {"grams": self.grams}},
            {"name": "ounces_to_grams", "arguments": {"ounces": self.ounces}},
            {"name": "set_scales", "arguments": {"grams": round(self.ounces * 28.35)}},
            {"name": "fahrenheit_to_celsius", "arguments": {"degrees": self.fahrenheit}},
            {"name": "set_oven", "arguments": {"celsius": celsius}},
        ]
