"""Sizes and training data of published models, as their developers report them.

Nothing here was measured by us. `source` names the entry of the bibliography in which the numbers
are found. Three rows need more than their own report. The parameters of GPT are those of the
equally large smallest model in Radford et al. 2019. That T5 sends each token through about half of
its parameters is said in Brown et al. 2020, appendix D. The context of LLaMA is that in table 1 of
Touvron et al. 2023 on Llama 2, and Chinchilla has the context of Gopher, whose architecture and
training it keeps.
"""

from typing import NamedTuple

BILLION, TRILLION = 10**9, 10**12
KILO = 1024  # a context of "128K" tokens


class PublishedModel(NamedTuple):
    """The size of a model and the data that it was trained on."""

    name: str
    year: int
    month: int  # of the first report
    kind: str  # "encoder", "encoder–decoder", "decoder" or "mixture of experts"
    parameters: int
    context: int  # the longest, in tokens
    new: str  # what distinguished the model when it appeared
    source: str  # key in the bibliography
    url: str
    tokens: int | None = None  # read in training, repetitions included; None if not published
    at_most: bool = False  # whether `tokens` is only an upper bound
    used: int | None = None  # parameters that one token passes through, if not all

    @property
    def per_token(self) -> int:
        """The parameters that process each token."""
        return self.parameters if self.used is None else self.used

    @property
    def ratio(self) -> float | None:
        """Training tokens for each parameter that processes them; None if not published."""
        return None if self.tokens is None else self.tokens / self.per_token

    @property
    def compute(self) -> float | None:
        """Floating-point operations of training, estimated as 6ND; None if not published."""
        return None if self.tokens is None else 6.0 * self.per_token * self.tokens

    @property
    def date(self) -> float:
        """The beginning of the month of the first report, in years."""
        return self.year + (self.month - 1) / 12


GPT = PublishedModel(
    "GPT", 2018, 6, "decoder", 117_000_000, 512,
    "a pre-trained decoder, fine-tuned for each task",
    "radford2018",
    "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
)  # fmt: skip
# 1,000,000 steps of 256 sequences; nine tenths of the steps had sequences shorter than 512.
BERT_LARGE = PublishedModel(
    "BERT-large", 2018, 10, "encoder", 340_000_000, 512,
    "masked tokens, context on both sides",
    "devlin2019", "https://arxiv.org/abs/1810.04805",
    tokens=1_000_000 * 256 * 512, at_most=True,
)  # fmt: skip
GPT2 = PublishedModel(
    "GPT-2", 2019, 2, "decoder", 1_542_000_000, 1024,
    "tasks without fine-tuning, stated in the prompt",
    "radford2019",
    "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf",
)  # fmt: skip
T5_11B = PublishedModel(
    "T5-11B", 2019, 10, "encoder–decoder", 11 * BILLION, 512,
    "every task maps text to text",
    "raffel2020", "https://arxiv.org/abs/1910.10683",
    tokens=TRILLION, used=11 * BILLION // 2,
)  # fmt: skip
GPT3 = PublishedModel(
    "GPT-3", 2020, 5, "decoder", 175 * BILLION, 2048,
    "few-shot prompting",
    "brown2020", "https://arxiv.org/abs/2005.14165",
    tokens=300 * BILLION,
)  # fmt: skip
GOPHER = PublishedModel(
    "Gopher", 2021, 12, "decoder", 280 * BILLION, 2048,
    "the effect of size, measured on 152 tasks",
    "rae2021", "https://arxiv.org/abs/2112.11446",
    tokens=300 * BILLION,
)  # fmt: skip
CHINCHILLA = PublishedModel(
    "Chinchilla", 2022, 3, "decoder", 70 * BILLION, 2048,
    "compute-optimal: the compute of Gopher, a quarter of its parameters",
    "hoffmann2022", "https://arxiv.org/abs/2203.15556",
    tokens=1_400 * BILLION,
)  # fmt: skip
PALM = PublishedModel(
    "PaLM", 2022, 4, "decoder", 540 * BILLION, 2048,
    "training on 6,144 chips",
    "chowdhery2022", "https://arxiv.org/abs/2204.02311",
    tokens=780 * BILLION,
)  # fmt: skip
LLAMA_65B = PublishedModel(
    "LLaMA-65B", 2023, 2, "decoder", 65_200_000_000, 2048,
    "public data only; parameters released for research",
    "touvron2023llama", "https://arxiv.org/abs/2302.13971",
    tokens=1_400 * BILLION,
)  # fmt: skip
LLAMA2_70B = PublishedModel(
    "Llama 2 70B", 2023, 7, "decoder", 70 * BILLION, 4096,
    "released with a chat model trained on human preferences",
    "touvron2023", "https://arxiv.org/abs/2307.09288",
    tokens=2 * TRILLION,
)  # fmt: skip
LLAMA3_405B = PublishedModel(
    "Llama 3 405B", 2024, 7, "decoder", 405 * BILLION, 128 * KILO,
    "several languages, code and tool use; long context",
    "grattafiori2024", "https://arxiv.org/abs/2407.21783",
    tokens=15_600 * BILLION,
)  # fmt: skip
DEEPSEEK_V3 = PublishedModel(
    "DeepSeek-V3", 2024, 12, "mixture of experts", 671 * BILLION, 128 * KILO,
    "a mixture of experts, trained with 8-bit floating-point numbers",
    "deepseek2024v3", "https://arxiv.org/abs/2412.19437",
    tokens=14_800 * BILLION, used=37 * BILLION,
)  # fmt: skip
QWEN3_235B = PublishedModel(
    "Qwen3-235B", 2025, 5, "mixture of experts", 235 * BILLION, 128 * KILO,
    "reasoning before the answer can be switched on and off",
    "qwen2025", "https://arxiv.org/abs/2505.09388",
    tokens=36 * TRILLION, used=22 * BILLION,
)  # fmt: skip
PUBLISHED_SIZES = (
    GPT, BERT_LARGE, GPT2, T5_11B, GPT3, GOPHER, CHINCHILLA, PALM, LLAMA_65B, LLAMA2_70B,
    LLAMA3_405B, DEEPSEEK_V3, QWEN3_235B,
)  # fmt: skip
