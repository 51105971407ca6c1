"""Models of words: word2vec with its three outputs, GloVe, and counted vectors."""
