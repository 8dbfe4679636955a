"""The facts of the little world: countries, heroes, lists of things. Everything the model knows is written here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Country:
    """One country, in English and in Chinese."""

    name: str
    capital: str
    language: str
    food: str
    sight: str
    emoji: str
    zh_name: str
    zh_capital: str
    zh_food: str


@dataclass(frozen=True)
class Hero:
    """One character of the stories; every trait belongs to exactly one hero."""

    name: str
    animal: str
    pronoun: str
    home: str
    food: str
    color: str
    treasure: str
    zh_name: str
    zh_animal: str
    emoji: str


_COUNTRIES = """
France|Paris|French|fresh bread|the Eiffel Tower|🥐|法国|巴黎|面包
Italy|Rome|Italian|pizza|the Colosseum|🍕|意大利|罗马|比萨
Greece|Athens|Greek|olives|the Acropolis|🏛|希腊|雅典|橄榄
Egypt|Cairo|Arabic|warm beans|the Pyramids|🐪|埃及|开罗|豆子
India|Delhi|Hindi|curry|the Taj Mahal|🐘|印度|德里|咖喱
China|Beijing|Chinese|dumplings|the Great Wall|🐼|中国|北京|饺子
Japan|Tokyo|Japanese|sushi|Mount Fuji|🗻|日本|东京|寿司
Canada|Ottawa|English|pancakes|Niagara Falls|🍁|加拿大|渥太华|煎饼
Mexico|Mexico City|Spanish|tacos|the Sun Temple|🌮|墨西哥|墨西哥城|玉米饼
Peru|Lima|Spanish|potatoes|Machu Picchu|🦙|秘鲁|利马|土豆
Brazil|Brasilia|Portuguese|black rice|the Amazon|🦜|巴西|巴西利亚|黑豆饭
Portugal|Lisbon|Portuguese|grilled fish|the Old Tram|🐟|葡萄牙|里斯本|烤鱼
Spain|Madrid|Spanish|paella|the Royal Palace|💃|西班牙|马德里|海鲜饭
England|London|English|apple pie|Big Ben|🎡|英国|伦敦|苹果派
Norway|Oslo|Norwegian|salmon|the Fjords|🚢|挪威|奥斯陆|三文鱼
Sweden|Stockholm|Swedish|meatballs|the Ice Hotel|🏨|瑞典|斯德哥尔摩|肉丸
Germany|Berlin|German|sausages|the Brandenburg Gate|🌭|德国|柏林|香肠
Austria|Vienna|German|chocolate cake|the Opera House|🎻|奥地利|维也纳|蛋糕
Russia|Moscow|Russian|beet soup|the Red Square|🪆|俄罗斯|莫斯科|红菜汤
Korea|Seoul|Korean|kimchi|the Moon Bridge|🎎|韩国|首尔|泡菜
"""

_HEROES = """
Mia|fox|she|by the river|berries|red|a silver key|米娅|狐狸|🦊
Tom|owl|he|in an old tree|nuts|brown|a golden book|汤姆|猫头鹰|🦉
Lily|rabbit|she|under the hill|carrots|white|a glass bell|莉莉|兔子|🐰
Ben|bear|he|in a deep cave|honey|black|a wooden box|本|熊|🐻
Zoe|cat|she|above the bakery|fish|gray|a paper star|佐伊|猫|🐱
Max|dog|he|next to the farm|bones|yellow|a blue ball|马克斯|狗|🐶
Ana|duck|she|on the lake|bread|green|a shiny shell|安娜|鸭子|🦆
Leo|lion|he|behind the mountain|meat|orange|a royal crown|里奥|狮子|🦁
Ruby|mouse|she|inside a shoe|cheese|pink|a tiny lamp|露比|老鼠|🐭
Sam|frog|he|near the pond|flies|blue|a round stone|山姆|青蛙|🐸
"""

COUNTRIES = [Country(*line.split("|")) for line in _COUNTRIES.strip().splitlines()]
HEROES = [Hero(*line.split("|")) for line in _HEROES.strip().splitlines()]

OPPOSITES = [
    ("hot", "cold"), ("big", "small"), ("day", "night"), ("up", "down"), ("fast", "slow"), ("happy", "sad"),
    ("old", "new"), ("light", "dark"), ("open", "closed"), ("wet", "dry"), ("full", "empty"), ("high", "low"),
]  # fmt: skip
SOUNDS = [
    ("dog", "woof", "🐶"), ("cat", "meow", "🐱"), ("cow", "moo", "🐮"), ("duck", "quack", "🦆"), ("pig", "oink", "🐷"),
    ("sheep", "baa", "🐑"), ("lion", "roar", "🦁"), ("frog", "ribbit", "🐸"), ("bee", "buzz", "🐝"),
    ("mouse", "squeak", "🐭"), ("owl", "hoot", "🦉"), ("horse", "neigh", "🐴"),
]  # fmt: skip
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip
WEATHER = [("sunny", "☀️"), ("rainy", "🌧"), ("windy", "🍃"), ("snowy", "❄️")]
WORDS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip
ZH_DIGITS = "零一二三四五六七八九"
LISTS = {
    "prime numbers": ["2", "3", "5", "7", "11", "13", "17", "19"],
    "even numbers": ["2", "4", "6", "8", "10", "12", "14", "16"],
    "odd numbers": ["1", "3", "5", "7", "9", "11", "13", "15"],
    "square numbers": ["1", "4", "9", "16", "25", "36", "49", "64"],
    "colors": ["red", "blue", "green", "yellow", "black", "white", "pink", "brown"],
    "fruits": ["apple", "pear", "plum", "cherry", "lemon", "peach", "grape", "melon"],
    "animals": ["dog", "cat", "cow", "horse", "sheep", "duck", "lion", "bear"],
    "planets": ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"],
}
BEATS = ["boom", "tak", "ding"]
THINGS = [
    "apple",
    "pear",
    "stone",
    "bell",
    "lamp",
    "book",
    "shell",
    "star",
    "key",
    "ball",
    "box",
    "crown",
    "cup",
    "hat",
]


def zh_number(number: int) -> str:
    """Return 1..99 in Chinese numerals: 7 is 七, 12 is 十二, 30 is 三十."""
    tens, ones = divmod(number, 10)
    head = "" if tens == 0 else "十" if tens == 1 else ZH_DIGITS[tens] + "十"
    return head + (ZH_DIGITS[ones] if ones or not tens else "")
