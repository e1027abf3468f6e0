import { EventSourceParserStream } from "eventsource-parser/stream";

/** A model behind the API of chat completions, which OpenAI, Mistral, vLLM, llama.cpp, Ollama and others have. */
export class Model {
  #address;
  #key;
  #options;

  /**
   * @param {string} address up to the version, such as `https://api.openai.com/v1`
   * @param {string} key     "" for none
   * @param {object} options of each request: `model`, and what else the API takes
   */
  constructor(address, key, options) {
    this.#address = address;
    this.#key = key;
    this.#options = options;
  }

  /**
   * Asks for a completion, and gives its text as it comes. A last message of the assistant is the beginning of the
   * answer, which the model goes on with.
   *
   * @param {{ role: string, content: string }[]} messages
   * @param {AbortSignal} signal ends the request
   * @param {number} idleMs      how long nothing may come
   * @throws {ModelFailure}
   */
  async *complete(messages, signal, idleMs = 60_000) {
    const idle = new AbortController();
    const timer = setTimeout(() => idle.abort(new Error(`nothing came in ${idleMs} ms`)), idleMs);
    try {
      const body = JSON.stringify({ ...this.#options, messages, stream: true });
      const response = await this.#post(body, AbortSignal.any([signal, idle.signal]));
      yield* wellFormed(contents(response.body, () => timer.refresh()));
    } catch (error) {
      if (error instanceof ModelFailure || signal.aborted) throw error;
      throw new ModelFailure(
        `the model's answer broke off: ${error.cause?.code ?? error.name}`,
        true,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #post(body, signal) {
    const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
    if (this.#key !== "") headers.Authorization = `Bearer ${this.#key}`;
    const address = `${this.#address}/chat/completions`;
    const response = await fetch(address, { method: "POST", headers, body, signal });
    if (response.ok) return response;
    await response.body?.cancel();
    const isTemporary = [408, 409, 429].includes(response.status) || response.status >= 500;
    const retryAfterMs = 1_000 * Number(response.headers.get("Retry-After") ?? 0) || 0;
    throw new ModelFailure(
      `the model answers with status ${response.status}`,
      isTemporary,
      retryAfterMs,
    );
  }
}

/** The pieces of text in a stream of server-sent events, up to the event that ends it. */
async function* contents(body, onEvent) {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  let reason;
  for await (const { data } of events) {
    onEvent();
    if (data === "[DONE]") break;
    const { choices = [], error } = JSON.parse(data);
    if (error !== undefined) throw new ModelFailure("the model has failed while it answered", true);
    const { delta, finish_reason: finished } = choices[0] ?? {};
    if (delta?.content) yield delta.content;
    reason = finished ?? reason;
  }
  // A connection that was cut looks like an end, but has no reason.
  if (reason === undefined) throw new ModelFailure("the model's answer broke off", true);
  if (reason === "length")
    throw new ModelFailure("the answer has the greatest length that the model allows", false);
  if (reason !== "stop") throw new ModelFailure(`the model has stopped: ${reason}`, false);
}

/** Pieces without half characters: some models cut a character in two, whose first half then waits for the second. */
async function* wellFormed(pieces) {
  let half = "";
  for await (const piece of pieces) {
    const text = half + piece;
    half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
    const whole = text.slice(0, text.length - half.length);
    if (whole !== "") yield whole.toWellFormed();
  }
}

/** The model hasn't written its answer to the end. */
export class ModelFailure extends Error {
  /** Whether asking again may help, and in how many ms at the earliest. */
  isTemporary;
  retryAfterMs;

  constructor(message, isTemporary, retryAfterMs = 0) {
    super(message);
    this.isTemporary = isTemporary;
    this.retryAfterMs = retryAfterMs;
  }
}
