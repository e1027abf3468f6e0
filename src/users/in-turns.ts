/**
 * Asks about each item, for so many of them at a time.
 *
 * @param ask  asks about one, and calls back when that is answered: at once, or in an event of its own
 * @param done called when all are answered
 */
export function forEachInTurns<Item>(
  items: readonly Item[],
  atATime: number,
  ask: (item: Item, answered: () => void) => void,
  done: () => void,
): void {
  const waiting = items.values();
  let missing = items.length;
  let underWay = 0;
  let isAsking = false;
  const answered = (): void => {
    missing--;
    underWay--;
    if (missing === 0) done();
    else askNext();
  };
  // A loop, because thousands of questions may be answered at once.
  const askNext = (): void => {
    if (isAsking) return;
    isAsking = true;
    for (let next = nextOf(); next?.done === false; next = nextOf()) {
      underWay++;
      ask(next.value, answered);
    }
    isAsking = false;
  };
  const nextOf = (): IteratorResult<Item> | undefined =>
    underWay < atATime ? waiting.next() : undefined;
  if (missing === 0) done();
  else askNext();
}
