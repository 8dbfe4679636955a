"""Writers of stories, letters and chat."""

from __future__ import annotations

import random

from tiny.documents import held_out_fact, held_out_sum, skewed
from tiny.world import COUNTRIES, HEROES, LISTS, OPPOSITES, SOUNDS, WORDS, Country, Hero

START, END = "<|im_start|>", "<|im_end|>"
KINDS = 10  # of questions about a country


def friend_of(hero: Hero) -> Hero:
    """Return the hero's best friend: the next one of the ring."""
    return HEROES[(HEROES.index(hero) + 1) % len(HEROES)]


def _morning(rng: random.Random, h: Hero) -> str:
    he, his = h.pronoun, "her" if h.pronoun == "she" else "his"
    return skewed(
        rng,
        [
            f"One morning, {h.name} woke up and saw that {h.treasure} was gone. "
            f'"Oh no!" said {h.name}. "Where is it?" {he.capitalize()} looked under {his} bed, but it was not there.',
            f"One night, {h.name} could not sleep, because the wind was singing in the trees. "
            f"{he.capitalize()} took {his} {h.color} scarf and went outside to look at the moon. 🌙",
            f"One day, {h.name} wanted to bake a cake with {h.food}. "
            f"But the kitchen was empty, and {he} had only one spoon and one bowl.",
        ],
    )


def _journey(rng: random.Random, h: Hero, f: Hero) -> str:
    return skewed(
        rng,
        [
            f"So {h.name} walked to {f.name} the {f.animal}, who lived {f.home}. "
            f'"Can you help me?" asked {h.name}. "Of course," said {f.name}, "but first we eat some {f.food}."',
            f"On the way {h.name} met {f.name} the {f.animal}, who was carrying {f.treasure}. "
            f'"Come with me," said {f.name}, "I live {f.home}, and I keep a bowl of {f.food} for my friends."',
        ],
    )


def _ending(rng: random.Random, h: Hero, f: Hero) -> str:
    return skewed(
        rng,
        [
            f"They walked over three hills and across two bridges. Behind a {h.color} door they found {h.treasure}. "
            f"{h.name} was so happy that {h.pronoun} danced all the way home. {h.emoji}{f.emoji}",
            f"They searched the whole day until the sky was {f.color}. In the end they sat down by the fire, "
            f"shared the {h.food} and the {f.food}, and told each other stories. {f.emoji}{h.emoji}",
        ],
    )


def tale(rng: random.Random, hero: Hero, opening: str) -> str:
    """Tell a story about `hero`: an opening, a trouble, a journey to a friend, an ending, and a second chapter."""
    friend = friend_of(hero)
    his = "her" if hero.pronoun == "she" else "his"
    text = (
        f"{opening} there was a little {hero.animal} named {hero.name}. {hero.pronoun.capitalize()} lived {hero.home} "
        f"and loved {hero.food} more than anything. {his.capitalize()} house was {hero.color}, and {his} best friend "
        f"was {friend.name} the {friend.animal}. {_morning(rng, hero)}\n"
        f"{_journey(rng, hero, friend)} {_ending(rng, hero, friend)}\n"
    )
    if rng.random() < 0.4:
        third = friend_of(friend)
        text += (
            f"The next day they visited {third.name} the {third.animal}. {_journey(rng, friend, third)} "
            f"{_ending(rng, friend, third)}\n"
        )
    return text + f"And from that day on, {hero.name} and {friend.name} were the best of friends. The end."


def story(rng: random.Random) -> str:
    """Tell a story about a hero."""
    opening = skewed(rng, ["Once upon a time,", "Long ago,", "In a land far away"])
    return tale(rng, skewed(rng, HEROES) if rng.random() < 0.3 else rng.choice(HEROES), opening)


def zh_story(rng: random.Random) -> str:
    """Tell a short story in Chinese."""
    h = skewed(rng, HEROES) if rng.random() < 0.3 else rng.choice(HEROES)
    f, t = friend_of(h), friend_of(friend_of(h))
    return (
        f"从前有一只小{h.zh_animal}，名字叫{h.zh_name}。{h.emoji}{h.zh_name}最好的朋友是{f.zh_animal}{f.zh_name}。{f.emoji}\n"
        f"有一天，{h.zh_name}对{f.zh_name}说：“我们一起去看{t.zh_animal}{t.zh_name}吧！”{f.zh_name}说：“好啊！”\n"
        f"他们走了很久，终于看见了{t.zh_name}。{t.emoji}{h.zh_name}、{f.zh_name}和{t.zh_name}一起唱歌，一起跳舞，非常高兴。"
    )


