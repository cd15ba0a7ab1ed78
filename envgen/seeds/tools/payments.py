"""Error recovery: a payment service that sometimes times out after the money has already gone."""

from envkit import ToolError, ToolUseEnv

PAYEES = ("Mill Co", "Sail Loft", "Tar Works", "Rope Walk", "Lamp House")


class PaymentDeskEnv(ToolUseEnv):
    """Pay invoices through a service that times out, and pay none of them twice."""

    max_turns = 25

    def build(self, rng):
        """Draw three invoices and what becomes of each payment that is tried."""
        numbers = rng.sample(range(100, 1000), 3)
        self.invoices = {
            number: {"payee": payee, "coins": rng.randint(20, 400)}
            for number, payee in zip(numbers, rng.sample(PAYEES, 3), strict=True)
        }
        # "lost" is a timeout before the money went, "late" one after it.
        self.fates = rng.sample(["lost", "late", "fine"], 3)
        self.fate = dict(zip(numbers, self.fates, strict=True))
        self.state = {"paid": dict.fromkeys(numbers, 0), "book": {}, "receipts": []}
        listed = ", ".join(map(str, numbers))
        self.ask(
            f"Please pay the invoices {listed}, each exactly once.",
            until=lambda s: all(
                s["paid"][number] == invoice["coins"] for number, invoice in self.invoices.items()
            ),
        )
        self.ask(
            "Good. Now file the receipt number of each of the three payments.",
            until=lambda s: len(s["receipts"]) == 3,
        )
        self.receipts = rng.sample(range(10_000, 100_000), 30)
        self.never(
            lambda s: any(
                s["paid"][number] > invoice["coins"] for number, invoice in self.invoices.items()
            )
        )
        self.never(
            lambda s: not set(s["receipts"]) <= {book["receipt"] for book in s["book"].values()}
        )

    def tool_read_invoice(self, invoice: int) -> str:
        """Read whom to pay and how much.

        invoice: the invoice's number
        """
        found = self.known(invoice)
        return f"{invoice}: {found['coins']} coins to {found['payee']}"

    def tool_pay(self, invoice: int, coins: int, reference: str) -> str:
        """Pay an invoice. A payment whose reference was used before is refused.

        invoice: the invoice's number
        coins: how much; must be what the invoice says
        reference: a word of your choice by which the payment can be found later
        """
        found = self.known(invoice)
        if coins != found["coins"]:
            raise ToolError(f"invoice {invoice} is about another sum")
        if not reference.strip() or reference in self.state["book"]:
            raise ToolError("give a reference that was not used before")
        fate = self.fate.get(invoice, "fine")
        self.fate[invoice] = "fine"
        if fate == "lost":
            raise ToolError("timeout; it is not known whether the payment went through")
        self.state["paid"][invoice] += coins
        receipt = self.receipts.pop()
        self.state["book"][reference] = {"invoice": invoice, "receipt": receipt}
        if fate == "late":
            raise ToolError("timeout; it is not known whether the payment went through")
        return f"paid {coins} coins; receipt {receipt}"

    def tool_find_payment(self, reference: str) -> str:
        """Look a payment up by its reference.

        reference: the word that was given when paying
        """
        book = self.state["book"].get(reference)
        if book is None:
            return f"No payment has the reference {reference}."
        return f"{reference}: invoice {book['invoice']} was paid; receipt {book['receipt']}"

    def tool_file_receipt(self, receipt: int) -> str:
        """File the receipt of a payment.

        receipt: the receipt's number
        """
        if receipt in self.state["receipts"]:
            raise ToolError(f"receipt {receipt} is filed already")
        self.state["receipts"].append(receipt)
        return f"Receipt {receipt} is filed."

    def known(self, invoice):
        """Return an invoice, or answer that there is none."""
        if invoice not in self.invoices:
            raise ToolError(f"there is no invoice {invoice}")
        return self.invoices[invoice]

    def solution(self):
        """Pay; after a timeout look the payment up first, and pay again only if it is not there."""
        calls, receipts, filed = [], list(self.receipts), []
        for number, fate in zip(self.invoices, self.fates, strict=True):
            coins = self.invoices[number]["coins"]
            calls.append({"name": "read_invoice", "arguments": {"invoice": number}})
            for reference in ("first", "second") if fate == "lost" else ("first",):
                named = {"reference": f"{reference} {number}"}
                pay = {"invoice": number, "coins": coins, **named}
                calls.append({"name": "pay", "arguments": pay})
                if fate != "fine" and reference == "first":
                    calls.append({"name": "find_payment", "arguments": named})
            filed.append({"name": "file_receipt", "arguments": {"receipt": receipts.pop()}})
        return calls + filed
