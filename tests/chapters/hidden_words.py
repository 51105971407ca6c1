"""Does attention name the word that matters? Hide each source word in turn, and compare."""

import torch

from gates2heads.decoding.translation import write
from gates2heads.layers.masks import key_mask
from gates2heads.layers.record import record

CLEAR = 1.0  # nats that a written word must lose without some source word to be asked about


def groups(pieces: list[str]) -> list[list[int]]:
    """Places of the pieces of each word."""
    found: list[list[int]] = []
    for place, piece in enumerate(pieces):
        inside = piece[0].isalnum() and pieces[place - 1][-1].isalnum()
        if place and inside and piece != "<eos>":
            found[-1].append(place)
        else:
            found.append([place])
    return found


def log_probs(model, source, mask, target):
    """Teacher-forced log-probabilities (N, T) of one target under N masks over its source."""
    rows = len(mask)
    given = torch.tensor([[1, *target[:-1]]]).expand(rows, -1)
    memory = model._memory(model.encode(source.expand(rows, -1), mask=mask))
    vectors = model._embed(given, model.target_table)
    vectors = model._add_positions(vectors, model.target_positions, depth=0)
    for layer, read in zip(model.decoder_layers, memory, strict=True):
        vectors = layer(vectors, read, memory_mask=key_mask(mask))
    scores = model.readout(vectors).log_softmax(-1)
    return scores.gather(2, torch.tensor([target]).expand(rows, -1)[..., None])[..., 0]


@torch.no_grad()
def agreement(trained, texts: list[str]) -> dict[str, float]:
    """How often the largest weight of a written word lies on the word whose loss hurts it most."""
    model, tokenizer = trained.model, trained.source
    hits, asked = {}, 0
    for text in texts:
        source = tokenizer.encode(text)
        (target,) = write(model, [text], tokenizer, tokenizer, max_length=80).tokens.tolist()
        names = tokenizer.vocabulary.tokens
        read, written = ([names[n] for n in side] for side in (source, target))
        words = groups(read)[:-1]
        mask = torch.ones(1 + len(words), len(source), dtype=torch.bool)
        for row, places in enumerate(words, start=1):
            mask[row, places] = False
        with record(model) as trace:
            scores = log_probs(model, torch.tensor([source]), mask, target)
        layers = [
            trace[f"decoder_layers.{depth}.cross_attn"]["weights"][0][0] for depth in range(3)
        ]
        maps = {"last layer": layers[-1].mean(0), "all": torch.stack(layers).mean((0, 1))}
        maps |= {
            f"head {depth}.{head}": layer[head]
            for depth, layer in enumerate(layers)
            for head in range(len(layer))
        }
        for places in groups(written):
            lost = (scores[0] - scores[1:])[:, places].sum(1)
            if lost.max() < CLEAR:
                continue
            asked += 1
            for name, weights in maps.items():
                looked = torch.stack([weights[places][:, word].sum() for word in words])
                hits[name] = hits.get(name, 0) + int(looked.argmax() == lost.argmax())
    return {name: count / asked for name, count in hits.items()}
