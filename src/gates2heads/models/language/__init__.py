"""Language models: which token comes next."""
