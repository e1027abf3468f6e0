import type {
  ChannelAnswer,
  ChannelAnswers,
  ChannelCommand,
  HistoryQuery,
  PublicationRequest,
} from "../../src/contract/channel-call.ts";
import { limits } from "../../src/limits.ts";
import type { JsonText } from "../../src/protocol/json/text.ts";
import { json } from "../../test/core/api/channel-config.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * Publishes through the HTTP API. A publish with a key is repeated until its outcome is known, and sometimes once more.
 */
export class Backend {
  readonly #context: WorldContext;
  readonly #backoffMs: () => number;
  readonly #repeats: () => boolean;
  /** The keys of publishes that are known to have succeeded. */
  readonly #keys: string[] = [];
  #published = 0;
  /** Publishes with a key that have no answer yet. */
  pending = 0;

  /** @param repeats whether a publish that succeeded is repeated */
  constructor(context: WorldContext, backoffMs: () => number, repeats: () => boolean) {
    this.#context = context;
    this.#backoffMs = backoffMs;
    this.#repeats = repeats;
  }

  /**
   * @param padding how many characters the data is longer than necessary
   * @returns the publication's data, which is JSON text
   */
  publish(channel: string, keyed: boolean, padding = 0): string {
    const data = this.#newData(padding);
    if (!keyed) this.#publishOnce(channel, requestOf(data));
    else {
      this.pending++;
      this.#note("invoke", channel, data);
      this.#publishUntilKnown(channel, requestOf(data, { idempotencyKey: data }), false);
    }
    return data;
  }

  /** Publishes with a version, once. A version that isn't newer than the last one is suppressed. */
  publishVersion(channel: string, version: number): void {
    this.#publishOnce(channel, requestOf(this.#newData(), { version: BigInt(version) }));
  }

  /**
   * Publishes other data with a key that was used before: the first publication counts, for as long as the key is
   * remembered.
   */
  reuseKey(channel: string, index: number): void {
    const idempotencyKey = this.#keys[index % Math.max(this.#keys.length, 1)];
    if (idempotencyKey === undefined) return;
    this.#publishOnce(channel, requestOf(this.#newData(), { idempotencyKey }));
  }

  /** Removes a channel's history. The outcome is ignored. */
  removeHistory(channel: string): void {
    this.#call(channel, { method: "history_remove" }, ignoreAnswer);
  }

  /** Reads a channel's history. The channel's host compares the answer with the model. */
  readHistory(channel: string, request: HistoryQuery): void {
    this.#call(channel, { method: "history", request }, ignoreAnswer);
  }

  #newData(padding = 0): JsonText {
    return json(`"api-${++this.#published}${".".repeat(padding)}"`);
  }

  #call(
    channel: string,
    command: ChannelCommand,
    answered: (answer: ChannelAnswer | undefined) => void,
  ): void {
    this.#context.network.call<readonly ChannelCommand[], ChannelAnswers>({
      kind: "api",
      from: "backend",
      to: channel,
      request: [command],
      waitMs: limits.objectAnswerMs,
      carryOut: (commands, answer) => this.#context.channel(channel).execute(commands, answer),
      answered: (answers) => {
        answered(answers?.outcome === "answers" ? answers.answers[0] : undefined);
      },
    });
  }

  #publishOnce(channel: string, request: JsonRequest): void {
    const { data } = request;
    this.#note("invoke", channel, data);
    this.#call(channel, { method: "publish", request }, (answer) => {
      const isPublished = this.#context.publicationLog.find(JSON.parse(data)) !== undefined;
      if (answer === undefined) this.#note("info", channel, data);
      // A version or a key that isn't new is answered with the position of the existing publication.
      else if ("error" in answer || !isPublished) this.#note("fail", channel, data);
      else this.#acknowledged(channel, data, answer.result);
    });
  }

  #publishUntilKnown(channel: string, request: JsonRequest, known: boolean): void {
    const { timeline } = this.#context;
    const { data } = request;
    this.#call(channel, { method: "publish", request }, (answer) => {
      const isAnswered = answer !== undefined && "result" in answer;
      if (isAnswered) this.#acknowledged(channel, data, answer.result);
      else if (answer !== undefined) this.#complain(`${data} was refused: ${answer.error.code}`);
      if (isAnswered && !known) {
        this.pending--;
        this.#keys.push(data);
      }
      if (isAnswered && !this.#repeats()) return;
      const isKnown = known || isAnswered;
      timeline.after(this.#backoffMs(), () => this.#publishUntilKnown(channel, request, isKnown));
    });
  }

  #acknowledged(channel: string, data: JsonText, result: string): void {
    const planned: { readonly offset?: number; readonly epoch?: string } = JSON.parse(result);
    this.#note("ok", channel, data, planned);
    const entry = this.#context.publicationLog.find(JSON.parse(data));
    const { position } = entry ?? {};
    if (entry === undefined) this.#complain(`${data} was acknowledged and never published`);
    else if (planned.offset !== position?.offset || planned.epoch !== position?.epoch) {
      const place = `${position?.epoch}:${position?.offset}`;
      this.#complain(
        `${data} was acknowledged at ${planned.epoch}:${planned.offset}, not at ${place}`,
      );
    }
  }

  #note(
    type: "invoke" | "ok" | "fail" | "info",
    channel: string,
    data: JsonText,
    planned: { readonly offset?: number; readonly epoch?: string } = {},
  ): void {
    const value: string = JSON.parse(data);
    const publish = { process: "backend", f: "publish", channel, value } as const;
    const { offset, epoch } = planned;
    const place = offset === undefined || epoch === undefined ? {} : { offset, epoch };
    if (type === "ok") this.#context.eventLog.note({ ...publish, type, ...place });
    else this.#context.eventLog.note({ ...publish, type });
  }

  #complain(what: string): void {
    this.#context.publicationLog.complain(what);
  }
}

/** A publication of the backend is JSON. */
type JsonRequest = PublicationRequest & { readonly data: JsonText };

function requestOf(
  data: JsonText,
  more: Partial<Omit<PublicationRequest, "data">> = {},
): JsonRequest {
  const plain = {
    skipHistory: false,
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };
  return { data, ...plain, ...more };
}

function ignoreAnswer(): void {
  // The answer needs no check here.
}
