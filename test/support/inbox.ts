/** Things that arrive from somewhere, in their order, for a test to wait for. Nothing that came early is lost. */
export class Inbox<Item> {
  /** Everything that ever came. */
  readonly all: Item[] = [];
  #read = 0;
  #watchers: (() => void)[] = [];

  push(item: Item): void {
    this.all.push(item);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }

  /** The oldest item that wasn't taken yet, as soon as there is one. */
  async next(): Promise<Item> {
    for (;;) {
      const item = this.all[this.#read];
      if (item !== undefined) {
        this.#read++;
        return item;
      }
      await this.#change();
    }
  }

  /** Waits until so many came in all, and gives them: more than asked for, where more came. */
  async count(least: number): Promise<readonly Item[]> {
    while (this.all.length < least) await this.#change();
    return [...this.all];
  }

  /** The first item ever that satisfies the condition, as soon as there is one. */
  async first(isIt: (item: Item) => boolean): Promise<Item> {
    for (let index = 0; ; index++) {
      await this.count(index + 1);
      const item = this.all[index];
      if (item !== undefined && isIt(item)) return item;
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push(resolve);
    });
  }
}
