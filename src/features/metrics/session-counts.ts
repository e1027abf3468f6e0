import { namespaceLabel } from "../../channel/channel-name.ts";
import type { ChannelConfig } from "../../config/config.ts";
import type { SessionCounts } from "../../session/observer.ts";
import type { Counter, Counts } from "./counts.ts";
import type { DisconnectCode, ErrorCode, UnsubscribeCode } from "../../protocol/codes.ts";
import type { Command } from "../../protocol/command.ts";

/** Counts what the sessions of one object do (docs/metrics.md). */
export class CountedSessions implements SessionCounts {
  readonly #counts: Counts;
  readonly #config: ChannelConfig;
  /** By method: a command is counted by one addition. */
  readonly #commands = new Map<Command["method"], Counter>();

  constructor(counts: Counts, config: ChannelConfig) {
    this.#counts = counts;
    this.#config = config;
  }

  /** A client has sent a command. */
  command(method: Command["method"]): void {
    let counter = this.#commands.get(method);
    if (counter === undefined) {
      counter = this.#counts.counter("dormouse_client_commands_total", { method });
      this.#commands.set(method, counter);
    }
    counter.value++;
  }

  /** A command is answered with an error. */
  replyError(method: Command["method"], { code }: ErrorCode): void {
    this.#counts.add("centrifugo_client_num_reply_errors", { method, code });
  }

  /** A connect was accepted. */
  connected(): void {
    this.#counts.add("centrifugo_client_connections_accepted");
  }

  /** A connection has ended. */
  ended(): void {
    this.#counts.add("dormouse_client_connections_ended_total");
  }

  /** The server closes a connection. */
  disconnected({ code }: DisconnectCode): void {
    this.#counts.add("centrifugo_client_num_server_disconnects", { code });
  }

  /** The server ends a subscription. */
  unsubscribed({ code }: UnsubscribeCode): void {
    this.#counts.add("centrifugo_client_num_server_unsubscribes", { code });
  }

  /**
   * A subscription begins.
   *
   * @param recovery what came of its request to recover; undefined if it had none
   */
  subscribed(
    channel: string,
    recovery: { readonly recovered: boolean; readonly publications: number } | undefined,
  ): void {
    const labels = this.#labelsOf(channel);
    this.#counts.add("centrifugo_client_subscriptions_accepted", labels);
    if (recovery === undefined) return;
    const { recovered, publications } = recovery;
    const outcome = { recovered: recovered ? "yes" : "no", ...labels };
    this.#counts.add("centrifugo_client_recover", outcome);
    if (publications > 0)
      this.#counts.add("centrifugo_client_recovered_publications", labels, publications);
  }

  /** A client is sent a page of a map's state, or of its stream. */
  mapPage(channel: string, phase: "state" | "stream"): void {
    this.#counts.add("dormouse_map_pages_total", { phase, ...this.#labelsOf(channel) });
  }

  /** A client's synchronisation with a map ends. */
  mapSynchronised(channel: string, outcome: Parameters<SessionCounts["mapSynchronised"]>[1]): void {
    const labels = { outcome, ...this.#labelsOf(channel) };
    this.#counts.add("dormouse_map_synchronisations_total", labels);
  }

  #labelsOf(channel: string): { readonly channel_namespace: string } {
    return { channel_namespace: namespaceLabel(channel, this.#config) };
  }
}
