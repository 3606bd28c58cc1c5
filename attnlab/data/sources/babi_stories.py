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

UNTOLD = -1
"""Number of the sentence that tells of an arrival, where none does."""

Arrival = tuple[str, int]
"""A place, and the number of the sentence that says so."""


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
        at: By actor, where they came to last.
        holder: Who has a thing.
        lies: Where a thing lies that nobody has: the arrival of who dropped it.
        handled: By thing, the number of the sentence that last took or dropped it.
        carried: By thing, where the actor who last took it went with it, in order.
    """

    random: Random
    sentences: list[str] = field(default_factory=list)
    at: dict[str, Arrival] = field(default_factory=dict)
    holder: dict[str, str] = field(default_factory=dict)
    lies: dict[str, Arrival] = field(default_factory=dict)
    handled: dict[str, int] = field(default_factory=dict)
    carried: dict[str, list[Arrival]] = field(default_factory=dict)

    @classmethod
    def with_things(cls, random: Random) -> "World":
        """Actors and things that are somewhere, which no sentence tells."""
        world = cls(random)
        world.at = {actor: (random.choice(PLACES), UNTOLD) for actor in ACTORS}
        world.lies = {thing: (random.choice(PLACES), UNTOLD) for thing in THINGS}
        return world

    def act(self) -> None:
        """Someone moves, takes or drops something, each as likely where it can be done."""
        while True:
            actor, verbs = self.random.choice(ACTORS), self.random.choice([MOVES, TAKES, DROPS])
            if verbs is MOVES:
                return self.move(actor)
            here = self.at[actor][0]
            near = [thing for thing, (place, _) in self.lies.items() if place == here]
            held = [thing for thing, hand in self.holder.items() if hand == actor]
            things = near if verbs is TAKES else held
            if things:
                return self.handle(actor, verbs, self.random.choice(things))

    def move(self, actor: str) -> None:
        """Someone goes somewhere else, with all that they have."""
        here = self.at.get(actor, ("", UNTOLD))[0]
        place = self.random.choice([place for place in PLACES if place != here])
        self.at[actor] = (place, len(self.sentences))
        for thing in [thing for thing, hand in self.holder.items() if hand == actor]:
            self.carried[thing].append(self.at[actor])
        self.sentences.append(f"{actor} {self.random.choice(MOVES)} to the {place}")

    def handle(self, actor: str, verbs: tuple[str, ...], thing: str) -> None:
        """Someone takes or drops a thing."""
        if verbs is TAKES:
            del self.lies[thing]
            self.holder[thing] = actor
            self.carried[thing] = []
        else:
            del self.holder[thing]
            self.lies[thing] = self.at[actor]
        self.handled[thing] = len(self.sentences)
        there = self.random.choice(["", " there"])
        self.sentences.append(f"{actor} {self.random.choice(verbs)} the {thing}{there}")

    def move_someone(self) -> None:
        """Any actor moves."""
        self.move(self.random.choice(ACTORS))

    def where_is_actor(self) -> Question:
        """Task 1: the last arrival of an actor."""
        actor = self.random.choice(list(self.at))
        place, arrival = self.at[actor]
        return Question(f"where is {actor}", place, (arrival,))

    def where_is_thing(self) -> Question | None:
        """Task 2: who last took or dropped a thing, and where they are or were then."""
        thing = self.random.choice(THINGS)
        holder = self.holder.get(thing)
        place, arrival = self.at[holder] if holder else self.lies[thing]
        if arrival == UNTOLD:
            return None
        return Question(f"where is the {thing}", place, tuple(sorted((self.handled[thing], arrival))))

    def where_was_thing(self) -> Question | None:
        """Task 3: where a thing was before its last carrier came somewhere with it; the last time, if more than once.

        As in the official files, the places are those that the carrier went to, not where it was taken, and a thing
        that is still in someone's hand is asked about only just after it came somewhere.
        """
        thing = self.random.choice(list(self.carried) or THINGS)
        places = self.carried.get(thing, [])
        if len(places) < 2 or (thing in self.holder and places[-1][1] < len(self.sentences) - 1):
            return None
        last = {place: n for n, (place, _) in enumerate(places)}
        n = self.random.choice([n for n in last.values() if n > 0])
        (before, earlier), (place, arrival) = places[n - 1 : n + 1]
        support = tuple(sorted((earlier, arrival, self.handled[thing])))
        return Question(f"where was the {thing} before the {place}", before, support)


def stories(task: int, random: Random) -> Iterator[tuple[list[str], list[tuple[int, Question]]]]:
    """Endless stories of a task, each with questions and how many sentences come before each question."""
    while True:
        world = World.with_things(random) if task > 1 else World(random)
        act, ask = {
            1: (world.move_someone, world.where_is_actor),
            2: (world.act, world.where_is_thing),
            3: (world.act, world.where_was_thing),
        }[task]
        asked: list[tuple[int, Question]] = []
        while len(asked) < QUESTIONS:
            for _ in range(STATEMENTS):
                act()
            question = ask()
            if question is not None:
                asked.append((len(world.sentences), question))
        yield world.sentences, asked
