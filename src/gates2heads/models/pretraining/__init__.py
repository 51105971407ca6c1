"""Pre-trained models, which are fine-tuned on a task afterwards: ELMo, GPT, BERT and ERNIE."""
