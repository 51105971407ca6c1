// Single layers of the engine, built from an entry that holds their tensors.

export const layers = {};
