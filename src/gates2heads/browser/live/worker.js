// What runs beside the page: the engine, and every task that a view may ask for.

import { serve } from "./serve.js";
import { findAnswer } from "./tasks/answer.js";
import { continueCode, readCode } from "./tasks/code.js";
import { countWords } from "./tasks/count.js";
import { fillText } from "./tasks/fill.js";
import { forceText } from "./tasks/forcing.js";
import { readGates } from "./tasks/gates.js";
import { showHeads } from "./tasks/heads.js";
import { drawOn, readAhead } from "./tasks/next_token.js";
import { readRepeats } from "./tasks/induction.js";
import { readText } from "./tasks/read.js";
import { searchText } from "./tasks/search.js";
import { translateText } from "./tasks/translate.js";
import { walkText } from "./tasks/walk.js";
import { askTable } from "./tasks/words.js";

// In the page itself there is no port of its own: who starts it there leaves one behind.
const port = globalThis.gates2heads_port ?? globalThis;
const tasks = {
  ahead: readAhead,
  answer: findAnswer,
  code: readCode,
  continue: continueCode,
  count: countWords,
  draw: drawOn,
  fill: fillText,
  forcing: forceText,
  gates: readGates,
  heads: showHeads,
  induction: readRepeats,
  read: readText,
  search: searchText,
  translate: translateText,
  walk: walkText,
  words: askTable,
};
if (port.postMessage) serve(port, tasks);
