// The largest few of many numbers, without sorting all of them.

/** The indices of the `count` largest numbers, the largest first; of equal ones the first. */
export function top(numbers, count) {
  const places = []; // ordered; the last is the smallest that is kept
  for (let i = 0; i < numbers.length; i += 1) {
    if (places.length === count && !(numbers[i] > numbers[places[count - 1]])) continue;
    if (places.length === count) places.pop();
    let at = places.length;
    while (at > 0 && numbers[i] > numbers[places[at - 1]]) at -= 1;
    places.splice(at, 0, i);
  }
  return places;
}
