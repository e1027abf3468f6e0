import { errorCodes } from "../../../src/protocol/codes.ts";
import type { ReceivedFrame } from "./received-frame.ts";
import type { WorldContext } from "./world-context.ts";

/** A command, and what takes its reply. */
export interface SentCommand {
  readonly command: object;
  /** @param moment the event in which the object sent the reply, see `Timeline.moment` */
  readonly answered: (frame: ReceivedFrame, moment: number) => void;
}

/** What a client publishes. The outcome of each publish is noted for the checker. */
export class ClientPublishes {
  readonly #client: PublishingClient;
  readonly #context: WorldContext;
  /** Publishes without an answer yet: how each outcome is noted, by the data. */
  readonly #underWay = new Map<string, NoteOutcome>();
  #published = 0;

  constructor(client: PublishingClient, context: WorldContext) {
    this.#client = client;
    this.#context = context;
  }

  /** A publish that is about to be sent. */
  publish(channel: string): SentCommand & { readonly data: string } {
    const data = this.#newData();
    const { process } = this.#client.subscription(channel);
    const publish = { process, f: "publish", channel, value: data } as const;
    const sent = this.#sent(data, { channel, data }, (type) => {
      this.#context.eventLog.note({ ...publish, type });
    });
    return { ...sent, data };
  }

  /** A change of a map's key, which is set or removed, that is about to be sent. */
  change(channel: string, key: string, removes: boolean): SentCommand {
    const data = this.#newData();
    const { process } = this.#client.subscription(channel);
    const own = removes ? { removed: true } : { data };
    const value = removes ? {} : { value: data };
    const change = { process, f: "map-change", channel, change: data, key, ...value } as const;
    return this.#sent(data, { channel, type: 1, key, ...own }, (type) => {
      this.#context.eventLog.note({ ...change, type });
    });
  }

  /** The connection is gone: no outcome comes any more. */
  forget(): void {
    for (const note of this.#underWay.values()) note("info");
    this.#underWay.clear();
  }

  #newData(): string {
    return `${this.#client.name}-${++this.#published}`;
  }

  #sent(data: string, publish: object, note: NoteOutcome): SentCommand {
    note("invoke");
    this.#underWay.set(data, note);
    const sentAtMs = this.#context.timeline.nowMs;
    const answered = ({ error }: ReceivedFrame): void => {
      this.#underWay.delete(data);
      // SDKs have given up by then, and a publication that isn't delivered within 10 s no longer delays the reply (rule
      // B4).
      const isLate = this.#context.timeline.nowMs - sentAtMs >= replyTimeoutMs;
      const isUnknown = isLate || error?.code === errorCodes.internal.code;
      note(isUnknown ? "info" : error === undefined ? "ok" : "fail");
    };
    return { command: { publish }, answered };
  }
}

/** The client that publishes. */
interface PublishingClient {
  readonly name: string;
  subscription(channel: string): { readonly process: string };
}

/** Notes that a publish begins, or its outcome. */
type NoteOutcome = (type: "invoke" | "ok" | "fail" | "info") => void;

/** How long SDKs wait for a reply. */
export const replyTimeoutMs = 5_000;
