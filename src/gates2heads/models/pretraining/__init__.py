"""Models that learn a language first and a task afterwards: ELMo, GPT, BERT and ERNIE."""
