"""A published Llama, read from the files that the package transformers writes."""

import pytest
import torch
from safetensors.torch import save_file

from gates2heads.training.llama_files import read_llama

SIZES = {
    "vocab_size": 40,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32,
}


@pytest.mark.slow  # importing transformers alone takes seconds
@pytest.mark.parametrize("tied", [True, False])
def test_its_logits_and_its_continuation_are_those_of_transformers(tmp_path, tied):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        **SIZES,
        rms_norm_eps=1e-3,
        rope_theta=500.0,
        tie_word_embeddings=tied,
        initializer_range=0.3,
        eos_token_id=None,
    )
    twin = LlamaForCausalLM(config).eval()
    twin.save_pretrained(tmp_path)
    model = read_llama(tmp_path)
    tokens = torch.randint(0, 40, (1, 9), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        wanted = twin(tokens).logits
        torch.testing.assert_close(model.logits(tokens), wanted, rtol=1e-4, atol=1e-4)
        logits, state = model.extend(model.start(1), tokens)
        found = []
        for _ in range(12):
            found.append(int(logits[0, -1].argmax()))
            logits, state = model.extend(state, torch.tensor([[found[-1]]]))
        greedy = twin.generate(tokens, max_new_tokens=12, do_sample=False, pad_token_id=0)
    assert found == greedy[0, 9:].tolist()


def test_damaged_files_are_rejected_in_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^folder must hold a config\.json"):
        read_llama(tmp_path)
    config = tmp_path / "config.json"
    config.write_text("{", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"^folder must hold a model\.safetensors"):
        read_llama(tmp_path)
    parameters = tmp_path / "model.safetensors"
    parameters.write_bytes(b"no such format")
    with pytest.raises(ValueError, match=r"must hold settings in config\.json"):
        read_llama(tmp_path)
    config.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json, got a list"):
        read_llama(tmp_path)
    config.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"must hold parameters in model\.safetensors"):
        read_llama(tmp_path)
    save_file({"a": torch.ones(1)}, parameters)
    with pytest.raises(TypeError, match=r"num_attention_heads in config must"):
        read_llama(tmp_path)
    with pytest.raises(TypeError, match=r"folder must"):
        read_llama(3)
