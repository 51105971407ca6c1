"""BERT and GPT beside 🤗 transformers, weights copied over, with their heads and their losses."""

import pytest
import torch

from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.gpt import GPT
from gates2heads.models.pretraining.heads import SentenceHead, TokenHead
from gates2heads.models.pretraining.masking import Masked
from gates2heads.training.losses import cross_entropy
from gates2heads.training.pretraining_losses import (
    answer_loss,
    label_loss,
    next_token_loss,
    pretraining_loss,
)

pytestmark = pytest.mark.slow  # importing transformers alone takes seconds

V, D, H, HIDDEN, DEPTH, LENGTH, CLASSES = 31, 12, 3, 23, 2, 13, 5
SIZES = {
    "d_model": D,
    "nhead": H,
    "num_layers": DEPTH,
    "dim_feedforward": HIDDEN,
    "dropout": 0.0,
    "max_length": LENGTH,
}
LENGTHS = [11, 7, 2]


def seeded(build):
    """Draw a model; biases and norms, which begin as 0 and 1, are drawn, too."""
    torch.manual_seed(3)
    model = build().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model


@pytest.fixture(scope="module")
def batch():
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(3, V, (len(LENGTHS), max(LENGTHS)), generator=generator)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    segments = (torch.arange(max(LENGTHS)) >= torch.tensor([5, 4, 1])[:, None]).long()
    return tokens.masked_fill(~mask, 0), segments, mask


def take(tensors, theirs, ours):
    return {
        f"{ours}.{kind}": tensors.pop(f"{theirs}.{kind}")
        for kind in ("weight", "bias")
        if f"{theirs}.{kind}" in tensors
    }


def bert_names(tensors, prefix="bert."):
    """BERT's weights, or their gradients, under our names."""
    tensors = dict(tensors)
    mapped = {}
    for theirs, ours in {
        "word_embeddings": "token_table",
        "token_type_embeddings": "segment_table",
    }.items():
        mapped |= take(tensors, f"{prefix}embeddings.{theirs}", ours)
    mapped["positions.table"] = tensors.pop(f"{prefix}embeddings.position_embeddings.weight")
    mapped |= take(tensors, f"{prefix}embeddings.LayerNorm", "norm")
    for number in range(DEPTH):
        theirs, ours = f"{prefix}encoder.layer.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            mapped[f"{ours}.self_attn.in_proj_{kind}"] = torch.cat(
                [
                    tensors.pop(f"{theirs}.attention.self.{part}.{kind}")
                    for part in ("query", "key", "value")
                ]
            )
        names = {
            "attention.output.dense": "self_attn.out_proj",
            "attention.output.LayerNorm": "self_residual.norm",
            "intermediate.dense": "feed_forward.linear1",
            "output.dense": "feed_forward.linear2",
            "output.LayerNorm": "feed_forward_residual.norm",
        }
        for there, here in names.items():
            mapped |= take(tensors, f"{theirs}.{there}", f"{ours}.{here}")
    return mapped, tensors


def bert_pretraining_names(tensors):
    mapped, rest = bert_names(tensors)
    mapped |= take(rest, "bert.pooler.dense", "pooler")
    mapped |= take(rest, "cls.seq_relationship", "next_readout")
    mapped |= take(rest, "cls.predictions.transform.dense", "transform")
    mapped |= take(rest, "cls.predictions.transform.LayerNorm", "transform_norm")
    mapped["readout_bias"] = rest.pop("cls.predictions.bias")
    assert not rest
    return mapped


def bert_config(transformers, **options):
    return transformers.BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=DEPTH,
        num_attention_heads=H,
        intermediate_size=HIDDEN,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=LENGTH,
        layer_norm_eps=1e-5,
        pad_token_id=V - 1,  # their padding row gets no gradient
        attn_implementation="eager",
        **options,
    )


def gradients(loss, *modules):
    named = {}
    for module in modules:
        named |= dict(module.named_parameters())
    found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {
        name: torch.zeros_like(parameter) if gradient is None else gradient
        for (name, parameter), gradient in zip(named.items(), found, strict=True)
    }


def in_order(named):
    return [named[name] for name in sorted(named)]


