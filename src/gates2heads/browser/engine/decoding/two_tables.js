// Two tables of probabilities on which greedy search misses the better sequence.

const TURN = { step: 2, token: 2 }; // C, written at step 2, brings in the second table

export const TABLES_START = { step: 0, second: false };

/** A step function; the second table holds from step 3 on, where C was written at step 2. */
export function twoTables(tables) {
  return ({ step, second }, last) => {
    const holds = second || (step === TURN.step && last === TURN.token);
    const column = tables[Number(holds)].map((row) => Math.log(row[step]));
    return { logProbs: Float64Array.from(column), state: { step: step + 1, second: holds } };
  };
}
