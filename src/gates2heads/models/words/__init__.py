"""Word vectors: word2vec with its three outputs, GloVe, and count-based vectors."""
