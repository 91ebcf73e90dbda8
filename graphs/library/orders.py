"""The orders of a small shop, as the refund agent looks them up: a stand-in for yours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Order:
    """One order: who bought what, and what was paid, in whole units of money."""

    id: str
    customer: str
    email: str
    article: str
    paid: int


def find(order_id: str) -> Order | None:
    """The order of that number, None where there is none."""
    return _ORDERS.get(order_id.strip().upper())


_ORDERS = {
    order.id: order
    for order in (
        Order("A-2231", "Meera Nair", "meera.nair@example.com", "blender", 4_000),
        Order("A-2240", "Rohan Das", "rohan.das@example.com", "kettle", 1_900),
        Order("B-1044", "Asha Traders", "office@asha-traders.example", "label printer", 12_500),
    )
}
