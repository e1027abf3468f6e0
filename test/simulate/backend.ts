import type { ChannelAnswers, ChannelCommand } from "../../src/api/channel-command.ts";
import { limits } from "../../src/limits.ts";
import { json } from "../core/api/channel-config.ts";
import type { Setting } from "./setting.ts";

/** Publishes by the API. With a key it tries again until it knows that it was published, and now and then once more. */
export class Backend {
  readonly #setting: Setting;
  readonly #backoffMs: () => number;
  readonly #repeats: () => boolean;
  #published = 0;
  /** Keyed publishes that nobody has answered yet. */
  pending = 0;

  /** @param repeats whether it publishes again what was published */
  constructor(setting: Setting, backoffMs: () => number, repeats: () => boolean) {
    this.#setting = setting;
    this.#backoffMs = backoffMs;
    this.#repeats = repeats;
  }

  /** @returns its data, which is JSON text */
  publish(channel: string, keyed: boolean): string {
    const data = json(`"api-${++this.#published}"`);
    const command: ChannelCommand = {
      method: "publish",
      request: {
        data,
        skipHistory: false,
        idempotencyKey: keyed ? data : "",
        version: 0n,
        versionEpoch: "",
        delta: false,
      },
    };
    if (keyed) this.pending++;
    this.#send(channel, command, data, keyed);
    return data;
  }

  /** Removes what is kept of a channel. Whether that arrives is nobody's concern. */
  removeHistory(channel: string): void {
    this.#setting.network.call<readonly ChannelCommand[], ChannelAnswers>({
      kind: "api",
      from: "backend",
      to: channel,
      request: [{ method: "history_remove" }],
      gateMs: 0,
      waitMs: limits.objectAnswerMs,
      carryOut: (commands, answer) => this.#setting.channel(channel).execute(commands, answer),
      answered: nobodyWaits,
    });
  }

  #send(channel: string, command: ChannelCommand, data: string, keyed: boolean): void {
    const { network, timeline } = this.#setting;
    network.call<readonly ChannelCommand[], ChannelAnswers>({
      kind: "api",
      from: "backend",
      to: channel,
      request: [command],
      gateMs: 0,
      waitMs: limits.objectAnswerMs,
      carryOut: (commands, answer) => this.#setting.channel(channel).execute(commands, answer),
      answered: (answers) => {
        const [answer] = answers?.outcome === "answers" ? answers.answers : [];
        if (answer !== undefined && "result" in answer) this.#acknowledged(data, answer.result);
        else if (answer !== undefined) this.#complain(`${data} was refused: ${answer.error.code}`);
        const isDone = answer !== undefined && !this.#repeats();
        if (!keyed) return;
        if (isDone) this.pending--;
        else timeline.after(this.#backoffMs(), () => this.#send(channel, command, data, keyed));
      },
    });
  }

  #acknowledged(data: string, result: string): void {
    const told: { readonly offset?: number; readonly epoch?: string } = JSON.parse(result);
    const entry = this.#setting.ledger.find(JSON.parse(data));
    const { position } = entry ?? {};
    if (entry === undefined) this.#complain(`${data} was acknowledged and never published`);
    else if (told.offset !== position?.offset || told.epoch !== position?.epoch) {
      const place = `${position?.epoch}:${position?.offset}`;
      this.#complain(`${data} was acknowledged at ${told.epoch}:${told.offset}, not at ${place}`);
    }
  }

  #complain(what: string): void {
    this.#setting.ledger.complain(what);
  }
}

function nobodyWaits(): void {
  // Not every answer is of interest.
}
