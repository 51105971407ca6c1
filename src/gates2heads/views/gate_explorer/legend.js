// The legend of the tape.

import { fullShade, GATES, NAMES } from "../kit/gates.js";
import { element } from "../kit/view.js";

/** What the bars of one unit and the shades of a quantity mean. */
export function legendOf(quantity, unit, isClamped) {
  const isGate = GATES.has(quantity);
  const scale = element("i", {
    class: isGate ? "g2h-scale g2h-half" : "g2h-scale",
    "aria-hidden": "true",
  });
  const [full, isOpen] = [fullShade(quantity), quantity === "cell"];
  const least = isGate ? "0" : `−${full}${isOpen ? " or less" : ""}`;
  const name = isOpen ? "cell state" : NAMES[quantity];
  const line = isClamped ? " Dashed line: no gate clamped." : "";
  return [
    `Bars: unit ${unit}, blue above zero, orange below.${line} Shades: the ${name} of several units, from ${least} `,
    scale,
    ` to ${full}${isOpen ? " or more" : ""}.`,
  ];
}
