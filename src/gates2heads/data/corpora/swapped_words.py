"""Pairs of prefixes with different next words: which context does a model need to distinguish them?

Written for this book. The last two words of both prefixes are the same, so that a trigram model
cannot distinguish them. Each word is scored after both prefixes, so that its overall frequency has
no effect.
"""

from typing import NamedTuple


class Swap(NamedTuple):
    """Two prefixes with the same last words, and their next words."""

    first: str
    fits_first: str
    second: str
    fits_second: str


_LINES = """
A surfer in a wetsuit is on the | wave
A cyclist in a helmet is on the | road
A cook in an apron stands in the | kitchen
A farmer in a hat stands in the | field
The swimmer jumps into the | pool
The skier jumps into the | snow
A pitcher on the field throws the | ball
A child with a dog throws the | stick
A fisherman on a boat is holding a | fish
A singer on a stage is holding a | microphone
Two men in uniforms are playing | soccer
Two men with instruments are playing | music
A woman at the stove is preparing | food
A woman at the piano is preparing | music
A painter with a brush is looking at the | painting
A tourist with a map is looking at the | map
A baby in a high chair is eating | cake
A horse behind a fence is eating | grass
A bride and groom are at their | wedding
Students with books are at their | desks
A man with a hammer is working on a | roof
A man with a computer is working on a | laptop
A boat with two people is in the | water
A car with two people is in the | street
A man with a guitar is sitting on a | stool
A girl with a backpack is sitting on a | bench
A skateboarder does a trick on a | ramp
A gymnast does a trick on a | beam
A snowboarder is in the air above the | snow
A surfer is in the air above the | water
A train with many passengers is at the | station
A plane with passengers is at the | airport
A dog with a tennis ball runs through the | grass
A man in a suit runs through the | city
A waiter with a tray is in a | restaurant
A doctor with a mask is in a | hospital
A drummer in a band is playing the | drums
A pianist in a suit is playing the | piano
A woman in a bikini is lying on the | beach
A man in a suit is lying on the | couch
A hockey player falls on the | ice
A motorcycle rider falls on the | dirt
A basketball player shoots the | ball
A soldier in a field shoots the | gun
A child in a swimming pool is wearing | goggles
A child in the snow is wearing | boots
A man on a bicycle is wearing a | helmet
A man at a wedding is wearing a | suit
A cowboy with a hat is riding a | horse
A girl with a helmet is riding a | bike
A climber with a rope is on a | cliff
A sailor with a rope is on a | boat
A teacher with students is in the | classroom
A hiker with a backpack is in the | mountains
A woman with scissors is cutting | hair
A woman with a knife is cutting | vegetables
People with umbrellas walk in the | rain
People with skis walk in the | snow
A man with a rod is sitting by the | lake
A man with a coffee is sitting by the | table
"""


def _read(lines: str) -> tuple[Swap, ...]:
    parts = [part.strip() for line in lines.strip().split("\n") for part in line.split("|")]
    return tuple(Swap(*parts[start : start + 4]) for start in range(0, len(parts), 4))


SWAPS = _read(_LINES)
