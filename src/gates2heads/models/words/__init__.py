"""Models of words: word2vec with its three outputs, and GloVe."""
