/** What the way between a client and the server does to frames and streams. */
import type { Client } from "./client.ts";
import {
  judgeCompression,
  judgeSizes,
  judgeStream,
  type SizedMessage,
  type StreamOutcome,
} from "./judge-server.ts";
import { skipped } from "./findings.ts";
import { doctorLimits } from "./limits.ts";
import type { Run } from "./run.ts";
import { Lost, Stopped, within } from "./waiting.ts";

/** Checks whether the WebSocket is compressed when a client offers it. */
export async function checkCompression(run: Run): Promise<void> {
  const client = await run.client({ kind: "gateway" }, { offersCompression: true });
  run.found(judgeCompression(client.extensions, run.isDevelopment));
  run.end(client);
}

/** Checks whether large publications and large frames of clients come through. */
export async function checkSizes(run: Run): Promise<void> {
  const channel = run.channel("sizes");
  const client = await run.subscriber({ kind: "gateway" }, channel);
  const frame = await framePassed(run, client, channel);
  const receiver =
    frame.problem === "" ? client : await run.subscriber({ kind: "gateway" }, channel);
  run.found(judgeSizes([await publicationPassed(run, receiver, channel), frame]));
  run.end(client);
  run.end(receiver);
}

async function framePassed(run: Run, client: Client, channel: string): Promise<SizedMessage> {
  const { frameBytes: bytes } = doctorLimits;
  run.done.commands++;
  // Whatever the answer is: it came.
  const problem = await problemOf(client.command("presence_stats", { channel }, bytes));
  return { what: "a client's frame", bytes, problem };
}

async function publicationPassed(run: Run, client: Client, channel: string): Promise<SizedMessage> {
  const { publicationBytes: bytes } = doctorLimits;
  const message = (problem: string): SizedMessage => ({ what: "a publication", bytes, problem });
  try {
    const { number } = await run.publish(channel, bytes);
    return message(await problemOf(client.received(number)));
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return message(error instanceof Error ? error.message : String(error));
  }
}

/** Why something didn't come; "" if it came. */
async function problemOf(work: Promise<unknown>): Promise<string> {
  try {
    return (await work) === undefined ? "it was sent, and didn't come in 10 s" : "";
  } catch (error) {
    if (error instanceof Lost) return `the connection ended with code ${error.code}`;
    throw error;
  }
}

/** Checks whether a stream over HTTP comes at once and as it was sent, if the server has streams. */
export async function checkStream(run: Run): Promise<void> {
  if (run.opening === "by the API") {
    run.found(skipped("buffering", "no client may subscribe itself, as it must on a stream"));
    return;
  }
  for (const transport of ["http_stream", "sse"] as const) {
    const outcome = await streamOutcome(run, transport);
    if (outcome.outcome === "off") continue;
    run.found(judgeStream(outcome));
    return;
  }
  run.found(judgeStream({ outcome: "off" }));
}

async function streamOutcome(run: Run, transport: "http_stream" | "sse"): Promise<StreamOutcome> {
  const channel = run.channel(`stream-${transport}`);
  const abort = new AbortController();
  const frame = `${JSON.stringify({ id: 1, connect: {} })}\n${JSON.stringify({ id: 2, subscribe: { channel } })}`;
  const response = await within(
    fetch(`${run.httpAddressOf({ kind: "gateway" })}/${transport}`, {
      method: "POST",
      body: frame,
      headers: await run.tokenHeaders(),
      redirect: "manual",
      signal: AbortSignal.any([abort.signal, run.stop]),
    }),
    doctorLimits.streamLateMs,
    run.stop,
  ).catch(stoppedOr(run));
  try {
    if (response === undefined)
      return { outcome: "stream", transport, encoding: "", lateMs: undefined };
    if (response.status === 404) return { outcome: "off" };
    if (response.status !== 200 || response.body === null)
      return { outcome: "refused", status: response.status };
    const encoding = response.headers.get("Content-Encoding") ?? "";
    const text = new StreamText(response.body);
    if (!(await text.has('"connect":', run.stop)))
      return { outcome: "stream", transport, encoding, lateMs: undefined };
    if (!(await text.has('"subscribe":', run.stop))) return { outcome: "off" };
    const { number, sentAtMs } = await run.publish(channel);
    const isHere = await text.has(`"number":${number}`, run.stop);
    const lateMs = isHere ? performance.now() - sentAtMs : undefined;
    return { outcome: "stream", transport, encoding, lateMs };
  } finally {
    abort.abort();
  }
}

function stoppedOr(run: Run): (error: unknown) => undefined {
  return (error) => {
    if (run.stop.aborted || error instanceof Stopped) throw new Stopped();
    return undefined;
  };
}

/** The text of a stream, as it comes. */
class StreamText {
  #text = "";
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** Whether the stream has a text soon. */
  async has(part: string, stop: AbortSignal): Promise<boolean> {
    return (await within(this.#untilHas(part), doctorLimits.streamLateMs, stop)) ?? false;
  }

  async #untilHas(part: string): Promise<boolean> {
    while (!this.#text.includes(part)) {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
    return true;
  }
}
