"""Recurrent layers: a state that is carried along a sequence, and gates that control it."""

from gates2heads.layers.recurrent.clamping import clamp_gates
from gates2heads.layers.recurrent.gru import GRU, ContextGRUCell, GRUCell, gru_step
from gates2heads.layers.recurrent.lstm import LSTM, LSTMCell, lstm_step
from gates2heads.layers.recurrent.rnn import RNN, RNNCell, rnn_step

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "ContextGRUCell",
    "GRUCell",
    "LSTMCell",
    "RNNCell",
    "clamp_gates",
    "gru_step",
    "lstm_step",
    "rnn_step",
]
