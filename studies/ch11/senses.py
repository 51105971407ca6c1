"""Does an encoder that has read ordinary text separate the senses of a word? For section 11.11.

    export MINILM=FOLDER
    python -m studies.ch11.senses MiniLM --seeds 0
    python -m studies.ch11.senses untrained --seeds 0 1 2

FOLDER has `config.json`, `model.safetensors` and `tokenizer.json` of
`sentence-transformers/all-MiniLM-L6-v2` (Apache 2.0), an encoder with BERT's architecture. The
setting "untrained" has the same architecture with random parameters, which depend on the seed.

For each of 12 words, we wrote four sentences in each of two senses, before testing any of them. An
occurrence counts as correct if the most similar of the other seven has the same sense; a random one
has the same sense in 3 of 7 cases. `right` and `share` are the number and the percentage of correct
occurrences for three kinds of vectors: "word" is the vector of the word itself in each layer,
"others" the mean of the input embeddings of the other words of the sentence, and "others, last
layer" the mean of their contextual vectors. `bank` holds the cosine similarities of the word in the
four sentences of section 11.1.
"""

import hashlib
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertConfig, BertModel

from gates2heads.book.studies import Study

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BANK = (
    "Have you paid that money to the bank yet?",
    "It is safest to deposit your money in the bank.",
    "The victim was found lying dead on the river bank.",
    "They stood on the river bank to fish.",
)
SENTENCES = {
    "bank": (
        (
            "She opened an account at the bank on the corner.",
            "The bank raised the interest on its loans.",
            "He works as a cashier in a small bank.",
            "The robbers left the bank with two bags of cash.",
        ),
        (
            "Willows grow along the bank of the stream.",
            "We tied the boat to the bank and went ashore.",
            "Otters slid down the muddy bank into the water.",
            "The flood had washed away part of the bank.",
        ),
    ),
    "bat": (
        (
            "He swung the bat and missed the ball.",
            "The batter broke his wooden bat in the last inning.",
            "She polished her cricket bat before the match.",
            "They bought a new bat and two gloves for the team.",
        ),
        (
            "A bat hung upside down from the roof of the cave.",
            "The bat hunts moths at night by their echo.",
            "We found a young bat asleep in the attic.",
            "The bat spread its wings and flew into the dusk.",
        ),
    ),
    "spring": (
        (
            "The cherry trees bloom in spring.",
            "Last spring it rained for three weeks.",
            "The birds come back from the south every spring.",
            "She sows the seeds in spring, after the frost.",
        ),
        (
            "The spring in the mattress is broken.",
            "He stretched the steel spring with a weight.",
            "A small spring pushes the button back.",
            "The clock stopped because its spring was worn.",
        ),
    ),
    "match": (
        (
            "Our team lost the match by two goals.",
            "The referee stopped the match after the foul.",
            "Thousands of fans watched the final match.",
            "She won her first tennis match in straight sets.",
        ),
        (
            "He struck a match and lit the candle.",
            "The last match in the box was wet.",
            "A burning match fell on the dry straw.",
            "Light the stove with a match, not with paper.",
        ),
    ),
    "seal": (
        (
            "The seal dived under the ice for fish.",
            "A young seal lay on the rocks near the shore.",
            "The trainer threw a herring to the seal.",
            "Polar bears wait for a seal at its breathing hole.",
        ),
        (
            "The king pressed his seal into the wax.",
            "The letter was closed with a red seal.",
            "Do not open the bottle if the seal is broken.",
            "The notary put her seal on the contract.",
        ),
    ),
    "palm": (
        (
            "He held the coin in the palm of his hand.",
            "The fortune teller read the lines of her palm.",
            "The thorn went deep into my palm.",
            "She wiped the sweat from her palm.",
        ),
        (
            "A tall palm shaded the hotel pool.",
            "Coconuts fell from the palm onto the sand.",
            "The storm tore the leaves off the palm.",
            "They planted a palm in front of the villa.",
        ),
    ),
    "crane": (
        (
            "The crane lifted the steel beams to the tenth floor.",
            "A crane unloads containers in the harbour.",
            "The operator climbed into the cabin of the crane.",
            "They rented a crane to put the roof on the house.",
        ),
        (
            "A crane stood on one leg in the marsh.",
            "The crane builds its nest among the reeds.",
            "We heard the call of a crane flying south.",
            "The crane caught a frog with its long beak.",
        ),
    ),
    "mouse": (
        (
            "The cat chased the mouse across the kitchen.",
            "A mouse has eaten the cheese in the cellar.",
            "The owl carried a mouse to its chicks.",
            "She is afraid of every spider and every mouse.",
        ),
        (
            "Click on the icon with the left button of the mouse.",
            "My laptop does not recognise the wireless mouse.",
            "Move the mouse to drag the window.",
            "He bought a keyboard and a mouse for his computer.",
        ),
    ),
    "plant": (
        (
            "Water the plant twice a week.",
            "This plant needs much sun and sandy soil.",
            "The plant on my desk has yellow leaves.",
            "Bees carry pollen from one plant to another.",
        ),
        (
            "The plant produces two thousand cars a day.",
            "Workers at the plant went on strike.",
            "The company closed its chemical plant in the north.",
            "The nuclear plant was shut down for repairs.",
        ),
    ),
    "bark": (
        (
            "The bark of the old oak is rough.",
            "Beetles live under the bark of dead trees.",
            "He carved his name into the bark.",
            "Cork is made from the bark of an evergreen.",
        ),
        (
            "The bark of the dog woke the children.",
            "We heard a loud bark behind the gate.",
            "The puppy answered with a high bark.",
            "The guard knew his terrier by its bark.",
        ),
    ),
    "cell": (
        (
            "The prisoner spent ten years in a narrow cell.",
            "A guard locked the door of the cell.",
            "The thief shared his cell with two others.",
            "From her cell the nun could see the convent garden.",
        ),
        (
            "The virus enters the cell and copies itself.",
            "Each cell contains the same genes.",
            "Under the microscope we saw a cell divide.",
            "A nerve cell can be a metre long.",
        ),
    ),
    "note": (
        (
            "He left a note on the fridge for his wife.",
            "The teacher wrote a note to her parents.",
            "I found a note in his pocket with an address.",
            "Leave me a note if you go out.",
        ),
        (
            "The singer held the high note for ten seconds.",
            "Every note on this piano is out of tune.",
            "The melody ends on a low note.",
            "The violinist played one wrong note.",
        ),
    ),
}


