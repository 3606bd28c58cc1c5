"""A solver of bAbI stories that shares nothing with their generator."""


def solve(story, question):
    """Answer a question of task 1, 2 or 3 by reading the sentences of a story in order; None where they do not tell."""
    where, holder, lying, trace = {}, {}, {}, {}
    for sentence in story:
        actor, verb, *rest = sentence.split()
        if rest[-2:-1] == ["the"] and verb in {"moved", "went", "journeyed", "travelled"}:
            where[actor] = rest[-1]
            for thing in (thing for thing, hand in holder.items() if hand == actor):
                trace.setdefault(thing, []).append(rest[-1])
            continue
        thing = rest[-2] if rest[-1] == "there" else rest[-1]
        if verb in {"got", "grabbed", "took", "picked"}:
            holder[thing] = actor
            _extend(trace.setdefault(thing, []), where.get(actor))
        else:
            assert verb in {"dropped", "discarded", "left", "put"}, sentence
            holder.pop(thing, None)
            lying[thing] = where.get(actor)
            _extend(trace.setdefault(thing, []), where.get(actor))
    asked = question.split()
    if asked[1] == "was":
        places = trace[asked[3]]
        last = max(n for n, place in enumerate(places) if place == asked[-1])
        return places[last - 1] if last else None
    if asked[2] != "the":
        return where.get(asked[2])
    return where.get(holder[asked[3]]) if asked[3] in holder else lying.get(asked[3])


def _extend(places, place):
    if place is not None and (not places or places[-1] != place):
        places.append(place)
