#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gives TOML by its grammar, and nearly TOML, to the configuration's reader: toml_grammar.py ANSWERS [SEED]

ANSWERS is the program toml-answers. It is given 25,000 texts (PVRDMA_GRAMMAR_TEXTS: another number). Each text must have an
answer of one line, and be taken or refused as by Python's tomllib, except for the texts listed below. A text with a wrong
answer is printed whole, with the seed that led to it.
"""

import os
import random
import re
import subprocess
import sys

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

BATCH = 200

SCALARS = (
    "1", "-0", "+5", "0x1F", "0o17", "0b101", "1_000", "01", "1__0", "_1", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "0x7fffffffffffffff", "0xffffffffffffffff", "0b1" + 64 * "0",
    "1.5", "1e5", ".5", "5.", "1.e5", "inf", "-inf", "+nan", "true", "false", "True", '"a"', '"\\u00e9"', '"\\ud800"',
    '"\\U0001F600"', '"\\x41"', '"a\tb"', '"a\x01b"', "'a\\b'", "'a'b'", '"""a\nb"""', '"""a\\\n   b"""', '"""a""""',
    '"""a"""""', '"""a""""""', "'''a''''", "1979-05-27", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00", "1979-13-27",
    "1979-02-30", "07:32:00", "07:32", "25:00:00", "1979-05-27T07:32:00.5-08:00", "", '"""', "''", '"\\', "#", "a", "{}",
    "[]", '"\\u000A"', '"é"', '"\u202e"', "1 2", "1#c", "true1", "0e0", "00", "+0", "-", "+", "0x", "1_", "1e", '"""\\x"""')
KEYS = ("a", "b", "c", "a-b", "_", "1", '"q r"', "'l'", '""', '"\\u00e9"', "é", "a b", "a.b", "a . b", '"a.b"', "1.2",
        "a..b", ".a", "a.", '"""m"""', '"\\q"', "true", "inf", "adapter", "mtu", "addresses", "match", "modules")
OTHER_LINES = ("# c", "", "  ", "\t", "# \x01", "# \x7f", "\x0c", "[ a ]", "[[ a ]]", "[ [a] ]", "[]", "[[]]", "[a", "a", "=1",
               "# é")

# TOML that our reader refuses, by design or by a version of toml11.
REFUSED_KNOWINGLY = (
    "already exists",  # a table whose arrays of tables came first (toml11 3)
    "failed to read floating point value",  # beyond a double, which tomllib reads as infinity (both versions)
    "reopening a table using dotted keys",  # for a table that a longer header has made (toml11 4)
    "beyond 64 bits", "has a line of more than", "nested too deeply", "has more than")
# Texts that our reader takes and tomllib refuses: a leap second, a byte order mark.
TAKEN_KNOWINGLY = re.compile(rb"^\xef\xbb\xbf|:60")


# The first texts are the same in every run, and their answers are compared with tomllib. The seed of the others is new
# in each run, and they only need an answer: once in some hundred thousand the versions of toml11 take a text that is no
# TOML (a header after a value on its line, an array of tables after an inline one), or refuse TOML.
COMPARED_SEED, COMPARED = 20261127, 20_000


class Grammar:
    def __init__(self, rng):
        self.rng = rng

    def choice(self, *words):
        return self.rng.choice(words)

    def value(self, depth=0):
        kind = self.rng.random()
        if depth < 3 and kind < .15:
            glue = self.choice(", ", ",", " ,\n", "\n,\n", " # c\n,")
            items = [self.value(depth + 1) for _ in range(self.rng.randint(0, 3))]
            return "[" + glue.join(items) + self.choice("", ",", ",,", "\n", " # x\n", " # x") + self.choice("]", "]", "]", "")
        if depth < 3 and kind < .25:
            glue = self.choice(", ", ",", "\n,")
            items = [self.key() + self.choice(" = ", "=", " =") + self.value(depth + 1) for _ in range(self.rng.randint(0, 3))]
            return "{" + glue.join(items) + self.choice("", "", ",", "\n") + "}"
        return self.rng.choice(SCALARS)

    def key(self):
        key = self.rng.choice(KEYS[:3] if self.rng.random() < .7 else KEYS)
        return key if self.rng.random() < .7 else key + self.choice(".", " . ") + self.rng.choice(KEYS[:3])

    def line(self):
        kind = self.rng.random()
        if kind < .62:
            return self.key() + (self.choice("=", "\t=\t", ": ", "==", " ") if self.rng.random() < .1 else " = ") + self.value()
        if kind < .78:
            return "[" + self.key() + "]" + self.choice("", "", " # c", " x")
        if kind < .9:
            return "[[" + self.key() + "]]"
        return self.rng.choice(OTHER_LINES)

    def text(self):
        lines = [self.line() for _ in range(self.rng.randint(1, 5))]
        made = bytearray((self.choice("\n", "\n", "\r\n").join(lines) + self.choice("\n", "", "\r", "\r\n")).encode())
        if made and self.rng.random() < .1:
            made[self.rng.randrange(len(made))] = self.rng.randrange(256)
        return bytes(made)


def is_toml(text):
    try:
        tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return False
    return True


def complaint(text, answer, compared):
    """The fault of the answer to a text, or None."""
    if not re.fullmatch(r"\+|-file:\d+: .+", answer):
        return f"answered by {answer!r}"
    if tomllib is None or not compared:
        return None
    if answer == "+" and not TAKEN_KNOWINGLY.search(text) and not is_toml(text):
        return "taken, though tomllib refuses it"
    if answer != "+" and not any(why in answer for why in REFUSED_KNOWINGLY) and is_toml(text):
        return f"refused, though tomllib takes it: {answer}"
    return None


def ask(program, texts):
    """The answers, as many as came."""
    for text in texts:
        program.stdin.write(b"%d\n" % len(text) + text)
    program.stdin.flush()
    answers = []
    for _ in texts:
        line = program.stdout.readline()
        if not line:
            break
        answers.append(line.decode(errors="backslashreplace").rstrip("\n"))
    return answers


def main():
    again = len(sys.argv) > 2  # with the seed of an earlier run everything is compared
    seed = int(sys.argv[2]) if again else random.SystemRandom().randrange(2**32)
    first = Grammar(random.Random(COMPARED_SEED))
    wanted = int(os.environ.get("PVRDMA_GRAMMAR_TEXTS", "25000"))
    grammar = Grammar(random.Random(seed))
    print(f"seed {seed}", flush=True)
    taken, asked, complaints = 0, 0, {}
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        while asked < wanted and len(complaints) < 5:
            fixed = asked < COMPARED and not again
            texts = [(first if fixed else grammar).text() for _ in range(BATCH)]
            answers = ask(program, texts)
            for text, answer in zip(texts, answers):
                taken += answer == "+"
                if what := complaint(text, answer, fixed or again):
                    complaints.setdefault(re.sub(r"[\d:]+", "", what), (what, text))
            asked += len(answers)
            if len(answers) < len(texts):
                complaints["ended"] = ("ended the program", texts[len(answers)])
                break
        program.stdin.close()
    for what, text in complaints.values():
        print(f"{what}\n  the text, whole: {text!r}")
    print(f"{asked} texts, {taken} of them TOML, {len(complaints)} complaints" + ("" if tomllib else "; no tomllib to compare with"))
    return 1 if complaints or taken == 0 or program.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
