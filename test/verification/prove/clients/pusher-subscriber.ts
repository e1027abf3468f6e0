import { createHmac } from "node:crypto";
import PusherClient, { type Channel } from "pusher-js";
import { channelText } from "../../../../src/features/pusher/signed-text.ts";
import { uuidOfSocket } from "../../../../src/features/pusher/socket-id.ts";
import { microseconds } from "../history/clock.ts";
import type { ClientRecorder } from "./client-recorder.ts";
import type { ClientsPlan, SubscriberPlan } from "./plan.ts";
import type { Subscriber } from "./subscriber.ts";
import { valueIn } from "./value.ts";

/** The application of the proof, and what its server signs with. */
export const provedApp = { id: "1001", key: "proof-key", namespace: "shop" } as const;
export const provedAppSecret = "pusher-secret-of-the-proof";

/** The channel on which the clients are members, each its own user. */
const room = "presence-room";

/**
 * A subscriber that uses pusher-js, which recovers nothing: each of its subscriptions begins anew. It is also a member of a
 * channel with all others of its kind, and fails if it is told of a member who is there already, or of the end of one who isn't.
 */
export class PusherSubscriber implements Subscriber {
  readonly process: string;
  readonly isPublishing = false;
  readonly wanted: number;
  readonly #plan: ClientsPlan;
  readonly #names: readonly string[];
  readonly #recorder: ClientRecorder;
  readonly #attached = new Set<string>();
  /** Who is in the room, as the client was told; undefined while it isn't there. */
  #members: Set<string> | undefined;
  readonly #everybody: number;
  #client: PusherClient | undefined;
  #isStopping = false;
  /** Of the connection; empty while there is none. */
  #id = "";

  constructor(plan: ClientsPlan, { process, channels }: SubscriberPlan, recorder: ClientRecorder) {
    this.process = process;
    // The last one is the room with everybody in it.
    this.wanted = channels.length + 1;
    this.#everybody = plan.subscribers.filter(({ kind }) => kind === "pusher").length;
    this.#plan = plan;
    this.#names = channels;
    this.#recorder = recorder;
  }

  get subscribed(): number {
    return this.#attached.size + (this.#members?.size === this.#everybody ? 1 : 0);
  }

  start(): void {
    const { hostname, port } = new URL(this.#plan.address);
    const client = new PusherClient(provedApp.key, {
      cluster: "none",
      wsHost: hostname,
      wsPort: Number(port),
      forceTLS: false,
      enabledTransports: ["ws"],
      // A connection that is silent for longer is dead.
      activityTimeout: this.#plan.pingIntervalMs,
      pongTimeout: 3_000,
      channelAuthorization: {
        endpoint: "",
        transport: "ajax",
        customHandler: ({ socketId, channelName }, done) => {
          const data = JSON.stringify({ user_id: this.process });
          const text = channelText(socketId, channelName, data);
          const signature = createHmac("sha256", provedAppSecret).update(text).digest("hex");
          done(null, { auth: `${provedApp.key}:${signature}`, channel_data: data });
        },
      },
    });
    client.connection.bind("connected", () => this.#connected(client.connection.socket_id));
    client.connection.bind("state_change", ({ previous }: { readonly previous: string }) => {
      if (previous === "connected") this.#disconnected();
    });
    // An attempt that fails is repeated, unless the server has said that it is in vain.
    client.connection.bind("disconnected", () => {
      if (!this.#isStopping)
        this.#recorder.fail(this.process, `was disconnected for good: ${told}`);
    });
    let told = "";
    client.connection.bind("error", ({ data }: { readonly data?: object }) => {
      told = JSON.stringify(data ?? {});
    });
    for (const name of this.#names)
      this.#follow(name, client.subscribe(name.slice(provedApp.namespace.length + 1)));
    this.#meet(client.subscribe(room));
    this.#client = client;
  }

  tick(): void {
    // It publishes nothing, and leaves no channel.
  }

  settle(): void {
    // Nothing is under way.
  }

  stop(): void {
    this.#isStopping = true;
    this.#client?.disconnect();
  }

  #follow(channel: string, subscription: Channel): void {
    const common = { process: this.process, type: "ok", channel } as const;
    subscription.bind("pusher:subscription_succeeded", () => {
      this.#attached.add(channel);
      const begun = { client: this.#id, recovering: false, recovered: false } as const;
      this.#recorder.record({ ...common, ...begun, time: microseconds(), f: "subscribe" });
    });
    subscription.bind("pusher:subscription_error", (error: object) =>
      this.#recorder.fail(this.process, `was refused ${channel}: ${JSON.stringify(error)}`),
    );
    subscription.bind_global((event: string, data: unknown) => {
      if (!event.startsWith("pusher:"))
        this.#recorder.deliver(this.process, microseconds(), channel, valueIn(data));
    });
  }

  #meet(subscription: Channel): void {
    subscription.bind(
      "pusher:subscription_succeeded",
      ({ members }: { readonly members: object }) =>
        (this.#members = new Set(Object.keys(members))),
    );
    subscription.bind("pusher:member_added", ({ id }: { readonly id: string }) => {
      if (this.#members?.has(id) === true)
        this.#recorder.fail(this.process, `was told twice that ${id} has come`);
      this.#members?.add(id);
    });
    subscription.bind("pusher:member_removed", ({ id }: { readonly id: string }) => {
      if (this.#members?.delete(id) === false)
        this.#recorder.fail(this.process, `was told that ${id} has gone, who wasn't there`);
    });
  }

  #connected(socketId: string): void {
    this.#id = uuidOfSocket(socketId) ?? socketId;
  }

  #disconnected(): void {
    this.#id = "";
    this.#members = undefined;
    const time = microseconds();
    for (const channel of this.#attached)
      this.#recorder.record({ time, process: this.process, type: "info", channel, f: "detach" });
    this.#attached.clear();
  }
}
