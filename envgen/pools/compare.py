"""When two written answers are the same. Pure, and copied into every program made of questions.

``normal`` stands alone: its source becomes part of the programs, so that host and jail cannot differ.
"""

KINDS = ("text", "spaced", "caseless", "integer", "number")
"""From the strictest to the loosest; see ``normal``."""


def normal(text: str, kind: str) -> str:
    """Return an answer in the one form that all ways of writing it share."""
    text = text.strip()
    if kind == "spaced":  # white space between words is free
        return " ".join(text.split())
    if kind == "caseless":  # so is the case of letters
        return " ".join(text.lower().split())
    if kind == "integer":  # so are a sign and leading zeros
        sign = "-" if text.startswith("-") else ""
        digits = text[1:] if text[:1] in ("+", "-") else text
        if digits.isdecimal() and digits.isascii():
            digits = digits.lstrip("0")
            return sign * bool(digits) + (digits or "0")
    if kind == "number":  # and how a number is written: +1,200.50 is 1200.5
        plain = text.replace(",", "").removeprefix("+")
        sign = "-" if plain.startswith("-") else ""
        whole, _, rest = plain.removeprefix("-").partition(".")
        if (whole + rest).isdecimal() and (whole + rest).isascii():
            whole, rest = whole.lstrip("0") or "0", rest.rstrip("0")
            sign = sign if whole + rest != "0" else ""
            return sign + whole + ("." + rest if rest else "")
    return text