def test_bert_pretraining(transformers, parity, batch):
    tokens, segments, mask = batch
    tokens = tokens % (V - 1)
    theirs = seeded(lambda: transformers.BertForPreTraining(bert_config(transformers)))
    ours = BERT(V, **SIZES).double()
    ours.load_state_dict(bert_pretraining_names(theirs.named_parameters()))
    chosen = mask & (torch.rand(mask.shape, generator=torch.Generator().manual_seed(2)) < 0.4)
    chosen[0, 3] = True
    targets = (tokens + 7) % V
    follows = torch.tensor([True, False, True])
    answer = theirs(
        input_ids=tokens,
        token_type_ids=segments,
        attention_mask=mask.long(),
        labels=targets.masked_fill(~chosen, -100),
        next_sentence_label=follows.long(),
    )
    logits, pair = ours(tokens, segments=segments, mask=mask)
    masked = Masked(tokens, targets, chosen)
    loss = pretraining_loss(ours, masked, follows, segments=segments, mask=mask)
    parity(
        "BERT, both losses",
        "transformers BertForPreTraining",
        (
            [logits[mask], pair, loss],
            [answer.prediction_logits[mask], answer.seq_relationship_logits, answer.loss],
        ),
        (
            in_order(gradients(loss, ours)),
            in_order(bert_pretraining_names(gradients(answer.loss, theirs))),
        ),
    )
    hidden = theirs.bert(
        input_ids=tokens,
        token_type_ids=segments,
        attention_mask=mask.long(),
        output_hidden_states=True,
    ).hidden_states
    states = ours.states(tokens, segments=segments, mask=mask)
    assert len(states) == len(hidden) == DEPTH + 1
    torch.testing.assert_close(states[:, mask], torch.stack(hidden)[:, mask])


def sentence(transformers, batch):
    """A class for each pair: the hidden layer of the head is their pooler."""
    tokens, segments, mask = batch
    config = bert_config(transformers, num_labels=CLASSES)
    theirs = seeded(lambda: transformers.BertForSequenceClassification(config))
    labels = torch.tensor([4, 0, 2])
    answer = theirs(
        input_ids=tokens, token_type_ids=segments, attention_mask=mask.long(), labels=labels
    )
    head = SentenceHead(D, CLASSES, dropout=0.0).double()
    names = {"hidden": "bert.pooler.dense", "readout": "classifier"}

    def run(vectors):
        logits = head(vectors, mask=mask)
        return [logits], label_loss(logits, labels)

    return theirs, [answer.logits], answer.loss, head, names, run


def token(transformers, batch):
    tokens, segments, mask = batch
    config = bert_config(transformers, num_labels=CLASSES)
    theirs = seeded(lambda: transformers.BertForTokenClassification(config))
    labels = tokens % CLASSES
    answer = theirs(
        input_ids=tokens,
        token_type_ids=segments,
        attention_mask=mask.long(),
        labels=labels.masked_fill(~mask, -100),
    )
    head = TokenHead(D, CLASSES, dropout=0.0).double()

    def run(vectors):
        logits = head(vectors)
        return [logits[mask]], cross_entropy(logits, labels, mask=mask)

    return theirs, [answer.logits[mask]], answer.loss, head, {"readout": "classifier"}, run


def span(transformers, batch):
    tokens, segments, mask = batch
    theirs = seeded(lambda: transformers.BertForQuestionAnswering(bert_config(transformers)))
    first, last = torch.tensor([6, 4, 0]), torch.tensor([9, 4, 0])
    answer = theirs(
        input_ids=tokens,
        token_type_ids=segments,
        attention_mask=mask.long(),
        start_positions=first,
        end_positions=last,
    )
    head = AnswerHead(D).double()

    def run(vectors):
        logits = head(vectors)
        return [logits.first[mask], logits.last[mask]], answer_loss(logits, first, last)

    outputs = [answer.start_logits[mask], answer.end_logits[mask]]
    return theirs, outputs, answer.loss, head, {"readout": "qa_outputs"}, run


@pytest.mark.parametrize("task", [sentence, token, span])
def test_the_heads_on_bert(transformers, parity, batch, task):
    tokens, segments, mask = batch
    tokens = tokens % (V - 1)
    theirs, expected, their_loss, head, names, run = task(transformers, (tokens, segments, mask))
    ours = BERT(V, **SIZES).double()

    def renamed(tensors):
        mapped, rest = bert_names(tensors)
        tops = {}
        for here, there in names.items():
            tops |= take(rest, there, here)
        assert not rest
        return mapped, tops

    encoder, top = renamed(theirs.named_parameters())
    missing = ours.load_state_dict(encoder, strict=False).missing_keys
    assert all(name.startswith(("pooler", "next", "transform", "readout")) for name in missing)
    head.load_state_dict(top)
    outputs, loss = run(ours.encode(tokens, segments=segments, mask=mask))
    encoder, top = renamed(gradients(their_loss, theirs))
    mine = gradients(loss, ours, head)
    parity(
        f"BERT and {type(head).__name__}",
        f"transformers {type(theirs).__name__}",
        ([*outputs, loss], [*expected, their_loss]),
        (
            [mine[name] for name in [*sorted(encoder), *sorted(top)]],
            in_order(encoder) + in_order(top),
        ),
    )


