"""Live views that work in JupyterLab, in Colab and in the built page, where no kernel runs."""

from gates2heads.display.widgets.attention_explorer import AttentionExplorer
from gates2heads.display.widgets.beam_laboratory import BeamLaboratory
from gates2heads.display.widgets.embedding_map import EmbeddingMap
from gates2heads.display.widgets.fill_the_mask import FillTheMask, MaskExample
from gates2heads.display.widgets.frame_viewer import FrameViewer
from gates2heads.display.widgets.gate_explorer import FoundUnit, GateExplorer
from gates2heads.display.widgets.head_explorer import HeadExplorer
from gates2heads.display.widgets.leaderboard import Contender, Leaderboard
from gates2heads.display.widgets.metric_bench import Judged, MetricBench
from gates2heads.display.widgets.model_walk import ModelWalk
from gates2heads.display.widgets.next_token import Column, NextToken
from gates2heads.display.widgets.pooling import Pooling
from gates2heads.display.widgets.predict import Guess, Predict, Question, predict
from gates2heads.display.widgets.translate import Example, Translate
from gates2heads.display.widgets.unroller import Unroller
from gates2heads.display.widgets.view import ShowMe

__all__ = [
    "AttentionExplorer",
    "BeamLaboratory",
    "Column",
    "Contender",
    "EmbeddingMap",
    "Example",
    "FillTheMask",
    "FoundUnit",
    "FrameViewer",
    "GateExplorer",
    "Guess",
    "HeadExplorer",
    "Judged",
    "Leaderboard",
    "MaskExample",
    "MetricBench",
    "ModelWalk",
    "NextToken",
    "Pooling",
    "Predict",
    "Question",
    "ShowMe",
    "Translate",
    "Unroller",
    "predict",
]
