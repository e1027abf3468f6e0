/**
 * A chat: a map of Dormouse with two keys for each question. `ID` has the question and the status of its answer, and
 * `ID/text` the answer, which grows.
 */
export class Chat {
  #api;
  #channel;

  /**
   * @param {import("./dormouse.js").DormouseApi} api
   * @param {string} id the random part of the channel's name
   */
  constructor(api, id) {
    this.#api = api;
    this.#channel = `chat:${id}`;
  }

  /** Where the answer to a question is. */
  placeOf(id) {
    return { channel: this.#channel, key: `${id}/text` };
  }

  /** The questions with their answers so far, the oldest first. */
  async turns() {
    const values = new Map();
    let cursor = "";
    do {
      const request = { channel: this.#channel, limit: 1_000, cursor };
      const page = await this.#api.callUntilDone("map_read_state", request);
      for (const { key, data } of page.entries) values.set(key, data);
      ({ cursor = "" } = page);
    } while (cursor !== "");
    const turns = [...values].filter(([key]) => !key.endsWith("/text"));
    turns.sort(([, one], [, other]) => one.asked - other.asked);
    return new Map(
      turns.map(([id, turn]) => [id, { ...turn, answer: values.get(`${id}/text`) ?? "" }]),
    );
  }

  /** Adds a question, once. */
  async add({ id, question, asked }) {
    const data = { question, asked, status: "writing" };
    await this.#api.callUntilDone("map_publish", {
      channel: this.#channel,
      key: id,
      data,
      key_mode: "if_new",
    });
  }

  /** Ends the text of an answer where it is: nothing can be appended after it. */
  async end(id) {
    await this.#api.callUntilDone("map_append", { ...this.placeOf(id), text: "", final: true });
  }

  /**
   * Sets the status of an answer that was being written. One that has another status keeps it.
   *
   * @returns whether there is such a question
   */
  async setStatus(id, status) {
    const request = { channel: this.#channel, key: id };
    for (;;) {
      const { entries } = await this.#api.callUntilDone("map_read_state", request);
      if (entries.length === 0) return false;
      const [{ data, offset }] = entries;
      if (data.status !== "writing") return true;
      const change = { ...request, data: { ...data, status }, if_offset: offset };
      const { suppressed } = await this.#api.callUntilDone("map_publish", change);
      if (!suppressed) return true;
    }
  }
}
