"""Which script makes a sample of which view, for the tests that drive samples."""

MADE_TOGETHER = "samples/together_samples.py"
# A widget of ipywidgets beside a view, which only a widget manager draws
LINKED = "samples/linked_samples.py"
# Script -> the one view that it makes
MADE_ALONE = {
    "views/find_the_answer/samples.py": "FindTheAnswer",
    "views/beam_laboratory/samples.py": "BeamLaboratory",
    "views/blind_comparison/samples.py": "BlindComparison",
    "views/leaderboard/samples.py": "Leaderboard",
    "views/cache_sizes/samples.py": "CacheSizes",
    "views/scaling_explorer/samples.py": "ScalingExplorer",
    "views/code_model/samples.py": "CodeModel",
    "views/fill_the_mask/samples.py": "FillTheMask",
    "views/gate_explorer/samples.py": "GateExplorer",
    "views/head_explorer/samples.py": "HeadExplorer",
    "views/induction_heads/samples.py": "InductionHeads",
    "views/translate/samples.py": "Translate",
    "views/next_token/samples.py": "NextToken",
    "views/attention_explorer/samples.py": "AttentionExplorer",
    "views/tokenizer_bench/samples.py": "TokenizerBench",
    "views/unroller/samples.py": "Unroller",
    "views/model_walk/samples.py": "ModelWalk",
    "views/embedding_map/samples.py": "EmbeddingMap",
}
# Views of which the script stores something else than their own sample does
OTHER_STATES = {
    "views/head_explorer/stored_samples.py": "HeadExplorer",
    "views/translate/stored_samples.py": "Translate",
}
