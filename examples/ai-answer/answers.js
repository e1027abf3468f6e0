import { setTimeout as pause } from "node:timers/promises";
import { Chat } from "./chat.js";
import { GrowingText, TextClosed } from "./growing-text.js";
import { ModelFailure } from "./model.js";

/**
 * The answers that this process writes. Each has a job in a map of its own from before it begins until it is complete.
 * So the next process finds those that a crash has interrupted.
 */
export class Answers {
  #api;
  #model;
  /** What ends the request to the model, by the job's key. */
  #writing = new Map();

  /**
   * @param {import("./dormouse.js").DormouseApi} api
   * @param {import("./model.js").Model} model
   */
  constructor(api, model) {
    this.#api = api;
    this.#model = model;
  }

  /**
   * Begins to answer a question, once, however often it is asked with this ID.
   *
   * @returns why it doesn't; undefined if it does
   */
  async ask(chatId, id, question) {
    const chat = new Chat(this.#api, chatId);
    const turns = await chat.turns();
    if (!turns.has(id)) {
      if (this.#writing.size >= answersMax) return "too many questions are being answered";
      if (turns.size >= turnsMax) return "this chat is full: begin another one";
      const isBusy = [...turns.values()].some(({ status }) => status === "writing");
      if (isBusy) return "the question before is being answered";
    }
    const job = { chat: chatId, id, question, asked: Date.now() };
    const request = { channel: jobs, key: keyOf(job), data: job, key_mode: "if_new" };
    await this.#api.call("map_publish", request);
    await chat.add(job);
    void this.#write(job);
    return undefined;
  }

  /** Ends an answer where it is. */
  async cancel(chatId, id) {
    const chat = new Chat(this.#api, chatId);
    if (!(await chat.setStatus(id, "cancelled"))) return;
    // Whichever process writes the answer is told when it appends the next piece, and this one at once.
    await chat.end(id);
    this.#writing.get(keyOf({ chat: chatId, id }))?.abort();
  }

  /** Goes on with the answers that were being written when the process before ended. */
  async resume() {
    let cursor = "";
    do {
      const request = { channel: jobs, limit: 100, cursor };
      const page = await this.#api.callUntilDone("map_read_state", request);
      for (const { data } of page.entries) void this.#write(data);
      ({ cursor = "" } = page);
    } while (cursor !== "");
  }

  async #write(job) {
    const key = keyOf(job);
    if (this.#writing.has(key)) return;
    const control = new AbortController();
    this.#writing.set(key, control);
    try {
      // Where another process writes the same answer, this one sees to it that it is written to its end.
      for (let quietMs = 0; !(await this.#finish(job, control.signal, quietMs));)
        quietMs = takeoverMs;
      await this.#api.callUntilDone("map_remove", { channel: jobs, key });
    } catch (error) {
      console.error(`An answer is left for the next start: ${error.message}`);
    } finally {
      this.#writing.delete(key);
    }
  }

  /** @returns whether nothing is left to do */
  async #finish(job, signal, quietMs) {
    const { id } = job;
    const chat = new Chat(this.#api, job.chat);
    await chat.add(job);
    const text = new GrowingText(this.#api, chat.placeOf(id));
    await text.read(quietMs);
    const turns = await chat.turns();
    let status = "complete";
    try {
      if (turns.get(id).status === "writing")
        status = await this.#takeAnswer(turns, id, text, signal);
    } catch (error) {
      if (error.reason === "length_mismatch") return false;
      if (!(error instanceof TextClosed) && !signal.aborted) {
        console.error(`An answer has failed: ${error.message}`);
        status = "failed";
      }
    }
    await chat.end(id);
    await chat.setStatus(id, status);
    return true;
  }

  /** Lets the model write, and go on where it broke off. @returns the status of the answer */
  async #takeAnswer(turns, id, text, signal) {
    for (let failures = 0; ;) {
      const before = text.text.length;
      const request = new AbortController();
      try {
        const either = AbortSignal.any([signal, request.signal]);
        await text.appendAll(this.#model.complete(messagesOf(turns, id, text.text), either));
        await text.end();
        return "complete";
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        failures = text.text.length > before ? 1 : failures + 1;
        console.error(`${error.message} (${failures})`);
        if (!error.isTemporary || failures > triesMax) return "failed";
        const pauseMs = Math.max(250 * 2 ** failures, Math.min(error.retryAfterMs, 60_000));
        await pause(pauseMs, undefined, { signal });
      } finally {
        request.abort();
      }
    }
  }
}

/** The map of what is being written. */
const jobs = "writing:answers";

function keyOf({ chat, id }) {
  return `${chat}/${id}`;
}

/** Answers that one process writes at once, the questions of one chat, and tries without a further piece. */
const answersMax = 100;
const turnsMax = 100;
const triesMax = 5;

/** How long another process must have written nothing before this one takes an answer over. */
const takeoverMs = 3_000;

/** What the model is told: the chat up to the question, and the beginning of its answer, if there is one. */
function messagesOf(turns, id, text) {
  const messages = [];
  for (const [key, { question, answer }] of turns) {
    messages.push({ role: "user", content: question });
    if (key === id) break;
    if (answer !== "") messages.push({ role: "assistant", content: answer });
  }
  return text === "" ? messages : [...messages, { role: "assistant", content: text }];
}
