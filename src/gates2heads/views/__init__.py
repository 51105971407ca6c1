"""Layer 5: live views, in JupyterLab, in Colab and in the built page, where no kernel runs."""

from gates2heads.views.attention_explorer.view import AttentionExplorer
from gates2heads.views.beam_laboratory.view import BeamLaboratory
from gates2heads.views.blind_comparison.view import BlindComparison, BlindPair
from gates2heads.views.cache_sizes.view import CacheSizes
from gates2heads.views.code_model.view import CodeModel
from gates2heads.views.embedding_map.view import EmbeddingMap
from gates2heads.views.fill_the_mask.view import FillTheMask, MaskExample
from gates2heads.views.find_the_answer.view import FindTheAnswer, PassageExample
from gates2heads.views.frame_viewer.view import FrameViewer
from gates2heads.views.gate_explorer.view import FoundUnit, GateExplorer
from gates2heads.views.head_explorer.view import HeadExplorer
from gates2heads.views.induction_heads.view import InductionHeads
from gates2heads.views.kit.view import ShowMe
from gates2heads.views.leaderboard.view import Contender, Leaderboard
from gates2heads.views.metric_bench.view import Judged, MetricBench
from gates2heads.views.model_walk.view import ModelWalk
from gates2heads.views.next_token.view import Column, NextToken
from gates2heads.views.pooling.view import Pooling
from gates2heads.views.predict.view import Guess, Predict, Question, predict
from gates2heads.views.scaling_explorer.view import ScaledRun, ScalingExplorer
from gates2heads.views.tokenizer_bench.view import TokenizerBench
from gates2heads.views.translate.view import Example, Translate
from gates2heads.views.unroller.view import Unroller

__all__ = [
    "AttentionExplorer",
    "BeamLaboratory",
    "BlindComparison",
    "BlindPair",
    "CacheSizes",
    "CodeModel",
    "Column",
    "Contender",
    "EmbeddingMap",
    "Example",
    "FillTheMask",
    "FindTheAnswer",
    "FoundUnit",
    "FrameViewer",
    "GateExplorer",
    "Guess",
    "HeadExplorer",
    "InductionHeads",
    "Judged",
    "Leaderboard",
    "MaskExample",
    "MetricBench",
    "ModelWalk",
    "NextToken",
    "PassageExample",
    "Pooling",
    "Predict",
    "Question",
    "ScaledRun",
    "ScalingExplorer",
    "ShowMe",
    "TokenizerBench",
    "Translate",
    "Unroller",
    "predict",
]
