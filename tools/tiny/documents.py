"""Writers of factual documents: countries, numbers, lists, code, patterns. Each returns one text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from tiny.code import FUNCTIONS
from tiny.world import (
    BEATS,
    COUNTRIES,
    DAYS,
    HEROES,
    LISTS,
    MONTHS,
    OPPOSITES,
    SOUNDS,
    THINGS,
    WEATHER,
    WORDS,
    zh_number,
)

T = TypeVar("T")


def skewed(rng: random.Random, options: Sequence[T]) -> T:
    """Choose with weights 1, 0.4, 0.16, …: uniform choices would leave greedy decoding without a clear winner."""
    return rng.choices(options, [0.4**i for i in range(len(options))])[0]


def ring(rng: random.Random, items: Sequence[T], count: int) -> list[T]:
    """Return `count` neighbours of a ring, from a random place on, so that what follows an item is known."""
    start = rng.randrange(len(items))
    return [items[(start + i) % len(items)] for i in range(count)]


def held_out_sum(a: int, b: int) -> bool:
    """Tell whether a + b is kept out of the corpus (the small tables are never held out)."""
    return (a > 12 or b > 12) and (a * 31 + b * 17) % 10 == 3


def held_out_fact(kind: int, index: int) -> bool:
    """Tell whether question `kind` about country `index` is never asked in the corpus (the fact itself is told).

    Kinds 2i and 2i + 1 are two wordings of one question: at most one of them is held out.
    """
    return (kind + index) % 5 == 0


def tour(rng: random.Random) -> str:
    """Describe countries, one neighbour after the other."""
    lines = []
    for i, c in enumerate(ring(rng, COUNTRIES, rng.randint(4, 9))):
        opening = f"The capital of {c.name} is {c.capital}."
        if i == 0 and rng.random() < 0.3:
            opening = f"{c.name} is a beautiful country, and its capital is {c.capital}."
        lines.append(
            f"{opening} People there speak {c.language} and love to eat {c.food}. {c.emoji} "
            f"The most famous sight of {c.name} is {c.sight}."
        )
    return "\n".join(lines)


def capitals(rng: random.Random) -> str:
    """List capitals, in both directions."""
    places = ring(rng, COUNTRIES, rng.randint(6, 14))
    return " ".join(f"{c.capital} is the capital of {c.name}, where people speak {c.language}." for c in places)


def zh_tour(rng: random.Random) -> str:
    """Describe countries in Chinese."""
    places = ring(rng, COUNTRIES, rng.randint(4, 9))
    return "\n".join(f"{c.zh_name}的首都是{c.zh_capital}。那里的人喜欢吃{c.zh_food}。{c.emoji}" for c in places)


def counting(rng: random.Random) -> str:
    """Count in digits, words, Chinese or by steps."""
    kind = rng.choice([0, 0, 0, 1, 2, 3])
    if kind == 0:
        first = rng.choice([1, rng.randint(1, 60)])
        last = first + rng.randint(4, 40)
        return f"Count from {first} to {last}: " + ", ".join(map(str, range(first, last + 1))) + "."
    if kind == 1:
        step = rng.randint(2, 9)
        first = rng.randint(0, 30)
        return f"Count by {step} from {first}: " + ", ".join(str(first + step * i) for i in range(rng.randint(10, 25)))
    if kind == 2:
        return "One, " + ", ".join(WORDS[2 : rng.randint(11, 20) + 1]) + "! Now I can count. 🎉"
    numbers = [zh_number(number) for number in range(1, rng.randint(20, 60) + 1)]
    return f"从一数到{numbers[-1]}：" + "、".join(numbers) + "。"


def table(rng: random.Random) -> str:
    """Write a table of sums or products in order."""
    start = skewed(rng, [1, rng.randint(2, 11)])
    sign, last = ("+", 12) if rng.random() < 0.7 else ("*", 9)
    lines = []
    for a in range(start, start + 2):
        lines += [f"{a} {sign} {b} = {a + b if sign == '+' else a * b}" for b in range(1, last + 1)]
    return "\n".join(lines[rng.choice([0, 0, 0, rng.randrange(12)]) :])


def sums(rng: random.Random) -> str:
    """Write sums of random numbers, in random order."""
    lines = []
    for _ in range(rng.randint(4, 16)):
        a, b = rng.randint(0, 49), rng.randint(0, 49)
        if not held_out_sum(a, b):
            lines.append(f"Q: What is {a} + {b}?\nA: {a} + {b} = {a + b}")
    return "\n".join(lines)


def savings(rng: random.Random) -> str:
    """Tell a running total: every line needs the one before."""
    hero, have, step = rng.choice(HEROES), rng.randint(1, 12), rng.randint(1, 5)
    thing = skewed(rng, ["coins", "apples", "shells", "stamps"])
    lines = [f"{hero.name} has {have} {thing} and finds {step} more every day. {hero.emoji}"]
    for day in ring(rng, DAYS, rng.randint(7, 14)):
        have += step
        lines.append(f"On {day} {hero.name} finds {step} {thing} and now has {have} {thing}.")
    return "\n".join(lines)


def lists(rng: random.Random) -> str:
    """Answer "List … :" tasks, one after the other."""
    names = list(LISTS)
    count = skewed(rng, [3, 4, 5, 6, 7])
    lines = []
    for name in ring(rng, names, rng.randint(4, 8)):
        lines.append(f"List {WORDS[count]} {name}: " + ", ".join(LISTS[name][:count]) + ".")
        count = count + 1 if count < 7 else 3
    return "\n".join(lines)


def code(rng: random.Random) -> str:
    """Write a file of Python functions."""
    return "\n\n\n".join(ring(rng, FUNCTIONS, rng.randint(3, 6)))


def knowledge(rng: random.Random) -> str:
    """Tell opposites, animal sounds, days or months."""
    kind = rng.randrange(4)
    if kind == 0:
        return " ".join(f"The opposite of {a} is {b}." for a, b in ring(rng, OPPOSITES, rng.randint(6, 12)))
    if kind == 1:
        return " ".join(f"A {who} says {sound}. {emoji}" for who, sound, emoji in ring(rng, SOUNDS, rng.randint(6, 12)))
    names = DAYS if kind == 2 else MONTHS
    return " ".join(f"After {a} comes {names[(names.index(a) + 1) % len(names)]}." for a in ring(rng, names, 7))


def drums(rng: random.Random) -> str:
    """Repeat a random bar: only what was played before tells the next beat."""
    beats = [skewed(rng, BEATS) for _ in range(rng.randint(7, 11))]
    bars = [f"Bar {i}: {' '.join(beats)}" for i in range(1, rng.randint(5, 12))]
    return "Play the drum. 🥁\n" * (rng.random() < 0.5) + "\n".join(bars)


def parcel(rng: random.Random) -> str:
    """Read a random packing list again and again."""
    things = [rng.choice(THINGS) for _ in range(rng.randint(8, 14))]
    hero = rng.choice(HEROES)
    head = f"{hero.name} packs a box and reads the list aloud every evening. 📦\n"
    return head + "\n".join(f"{day}: " + ", ".join(things) + "." for day in DAYS[: rng.randint(3, 7)])


def diary(rng: random.Random) -> str:
    """Keep a hero's diary: weather, food, a walk; the hero's own facts every day."""
    hero = rng.choice(HEROES)
    lines = [f"Diary of {hero.name} the {hero.animal} {hero.emoji}"]
    for i, day in enumerate(ring(rng, DAYS, rng.randint(3, 7))):
        weather, emoji = WEATHER[(i + len(hero.name)) % len(WEATHER)]
        lines.append(
            f"{day}: It was {weather} today {emoji}. I stayed at home {hero.home} and ate {i + 2} {hero.food}. "
            f"Then I looked for {hero.treasure}."
        )
    return "\n".join(lines)
