import type { ConnectScript } from "../systems/wire.ts";

/** The progress of one caller through its connect script. */
export class ConnectSteps {
  readonly #steps: ConnectScript["steps"];
  #sent = 0;
  /** The received text that no answer has used up. */
  #text = "";

  constructor({ steps }: ConnectScript) {
    this.#steps = steps;
  }

  /**
   * Takes the text of the next frame, and gives the frames to send now. An answer may come in several frames, or
   * together with others in one. The answers of a step that is repeated come in a frame each.
   */
  take(text: string): string[] {
    this.#text += text;
    const due: string[] = [];
    while (this.#lastIsAnswered()) {
      const again = this.#steps[this.#sent - 1]?.again?.(this.#text);
      if (again !== undefined) {
        this.#text = "";
        due.push(again);
        break;
      }
      const next = this.#steps[this.#sent];
      this.#sent++;
      if (next === undefined) break;
      due.push(next.send);
    }
    return due;
  }

  /** Whether every step is answered. */
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
