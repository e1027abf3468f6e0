import { limits } from "../../../src/limits.ts";
import type { ClientPublishes, SentCommand } from "./client-publishes.ts";
import { frameLetters } from "./frame-plan.ts";
import { subscriptionTokenOf } from "./verifier.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * A client sends many commands in one frame. Of the replies it sees that each refresh got the end that its own token names,
 * that publications keep the order of the frame, and that no more calls are answered in one event than one turn may have
 * commands (rule B17). Each reply comes once: the client sees that of all its commands.
 */
export class ClientFrames {
  readonly #client: FramingClient;
  readonly #context: WorldContext;
  readonly #publishes: ClientPublishes;
  readonly #send: (commands: readonly SentCommand[]) => void;

  constructor(
    client: FramingClient,
    context: WorldContext,
    publishes: ClientPublishes,
    send: (commands: readonly SentCommand[]) => void,
  ) {
    this.#client = client;
    this.#context = context;
    this.#publishes = publishes;
    this.#send = send;
  }

  /** Sends one frame. @param letters its commands, see `frameLetters` */
  send(channel: string, letters: string): void {
    if (this.#client.connected === undefined || !this.#client.knows(channel)) return;
    const watch: FrameWatch = { moment: 0, calls: 0, published: [] };
    this.#send(
      Array.from(letters, (letter, index) => this.#command(channel, letter, index, watch)),
    );
  }

  #command(channel: string, letter: string, index: number, watch: FrameWatch): SentCommand {
    // Orders of a backend make tokens invalid, which ends the connection.
    const isToken = letter === frameLetters.token && this.#context.users === undefined;
    if (isToken) return this.#refresh(channel, index);
    if (letter === frameLetters.publish) return this.#publish(channel, index, watch);
    if (letter === frameLetters.history)
      return { command: { history: { channel, limit: 1 } }, answered: nothing };
    if (letter === frameLetters.presence)
      return { command: { presence: { channel } }, answered: nothing };
    const command = { rpc: { method: "no method", data: {} } };
    return { command, answered: (_, moment) => this.#noteCall(watch, moment) };
  }

  #publish(channel: string, index: number, watch: FrameWatch): SentCommand {
    const { data, command, answered } = this.#publishes.publish(channel);
    return {
      command,
      answered: (frame, moment) => {
        answered(frame, moment);
        if (frame.error === undefined) this.#noteOrder(data, index, watch);
      },
    };
  }

  /** Each token names another end, which the reply tells. */
  #refresh(channel: string, index: number): SentCommand {
    const { timeline } = this.#context;
    const atSeconds = Math.floor(timeline.nowMs / 1_000) + firstEndSeconds + index * stepSeconds;
    const { user } = this.#client;
    const claims = { user, channel, client: "", expireAtSeconds: atSeconds, override: {} };
    return {
      command: { sub_refresh: { channel, token: subscriptionTokenOf(claims) } },
      answered: ({ sub_refresh: refreshed }) => {
        // The client may have no subscription.
        if (refreshed === undefined) return;
        const endsAt = Math.floor(timeline.nowMs / 1_000) + (refreshed.ttl ?? 0);
        if (Math.abs(endsAt - atSeconds) > stepSeconds / 2)
          this.#complain(
            `refreshed with token ${index} of a frame until ${endsAt} not ${atSeconds}`,
          );
      },
    };
  }

  #noteCall(watch: FrameWatch, moment: number): void {
    watch.calls = watch.moment === moment ? watch.calls + 1 : 1;
    watch.moment = moment;
    if (watch.calls === limits.frameTurnCommands + 1)
      this.#complain(`was answered ${watch.calls} calls of a frame in one turn`);
  }

  #noteOrder(data: string, index: number, watch: FrameWatch): void {
    const place = this.#context.publicationLog.find(data)?.index;
    if (place === undefined) return;
    for (const other of watch.published)
      if (other.index < index !== other.place < place)
        this.#complain(`had ${data}, command ${index} of a frame, published at ${place}`);
    watch.published.push({ index, place });
  }

  #complain(what: string): void {
    this.#context.publicationLog.complain(`${this.#client.name} ${what}`);
  }
}

/** The client that sends them. */
interface FramingClient {
  readonly name: string;
  readonly user: string;
  readonly connected: object | undefined;
  knows(channel: string): boolean;
}

/** What is known of the replies to one frame. */
interface FrameWatch {
  /** The object's event in which a call was answered last, and how many were answered in it. */
  moment: number;
  calls: number;
  /** The publications that were acknowledged: the place of each in the frame, and in its channel. */
  readonly published: { readonly index: number; readonly place: number }[];
}

function nothing(): void {
  // The client sees that a reply comes, and comes once.
}

/** The first token of a frame ends its subscription so long after the frame, s: longer than any run. */
const firstEndSeconds = 1_000_000;
/** How much later the next one ends it: more than clocks of objects are wrong, s. */
const stepSeconds = 1_000;