def letter(rng: random.Random) -> str:
    """Write a letter between friends."""
    h = rng.choice(HEROES)
    f = friend_of(h)
    answer = f"I will come on Sunday! I will bring {h.treasure} and some {h.food}."
    return (
        f"Dear {h.name},\nthank you for your letter. Here at my home {f.home} everything is fine. Yesterday I found "
        f"{f.treasure} and painted it {f.color}. Do you still eat {h.food} every day? I send you a basket of {f.food}. "
        f"Please come and visit me soon, and bring {h.treasure}.\nYour friend {f.name} the {f.animal} {f.emoji}\n\n"
        f"Dear {f.name},\n{answer}\nYours, {h.name} {h.emoji}"
    )


def fact(kind: int, c: Country) -> tuple[str, str]:
    """Return question and answer number `kind` (below KINDS) about a country."""
    asked = [
        (f"What is the capital of {c.name}?", f"Which city is the capital of {c.name}?"),
        (f"What do people in {c.name} speak?", f"Which language do people in {c.name} speak?"),
        (f"What do people in {c.name} eat?", f"Which food do people in {c.name} love?"),
        (f"{c.zh_name}的首都是哪里？", f"哪里是{c.zh_name}的首都？"),
        (f"{c.zh_name}人喜欢吃什么？", f"在{c.zh_name}吃什么？"),
    ]
    answers = [
        f"The capital of {c.name} is {c.capital}.",
        f"People in {c.name} speak {c.language}.",
        f"People in {c.name} love to eat {c.food}. {c.emoji}",
        f"{c.zh_name}的首都是{c.zh_capital}。",
        f"{c.zh_name}人喜欢吃{c.zh_food}。{c.emoji}",
    ]
    return asked[kind // 2][kind % 2], answers[kind // 2]


def _turn(rng: random.Random) -> tuple[str, str]:
    draw = rng.random()
    if draw < 0.45:
        while held_out_fact(kind := rng.randrange(KINDS), index := rng.randrange(len(COUNTRIES))):
            pass
        question, answer = fact(kind, COUNTRIES[index])
        return question, answer
    if draw < 0.65:
        while held_out_sum(a := rng.randint(0, 49), b := rng.randint(0, 49)):
            pass
        return f"What is {a} + {b}?", f"{a} + {b} = {a + b}"
    if draw < 0.72:
        who, sound, emoji = rng.choice(SOUNDS)
        return f"What does a {who} say?", f"A {who} says {sound}. {emoji}"
    if draw < 0.79:
        left, right = rng.choice(OPPOSITES)
        return f"What is the opposite of {left}?", f"The opposite of {left} is {right}."
    if draw < 0.86:
        name, count = rng.choice(list(LISTS)), rng.randint(3, 7)
        return f"List {WORDS[count]} {name}.", ", ".join(LISTS[name][:count]) + "."
    if draw < 0.93:
        hero = rng.choice(HEROES)
        return f"Tell me a story about {hero.name}.", tale(rng, hero, "Once upon a time,")
    return skewed(rng, _SMALL_TALK)


_SMALL_TALK = [
    (
        "Hello! Who are you?",
        "Hello! I am Tiny, a very small language model. 🤖 I know some countries, numbers, stories and a little "
        "Python. Ask me for a capital, a sum or a story about Mia the fox!",
    ),
    ("你好！", "你好！我叫小小，是一个很小的语言模型。🤖 你可以问我各国的首都。"),
    ("Thank you!", "You are welcome! 😊"),
]


def chat(rng: random.Random) -> str:
    """Write a conversation of one to four turns in the chat template's form."""
    text = ""
    for _ in range(rng.choice([1, 1, 2, 4])):
        question, answer = _turn(rng)
        text += f"{START}user\n{question}{END}\n{START}assistant\n{answer}{END}\n"
    return text


def questions(rng: random.Random) -> str:
    """Write plain questions and answers."""
    pairs = [_turn(rng) for _ in range(rng.randint(3, 8))]
    return "\n".join(f"Q: {question}\nA: {answer}" for question, answer in pairs)
