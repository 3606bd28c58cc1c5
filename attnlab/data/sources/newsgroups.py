"""The text of a newsgroup message without what gives its group away."""

import re

_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def message_body(message: str) -> str:
    """Drop the header, quoted lines and the signature, as is customary for 20 Newsgroups.

    The rules are those that scikit-learn documents for ``remove=("headers", "footers", "quotes")``: the header
    ends at the first empty line; quotes are lines that start with > or |, or introduce one; the signature is
    what follows the last line that is blank or of dashes only.
    """
    _, _, body = message.partition("\n\n")
    lines = [line for line in body.split("\n") if not _QUOTE.search(line)]
    stripped = "\n".join(lines).strip().split("\n")
    for number in range(len(stripped) - 1, 0, -1):
        if not stripped[number].strip().strip("-"):
            return "\n".join(stripped[:number])
    return "\n".join(stripped)
