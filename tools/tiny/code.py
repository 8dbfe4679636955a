"""The Python functions of the corpus, each with a docstring and a printed example."""

from __future__ import annotations

_SOURCE = '''
def fibonacci(n):
    """Return the n-th Fibonacci number."""
    a, b = 0, 1
    for i in range(n):
        a, b = b, a + b
    return a

print(fibonacci(10))  # 55
===
def factorial(n):
    """Return 1 * 2 * ... * n."""
    if n == 0:
        return 1
    return n * factorial(n - 1)

print(factorial(5))  # 120
===
def is_even(n):
    """Return True if n is even."""
    return n % 2 == 0

print(is_even(8))  # True
===
def is_prime(n):
    """Return True if n is a prime number."""
    for i in range(2, n):
        if n % i == 0:
            return False
    return n > 1

print(is_prime(7))  # True
===
def add(a, b):
    """Return the sum of a and b."""
    return a + b

print(add(2, 3))  # 5
===
def gcd(a, b):
    """Return the greatest common divisor."""
    while b:
        a, b = b, a % b
    return a

print(gcd(12, 18))  # 6
===
def largest(numbers):
    """Return the largest number of a list."""
    best = numbers[0]
    for x in numbers:
        if x > best:
            best = x
    return best

print(largest([3, 9, 4]))  # 9
===
def count_down(n):
    """Print n, n - 1, ..., 1 and then a rocket."""
    while n > 0:
        print(n)
        n = n - 1
    print("🚀")

count_down(3)
===
def reverse(text):
    """Return the text backwards."""
    return text[::-1]

print(reverse("star"))  # rats
===
def average(numbers):
    """Return the mean of a list."""
    total = sum(numbers)
    return total / len(numbers)

print(average([2, 4, 6]))  # 4.0
===
def power(x, n):
    """Return x to the power of n."""
    result = 1
    for i in range(n):
        result = result * x
    return result

print(power(2, 10))  # 1024
===
def hello(name):
    """Greet somebody."""
    print("Hello, " + name + "! 👋")

hello("Mia")
'''

FUNCTIONS = [part.strip("\n") for part in _SOURCE.split("===\n")]
