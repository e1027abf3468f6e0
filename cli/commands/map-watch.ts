import { Centrifuge, type MapEntry, type MapUpdateContext } from "centrifuge";
import { type ClientOptions, clientToken, socketAddress } from "../connection/client-connection.ts";
import { ConnectAttempts } from "../connection/connect-attempts.ts";
import { observedSocket } from "../connection/observed-socket.ts";
import { printable, shown } from "../text/printable.ts";
import { exitCodes, type Shell } from "../shell.ts";

/** What a watch is asked for, beside the map. */
export interface MapWatchOptions extends ClientOptions {
  readonly pageSize?: number;
  /** After how many changes it ends. */
  readonly count?: number;
  readonly json?: boolean;
}

/** One run of `dormouse map watch`: a client that synchronises with a map, and what it prints. */
export class MapWatch {
  readonly #channel: string;
  readonly #options: MapWatchOptions;
  readonly #shell: Shell;
  #heard = 0;
  #finish: () => void = () => undefined;

  constructor(channel: string, options: MapWatchOptions, shell: Shell) {
    this.#channel = channel;
    this.#options = options;
    this.#shell = shell;
  }

  /** Resolves when the connection or the subscription has ended for good, or when enough was heard. */
  async watch(): Promise<void> {
    const address = socketAddress(this.#options, this.#shell);
    const token = await clientToken(this.#options, this.#shell);
    const attempts = new ConnectAttempts(address, this.#shell);
    const client = new Centrifuge(address, {
      websocket: observedSocket((cause) => attempts.socketFailed(cause)),
      ...(token !== undefined && { token }),
    });
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    client.on("connected", ({ client: id }) =>
      this.#print(
        { event: "connected", address, client: id },
        `connected to ${address}${attempts.connected()}`,
      ),
    );
    client.on("error", ({ error }) => attempts.failed(error.message));
    client.on("disconnected", ({ code, reason }) => {
      if (code !== 0) this.#fail(`disconnected: ${code} ${reason}`);
      this.#finish();
    });
    this.#subscribe(client);
    client.connect();
    await finished;
    client.disconnect();
  }

  #subscribe(client: Centrifuge): void {
    const channel = this.#channel;
    const { pageSize } = this.#options;
    const options = pageSize === undefined ? {} : { pageSize };
    const subscription = client.newMapSubscription(channel, options);
    subscription.on("subscribed", ({ recovered, streamPosition }) => {
      const how = recovered ? ", and recovered" : "";
      this.#print(
        { event: "subscribed", channel, recovered, position: streamPosition },
        `subscribed to ${shown(channel)}${how}`,
      );
    });
    subscription.on("sync", ({ entries }) => this.#synchronised(entries));
    subscription.on("update", (change) => this.#changed(change));
    subscription.on("unsubscribed", ({ code, reason }) => {
      if (code === 0) return;
      this.#fail(`not subscribed to ${channel}: ${code} ${reason}`);
      this.#finish();
    });
    subscription.on("error", ({ error }) =>
      this.#shell.note(printable(`can't subscribe to ${channel}: ${error.code} ${error.message}`)),
    );
    subscription.subscribe();
  }

  #synchronised(entries: readonly MapEntry[]): void {
    const channel = this.#channel;
    const told = entries.map(({ key, offset, data, tags }) => ({ key, offset, data, tags }));
    const count = `the map has ${entries.length} key${entries.length === 1 ? "" : "s"}`;
    const text = [count, ...entries.map((entry) => lineOf(entry))].join("\n");
    this.#print({ event: "sync", channel, entries: told }, text);
  }

  #changed(change: MapUpdateContext): void {
    const { key, offset, data, tags, removed = false } = change;
    const what = removed ? { removed } : { data };
    this.#print(
      { event: "update", channel: this.#channel, key, offset, ...what, tags },
      lineOf(change),
    );
    this.#heard++;
    if (this.#heard === this.#options.count) this.#finish();
  }

  #print(event: object, text: string): void {
    this.#shell.print(this.#options.json === true ? printable(JSON.stringify(event)) : text);
  }

  #fail(message: string): void {
    process.exitCode = exitCodes.refused;
    this.#shell.note(printable(message));
  }
}

/** A key as it is now. */
function lineOf({ key, offset, data, tags, removed = false }: MapUpdateContext): string {
  const words = [
    ...(offset === undefined ? [] : [String(offset)]),
    shown(key),
    removed ? "removed" : printable(JSON.stringify(data)),
    ...(tags === undefined ? [] : [shown(tags)]),
  ];
  return words.join(" ");
}