def gpt_names(tensors, embedding, position):
    """GPT's weights, or their gradients, under our names; Conv1D keeps its matrix transposed."""
    tensors = dict(tensors)
    mapped = {
        "token_table.weight": tensors.pop(f"transformer.{embedding}.weight"),
        "positions.table": tensors.pop(f"transformer.{position}.weight"),
    }
    for number in range(DEPTH):
        theirs, ours = f"transformer.h.{number}", f"layers.{number}"
        norms = ("self_residual.norm", "feed_forward_residual.norm")
        for there, here in zip(("ln_1", "ln_2"), norms, strict=True):
            mapped |= take(tensors, f"{theirs}.{there}", f"{ours}.{here}")
        names = {
            "attn.c_attn": "self_attn.in_proj_",
            "attn.c_proj": "self_attn.out_proj.",
            "mlp.c_fc": "feed_forward.linear1.",
            "mlp.c_proj": "feed_forward.linear2.",
        }
        for there, here in names.items():
            mapped[f"{ours}.{here}weight"] = tensors.pop(f"{theirs}.{there}.weight").T
            mapped[f"{ours}.{here}bias"] = tensors.pop(f"{theirs}.{there}.bias")
    mapped |= take(tensors, "transformer.ln_f", "norm")
    assert not tensors
    return mapped


GPT_SIZES = {  # what both configurations call by the same names
    "vocab_size": V,
    "n_positions": LENGTH,
    "n_embd": D,
    "n_layer": DEPTH,
    "n_head": H,
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
}


def gpt2(transformers):
    config = transformers.GPT2Config(
        **GPT_SIZES,
        n_inner=HIDDEN,
        activation_function="gelu",
        bos_token_id=1,
        eos_token_id=2,
        attn_implementation="eager",
    )
    return seeded(lambda: transformers.GPT2LMHeadModel(config)), ("wte", "wpe"), HIDDEN


def gpt1(transformers):
    config = transformers.OpenAIGPTConfig(**GPT_SIZES, afn="gelu")
    model = seeded(lambda: transformers.OpenAIGPTLMHeadModel(config))
    for block in model.transformer.h:
        block.mlp.act = torch.nn.GELU()  # theirs is an approximation of it
    return model, ("tokens_embed", "positions_embed"), 4 * D


@pytest.mark.parametrize("form", [gpt2, gpt1])
def test_gpt(transformers, parity, batch, form):
    tokens, _, mask = batch
    theirs, tables, hidden = form(transformers)
    ours = GPT(V, **{**SIZES, "dim_feedforward": hidden}, norm_first=form is gpt2).double()
    ours.load_state_dict(gpt_names(theirs.named_parameters(), *tables))
    answer = theirs(
        input_ids=tokens,
        attention_mask=mask.long(),
        labels=tokens.masked_fill(~mask, -100),
    )
    loss = next_token_loss(ours, tokens, mask=mask)
    # Their own loss is rounded to single precision.
    torch.testing.assert_close(answer.loss.double(), loss, atol=1e-5, rtol=0)
    expected = torch.nn.functional.cross_entropy(
        answer.logits[:, :-1].transpose(1, 2), tokens[:, 1:].masked_fill(~mask[:, 1:], -100)
    )
    parity(
        f"GPT, {'pre' if form is gpt2 else 'post'}-norm",
        f"transformers {type(theirs).__name__}",
        ([ours(tokens)[mask], loss], [answer.logits[mask], expected]),
        (
            in_order(gradients(loss, ours)),
            in_order(gpt_names(gradients(expected, theirs), *tables)),
        ),
    )


def test_gpt_writes_what_generate_writes(transformers):
    from gates2heads.decoding.search import greedy

    theirs, tables, _ = gpt2(transformers)
    ours = GPT(V, **SIZES).double()
    ours.load_state_dict(gpt_names(theirs.named_parameters(), *tables))
    prompt = torch.tensor([[1, 5, 9], [1, 17, 3]])
    theirs.generation_config.pad_token_id = 0
    expected = theirs.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=7, do_sample=False
    )
    state = ours.start(2, prompt=prompt[:, :-1])
    output = greedy(ours.step, state, bos=prompt[:, -1], eos=2, max_length=7)
    assert torch.equal(output.tokens, expected[:, 3:])