def vectors_of(model: BertModel, tokenizer: Tokenizer, sentence: str, word: str) -> dict:
    """Each representation (D,) of the word's occurrence in the sentence."""
    encoded = tokenizer.encode(sentence)
    if encoded.tokens.count(word) != 1:
        raise ValueError(f"sentence must contain {word!r} once, got {sentence!r}")
    place, last = encoded.tokens.index(word), len(encoded.tokens) - 1  # [CLS] … [SEP]
    others = [one for one in range(1, last) if one != place]
    tokens = torch.tensor([encoded.ids])
    layers = model(tokens, output_hidden_states=True).hidden_states
    embeddings = model.embeddings.word_embeddings(tokens)[0]
    found = {f"word, layer {depth}": layer[0, place] for depth, layer in enumerate(layers)}
    return found | {
        "others": embeddings[others].mean(0),
        "others, last layer": layers[-1][0, others].mean(0),
    }


def similarities(vectors: list[Tensor]) -> Tensor:
    """Cosine similarities (N, N) of N vectors (D,)."""
    unit = F.normalize(torch.stack(vectors), dim=-1)
    return unit @ unit.T


@torch.no_grad()
def run(setting: str, seed: int) -> dict:
    """Count the occurrences whose nearest other one has the same sense, for each word."""
    torch.set_num_threads(1)
    folder = Path(os.environ["MINILM"])
    weights = folder / "model.safetensors"
    if hashlib.sha256(weights.read_bytes()).hexdigest() != SHA256:
        raise ValueError(f"MINILM must name a folder with the released model, got {folder}")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    torch.manual_seed(seed)
    if setting == "MiniLM":
        model = BertModel.from_pretrained(folder, local_files_only=True).eval()
    else:
        model = BertModel(BertConfig.from_pretrained(folder)).eval()
    right = {}
    for word, senses in SENTENCES.items():
        rows = [vectors_of(model, tokenizer, one, word) for some in senses for one in some]
        sense = torch.arange(len(rows)) // len(senses[0])
        for name in rows[0]:
            alike = similarities([row[name] for row in rows]).fill_diagonal_(-2)
            same = sense[alike.argmax(dim=1)] == sense
            right.setdefault(name, {})[word] = int(same.sum())
    occurrences = sum(len(some) for senses in SENTENCES.values() for some in senses)
    grids = [vectors_of(model, tokenizer, one, "bank") for one in BANK]
    return {
        "right": right,
        "share": {name: 100 * sum(some.values()) / occurrences for name, some in right.items()},
        "occurrences": occurrences,
        "for_each_word": sum(len(some) for some in SENTENCES["bank"]),
        "parameters": sum(one.numel() for one in model.parameters()),
        "bank": {
            name: similarities([one[name] for one in grids]).tolist()
            for name in ("word, layer 0", "word, layer 6")
        },
    }


if __name__ == "__main__":
    Study("ch11/senses", run, ("MiniLM", "untrained")).main()
