import { Centrifuge, type PublicationContext, type Subscription } from "centrifuge";
import { Command } from "commander";
import {
  type ClientOptions,
  clientToken,
  socketAddress,
  withClient,
} from "../connection/client-connection.ts";
import { type Arrival, observedSocket } from "../connection/observed-socket.ts";
import { ConnectAttempts } from "../connection/connect-attempts.ts";
import { printable, shown } from "../text/printable.ts";
import { exitCodes, paintOf, type Shell } from "../shell.ts";
import { type Position, position, wholeNumber } from "../text/values.ts";

interface ListenOptions extends ClientOptions {
  readonly delta?: boolean;
  readonly since?: Position;
  readonly recover?: boolean;
  readonly joins?: boolean;
  readonly count?: number;
  readonly json?: boolean;
}

/** `dormouse listen`: subscribes to channels and prints each publication on a line, until it is ended. */
export function listenCommand(shell: Shell): Command {
  const command = new Command("listen")
    .description("subscribe to channels and print each publication on a line")
    .argument("<channels...>", "the channels")
    .option("--delta", "ask for deltas, and show how many bytes each one takes")
    .option("--since <offset:epoch>", "recover the publications after this position", position)
    .option(
      "--recover",
      "recover after each lost connection, also where the namespace doesn't force it",
    )
    .option("--joins", "print joins and leaves as well")
    .option("--count <number>", "end after so many publications", wholeNumber(1));
  return withClient(command)
    .option("--json", "print each event as a line of JSON")
    .addHelpText(
      "after",
      `
A line is the channel, the offset and the payload as JSON.

Examples:
  dormouse listen news
  dormouse listen news --url https://dormouse.example.com --token "$(dormouse token ada)"
  dormouse listen scores --delta
  dormouse listen news --since 42:aBcD --count 1 --json`,
    )
    .action(async (channels: readonly string[], options: ListenOptions) => {
      await new Listener(channels, options, shell).listen();
    });
}

/** One run of the command: a client, its subscriptions, and what they print. */
class Listener {
  readonly #channels: readonly string[];
  readonly #options: ListenOptions;
  readonly #shell: Shell;
  readonly #arrivals = new Map<number, Arrival>();
  #heard = 0;
  #finish: () => void = () => undefined;

  constructor(channels: readonly string[], options: ListenOptions, shell: Shell) {
    this.#channels = channels;
    this.#options = options;
    this.#shell = shell;
  }

  /** Resolves when the connection has ended for good, or when enough was heard. */
  async listen(): Promise<void> {
    const address = socketAddress(this.#options, this.#shell);
    const token = await clientToken(this.#options, this.#shell);
    const attempts = new ConnectAttempts(address, this.#shell);
    const client = new Centrifuge(address, {
      websocket: observedSocket(
        (cause) => attempts.socketFailed(cause),
        (offset, arrival) => this.#note(offset, arrival),
      ),
      ...(token !== undefined && { token }),
    });
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    client.on("connected", ({ client: id, transport }) =>
      this.#print(
        { event: "connected", address, client: id, transport },
        `connected to ${address}${attempts.connected()}`,
      ),
    );
    client.on("error", ({ error }) => attempts.failed(error.message));
    client.on("disconnected", ({ code, reason }) => {
      if (code !== 0) this.#fail(`disconnected: ${code} ${reason}`);
      this.#finish();
    });
    for (const channel of this.#channels) this.#subscribe(client, channel);
    client.connect();
    await finished;
    client.disconnect();
  }

  #subscribe(client: Centrifuge, channel: string): void {
    const { delta, since, recover, joins } = this.#options;
    const subscription = client.newSubscription(channel, {
      ...(delta === true && { delta: "fossil" }),
      ...(since !== undefined && { since }),
      ...(recover === true && { recoverable: true }),
      ...(joins === true && { joinLeave: true }),
    });
    subscription.on("subscribed", ({ recovered, wasRecovering, streamPosition }) => {
      const lost = wasRecovering && !recovered;
      this.#print(
        { event: "subscribed", channel, recovered, wasRecovering, position: streamPosition },
        `subscribed to ${shown(channel)}${recovered ? ", and recovered" : ""}${lost ? ", and not recovered: publications are missing" : ""}`,
      );
    });
    subscription.on("unsubscribed", ({ code, reason }) => {
      if (code === 0) return;
      this.#fail(`not subscribed to ${channel}: ${code} ${reason}`);
      this.#finish();
    });
    subscription.on("error", ({ error }) =>
      this.#shell.note(printable(`can't subscribe to ${channel}: ${error.code} ${error.message}`)),
    );
    subscription.on("publication", (publication) => this.#heardOne(channel, publication));
    if (joins === true) this.#printJoins(subscription, channel);
    subscription.subscribe();
  }

  #printJoins(subscription: Subscription, channel: string): void {
    for (const event of ["join", "leave"] as const)
      subscription.on(event, ({ info }) =>
        this.#print(
          { event, channel, user: info.user, client: info.client },
          `${shown(channel)} ${event} ${info.user === "" ? "(anonymous)" : shown(info.user)} ${shown(info.client)}`,
        ),
      );
  }

  #note(offset: number, arrival: Arrival): void {
    // The SDK takes a frame's publications at once, so only the last frames' are needed.
    if (this.#arrivals.size > arrivalsMax) this.#arrivals.clear();
    this.#arrivals.set(offset, arrival);
  }

  #heardOne(channel: string, { offset, data, tags }: PublicationContext): void {
    const arrival = offset === undefined ? undefined : this.#arrivals.get(offset);
    const text = printable(JSON.stringify(data));
    const delta = arrival?.isDelta === true ? { delta: { bytes: arrival.bytes } } : {};
    const size = paintOf(this.#shell).faint(
      `(delta: ${arrival?.bytes} of ${Buffer.byteLength(text)} bytes)`,
    );
    const words = [shown(channel), ...(offset === undefined ? [] : [String(offset)]), text];
    if (tags !== undefined) words.push(shown(tags));
    if (arrival?.isDelta === true) words.push(size);
    this.#print({ event: "publication", channel, offset, data, tags, ...delta }, words.join(" "));
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

const arrivalsMax = 10_000;
