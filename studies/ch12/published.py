"""The same parameters in the package transformers. Section 12.5 shows the results.

    pip install transformers
    python -m studies.ch12.published

"llama" is the released model of Python source, loaded into `LlamaForCausalLM`; "gpt2" a model of
GPT-2's block of the same width and depth with random parameters, loaded into `GPT2LMHeadModel`.
`difference` is the largest difference between two logits, `size` the largest of their magnitudes.
"""

import torch
import transformers

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.python_model import SIZES
from gates2heads.book.ch12.python_text import LENGTH, VOCABULARY
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.decoder_only import GPT2, DecoderOnly
from gates2heads.models.language.published import as_gpt2, as_llama


@torch.no_grad()
def run(setting: str, seed: int) -> dict:
    """Load one model into the published class, and compare the logits."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    tokens = torch.randint(3, VOCABULARY, (4, LENGTH))
    if setting == "llama":
        model = shipped("python_llama").model
        settings, tensors = as_llama(model)
        twin = transformers.LlamaForCausalLM(transformers.LlamaConfig(**settings))
    else:
        model = DecoderOnly(VOCABULARY, **{**SIZES, "num_key_value_heads": None}, **GPT2).eval()
        settings, tensors = as_gpt2(model)
        ends = {"bos_token_id": Vocabulary.bos, "eos_token_id": Vocabulary.eos}
        twin = transformers.GPT2LMHeadModel(transformers.GPT2Config(**settings, **ends))
    twin.load_state_dict(tensors)
    ours, theirs = model.logits(tokens), twin.eval()(tokens).logits
    return {
        "difference": (ours - theirs).abs().max().item(),
        "size": ours.abs().max().item(),
        "logits": ours.numel(),
        "transformers": transformers.__version__,
        "parameters": parameters(model),
    }


if __name__ == "__main__":
    Study("ch12/published", run, ("llama", "gpt2")).main()
