import { setTimeout as pause } from "node:timers/promises";

/**
 * A text that grows in a map of Dormouse. Each request says how long the text is before it, so that nothing is there
 * twice or missing, whatever was repeated or lost.
 */
export class GrowingText {
  #api;
  #place;
  /** All of the text that this process knows, and how much of it Dormouse has. */
  #text = "";
  #length = 0;

  /**
   * @param {import("./dormouse.js").DormouseApi} api
   * @param {{ channel: string, key: string }} place
   */
  constructor(api, place) {
    this.#api = api;
    this.#place = place;
  }

  get text() {
    return this.#text;
  }

  /**
   * Takes the text as it is in Dormouse, in place of what this process knows.
   *
   * @param quietMs how long nobody else must have appended anything
   */
  async read(quietMs) {
    for (;;) {
      const { channel, key } = this.#place;
      const { entries } = await this.#api.callUntilDone("map_read_state", { channel, key });
      this.#text = entries[0]?.data ?? "";
      this.#length = this.#text.length;
      await pause(quietMs);
      // What was appended last is read when its window is over. No text at this length asks whether there is more.
      const { suppress_reason: reason } = await this.#append("", false);
      if (reason !== "length_mismatch") return;
      await pause(100);
    }
  }

  /**
   * Appends pieces as they come, at most once in a period: what comes meanwhile goes together.
   *
   * @param {AsyncIterable<string>} pieces well-formed Unicode
   * @throws {TextClosed} if somebody else has ended the text, or writes it
   * @throws what reading the pieces throws, when those before are appended
   */
  async appendAll(pieces, periodMs = 100) {
    let waiting = Promise.withResolvers();
    let isOver = false;
    const reading = (async () => {
      for await (const piece of pieces) {
        this.#text += piece;
        waiting.resolve();
      }
    })().finally(() => {
      isOver = true;
      waiting.resolve();
    });
    reading.catch(() => undefined); // It is awaited below, unless Dormouse refuses a piece before.
    for (let isLast = false; !isLast;) {
      if (!isOver) await waiting.promise;
      waiting = Promise.withResolvers();
      isLast = isOver;
      await Promise.all([this.#send(), isLast ? undefined : pause(periodMs)]);
    }
    await reading;
  }

  /** Ends the text: nothing can be appended after it. */
  async end() {
    await this.#send({ final: true });
  }

  async #send({ final = false } = {}) {
    for (;;) {
      const text = this.#text.slice(this.#length);
      if (text === "" && !final) return;
      const { suppressed, suppress_reason: reason, length } = await this.#append(text, final);
      if (!suppressed) {
        this.#length += text.length;
        return;
      }
      // Less than was acknowledged: a crash of Dormouse has lost what wasn't durable yet, and it comes again. More:
      // another process writes the same text.
      if (reason !== "length_mismatch" || length > this.#length) throw new TextClosed(reason);
      this.#length = length;
    }
  }

  #append(text, final) {
    const request = { ...this.#place, text, at: this.#length, final };
    return this.#api.callUntilDone("map_append", request);
  }
}

/** Somebody else has ended the text, such as a user who cancelled, or writes it. */
export class TextClosed extends Error {
  /** `final`, or `length_mismatch` if another process writes. */
  reason;

  constructor(reason) {
    super(`the text is closed: ${reason}`);
    this.reason = reason;
  }
}
