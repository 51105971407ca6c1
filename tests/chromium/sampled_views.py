"""Which script makes a sample of which view, for the tests that drive samples."""

MADE_TOGETHER = "widget_samples.py"
# A widget of ipywidgets beside a view, which only a widget manager draws
LINKED = "linked_samples.py"
# Script -> the one view that it makes
MADE_ALONE = {
    "answer_samples.py": "FindTheAnswer",
    "beam_samples.py": "BeamLaboratory",
    "blind_samples.py": "BlindComparison",
    "board_samples.py": "Leaderboard",
    "cache_samples.py": "CacheSizes",
    "scaling_samples.py": "ScalingExplorer",
    "code_samples.py": "CodeModel",
    "fill_samples.py": "FillTheMask",
    "gate_samples.py": "GateExplorer",
    "head_samples.py": "HeadExplorer",
    "induction_samples.py": "InductionHeads",
    "live_samples.py": "Translate",
    "next_token_samples.py": "NextToken",
    "reader_samples.py": "AttentionExplorer",
    "tokenizer_samples.py": "TokenizerBench",
    "unroller_samples.py": "Unroller",
    "walk_samples.py": "ModelWalk",
    "word_samples.py": "EmbeddingMap",
}
# A view of which the script stores something else than its own sample does
OTHER_STATES = {"stored_samples.py": "Translate"}
