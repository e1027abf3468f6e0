import type { ConnectScript } from "../systems/wire.ts";

/** How far one caller has come with its steps. */
export class ConnectSteps {
  readonly #steps: ConnectScript["steps"];
  #sent = 0;
  /** All that has come and isn't used up by an answer. */
  #text = "";

  constructor({ steps }: ConnectScript) {
    this.#steps = steps;
  }

  /**
   * Takes the text of the next frame, and gives what is to be sent now. An answer may come in several frames, or together
   * with others in one.
   */
  take(text: string): string[] {
    this.#text += text;
    const due: string[] = [];
    while (this.#lastIsAnswered()) {
      const next = this.#steps[this.#sent];
      this.#sent++;
      if (next === undefined) break;
      due.push(next.send);
    }
    return due;
  }

  /** Whether every step was answered. */
  get done(): boolean {
    return this.#sent > this.#steps.length;
  }

  #lastIsAnswered(): boolean {
    if (this.#sent === 0) return true;
    const answer = this.#steps[this.#sent - 1]?.answer;
    if (answer === undefined) return false;
    const found = this.#text.indexOf(answer);
    if (found === -1) return false;
    this.#text = this.#text.slice(found + answer.length);
    return true;
  }
}
