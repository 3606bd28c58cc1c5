"""A small world in the manner of bAbI's first three tasks (Weston et al. 2015): who went where with what."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

ACTORS = ("mary", "john", "daniel", "sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
THINGS = ("football", "apple", "milk")
MOVES = ("moved", "went", "went back", "journeyed", "travelled")
TAKES = ("got", "grabbed", "took", "picked up")
DROPS = ("dropped", "discarded", "left", "put down")

QUESTIONS = 5
"""Asked about each story."""

STATEMENTS = 2
"""Made before each question, or before the next attempt at one."""

HANDLING = 0.6
"""How often an actor who could take or drop something does, rather than move."""


@dataclass(frozen=True)
class Question:
    """A question about a story so far.

    Attributes:
        text: In lower case, without its question mark.
        answer: A place.
        support: Numbers of the sentences that the answer follows from, rising.
    """

    text: str
    answer: str
    support: tuple[int, ...]


@dataclass
class World:
    """What is the case after some sentences.

    Attributes:
        random: Decides what happens.
        sentences: The story so far, without full stops.
        arrival: By actor, the place and the number of the sentence that says so.
        holder: Who has a thing.
        lies: Where a thing lies that nobody has, and the arrival of who dropped it; where it was first is untold.
        handled: By thing, the number of the sentence that last took or dropped it.
        trace: By thing, the places that sentences tell it was at, in order, each with the arrival that tells it.
    """

    random: Random
    sentences: list[str] = field(default_factory=list)
    arrival: dict[str, tuple[str, int]] = field(default_factory=dict)
    holder: dict[str, str] = field(default_factory=dict)
    lies: dict[str, tuple[str, int]] = field(default_factory=dict)
    handled: dict[str, int] = field(default_factory=dict)
    trace: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def move(self) -> None:
        """Someone goes somewhere else, with all that they have."""
        actor = self.random.choice(ACTORS)
        here = self.arrival.get(actor, (None, 0))[0]
        place = self.random.choice([place for place in PLACES if place != here])
        self.arrival[actor] = (place, len(self.sentences))
        for thing in [thing for thing, hand in self.holder.items() if hand == actor]:
            self.trace[thing].append(self.arrival[actor])
        self.sentences.append(f"{actor} {self.random.choice(MOVES)} to the {place}")

    def handle(self) -> None:
        """Someone takes or drops something, or else someone moves."""
        at = {actor: place for actor, (place, _) in self.arrival.items()}
        takes = [(actor, thing) for thing, (place, _) in self.lies.items() for actor in at if at[actor] == place]
        drops = [(actor, thing) for thing, actor in self.holder.items()]
        if not (takes or drops) or self.random.random() > HANDLING:
            return self.move()
        actor, thing = self.random.choice(takes + drops)
        if (actor, thing) in takes:
            del self.lies[thing]
            self.holder[thing] = actor
            known = self.trace.setdefault(thing, [])
            if not known or known[-1][0] != at[actor]:
                known.append(self.arrival[actor])
            verb = self.random.choice(TAKES)
        else:
            del self.holder[thing]
            self.lies[thing] = self.arrival[actor]
            verb = self.random.choice(DROPS)
        self.handled[thing] = len(self.sentences)
        there = self.random.choice(["", " there"])
        self.sentences.append(f"{actor} {verb} the {thing}{there}")
        return None

    def where_is_actor(self) -> Question:
        """Task 1: the last arrival of an actor."""
        actor = self.random.choice(list(self.arrival))
        place, arrival = self.arrival[actor]
        return Question(f"where is {actor}", place, (arrival,))

    def where_is_thing(self) -> Question | None:
        """Task 2: who last took or dropped a thing, and where they are or were then."""
        thing = self.random.choice(THINGS)
        if thing not in self.trace:
            return None
        holder = self.holder.get(thing)
        place, arrival = self.arrival[holder] if holder else self.lies[thing]
        return Question(f"where is the {thing}", place, tuple(sorted((self.handled[thing], arrival))))

    def where_was_thing(self) -> Question | None:
        """Task 3: where a thing was before it came to where it is."""
        thing = self.random.choice(THINGS)
        if len(self.trace.get(thing, ())) < 2:
            return None
        (before, earlier), (place, later) = self.trace[thing][-2:]
        return Question(
            f"where was the {thing} before the {place}", before, tuple(sorted((earlier, later, self.handled[thing])))
        )


def stories(task: int, random: Random) -> Iterator[tuple[list[str], list[tuple[int, Question]]]]:
    """Endless stories of a task, each with questions and how many sentences come before each question."""
    while True:
        world = World(random)
        if task > 1:
            world.lies = {thing: (random.choice(PLACES), -1) for thing in THINGS}
        act, ask = {
            1: (world.move, world.where_is_actor),
            2: (world.handle, world.where_is_thing),
            3: (world.handle, world.where_was_thing),
        }[task]
        asked: list[tuple[int, Question]] = []
        while len(asked) < QUESTIONS:
            for _ in range(STATEMENTS):
                act()
            question = ask()
            if question is not None:
                asked.append((len(world.sentences), question))
        yield world.sentences, asked
