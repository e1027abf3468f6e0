import { connectFrame } from "../../../../src/features/pusher/codec.ts";
import type { JsonData } from "../../../../src/protocol/wire-value.ts";
import { uuidOfSocket } from "../../../../src/features/pusher/socket-id.ts";
import type { Socket } from "../socket.ts";
import type { WorldContext } from "../world-context.ts";
import { pusherApp, saidEvent } from "./pusher-kinds.ts";
import { PusherRoom } from "./pusher-room.ts";

/**
 * A client that speaks the Pusher protocol, as pusher-js does: it comes back when its connection ends, and subscribes anew.
 * Each user of presence channels is that of the client's traits.
 */
export class PusherClient {
  readonly name: string;
  readonly user: string;
  readonly #context: WorldContext;
  /** The gateway. */
  readonly #place: string;
  readonly #backoffMs: () => number;
  readonly #rooms = new Map<string, PusherRoom>();
  #socket: Socket | undefined;
  /** The connection's UUID; undefined before the server has told it. */
  #id: string | undefined;
  #isWanted = false;
  #sent = 0;
  #sentBefore = 0;
  /** How often the gateway had hibernated before the connection. */
  #evictionsBefore = 0;

  constructor({ name, user, place }: PusherTraits, context: WorldContext, backoffMs: () => number) {
    this.name = name;
    this.user = user;
    this.#place = place;
    this.#context = context;
    this.#backoffMs = backoffMs;
  }

  /** The connection, as the channels list it; undefined without one. */
  get connected(): { readonly id: string; readonly place: string } | undefined {
    return this.#id === undefined ? undefined : { id: this.#id, place: this.#place };
  }

  /** The rooms in which the client is, as far as it knows. */
  get live(): readonly PusherRoom[] {
    return [...this.#rooms.values()].filter(({ state }) => state === "on");
  }

  /** The rooms in which the client wants to be. */
  get wanted(): readonly PusherRoom[] {
    return this.#isWanted ? [...this.#rooms.values()].filter(({ wanted }) => wanted) : [];
  }

  connect(): void {
    this.#isWanted = true;
    if (this.#socket !== undefined) return;
    this.#evictionsBefore = this.#context.gateway(this.#place).evictions;
    const handover = { dialect: pusherApp.id, first: connectFrame("simulated", "1") };
    const socket: Socket = this.#context.gateway(this.#place).open(
      {
        receive: (frame) => {
          if (socket === this.#socket) this.#receive(frame);
        },
        closed: (code) => {
          if (socket === this.#socket) this.#closed(code);
        },
      },
      "client",
      handover,
    );
    this.#socket = socket;
  }

  disconnect(): void {
    this.#isWanted = false;
    this.#socket?.leave();
    this.#end();
  }

  /** The connection breaks. */
  breakLine(): void {
    this.#socket?.break();
  }

  enter(channel: string): void {
    const room = this.#room(channel);
    if (room.wanted) return;
    room.wanted = true;
    this.#ask(room);
  }

  exit(channel: string): void {
    const room = this.#room(channel);
    if (!room.wanted) return;
    room.wanted = false;
    if (room.state === "on") this.#leave(room);
  }

  #leave(room: PusherRoom): void {
    this.#send("pusher:unsubscribe", { channel: nameOf(room.channel) });
    room.end();
  }

  /** Sends an event to the others. */
  say(channel: string): void {
    if (this.#room(channel).state !== "on") return;
    const data = `${this.name}-${++this.#sent}`;
    this.#send(saidEvent, data, nameOf(channel));
  }

  #room(channel: string): PusherRoom {
    const { publicationLog } = this.#context;
    const room =
      this.#rooms.get(channel) ?? new PusherRoom(channel, this.name, this.user, publicationLog);
    this.#rooms.set(channel, room);
    return room;
  }

  #ask(room: PusherRoom): void {
    if (this.#id === undefined || room.state !== "off" || !room.wanted) return;
    room.state = "asking";
    const auth = `${pusherApp.key}:${"0".repeat(64)}`;
    const channel_data = JSON.stringify({ user_id: this.user, user_info: { of: this.name } });
    this.#send("pusher:subscribe", { channel: nameOf(room.channel), auth, channel_data });
  }

  #send(event: string, data: JsonData, channel?: string): void {
    this.#socket?.fromClient(
      JSON.stringify({ event, data, ...(channel !== undefined && { channel }) }),
    );
  }

  #receive(text: string): void {
    for (const line of text.split("\n")) {
      const frame: ReceivedFrame = JSON.parse(line);
      this.#take(frame);
    }
  }

  #take({ event, channel = "", data = "" }: ReceivedFrame): void {
    const room = this.#room(`${pusherApp.namespace}:${channel}`);
    switch (event) {
      case "pusher:connection_established": {
        const { socket_id }: { readonly socket_id: string } = JSON.parse(textOf(data));
        this.#id = uuidOfSocket(socket_id);
        for (const one of this.#rooms.values()) this.#ask(one);
        return;
      }
      case "pusher_internal:subscription_succeeded": {
        const { presence }: Succeeded = JSON.parse(textOf(data));
        room.begin(presence?.ids);
        // As pusher-js does, a client that has left meanwhile leaves now.
        if (!room.wanted) this.#leave(room);
        return;
      }
      case "pusher:subscription_error":
        room.end();
        this.#context.timeline.after(this.#backoffMs(), () => this.#ask(room));
        return;
      case "pusher_internal:member_added":
      case "pusher_internal:member_removed": {
        const { user_id }: { readonly user_id: string } = JSON.parse(textOf(data));
        const isUnsure = this.#context.gateway(this.#place).evictions > this.#evictionsBefore;
        if (event.endsWith("added")) room.added(user_id, isUnsure);
        else room.removed(user_id);
        return;
      }
      case saidEvent: {
        const [from = "", number = ""] = textOf(data).split("-");
        room.hear(from, Number(number), this.#sentBefore);
        return;
      }
      case "message":
        room.take(textOf(data));
        return;
      case "pusher:error":
        return;
      default:
        this.#context.publicationLog.complain(`${this.name} got ${event}`);
    }
  }

  #closed(code: number): void {
    this.#end();
    if (!this.#isWanted) return;
    if (code >= 4_000 && code < 4_100)
      this.#context.publicationLog.complain(`${this.name} was closed for good with ${code}`);
    this.#context.timeline.after(this.#backoffMs(), () => {
      if (this.#isWanted) this.connect();
    });
  }

  #end(): void {
    this.#socket = undefined;
    this.#id = undefined;
    this.#sentBefore = this.#sent;
    for (const room of this.#rooms.values()) room.disconnected();
  }
}

interface PusherTraits {
  readonly name: string;
  readonly user: string;
  readonly place: string;
}

interface ReceivedFrame {
  readonly event: string;
  readonly channel?: string;
  readonly data?: JsonData;
}

interface Succeeded {
  readonly presence?: { readonly ids: readonly string[] };
}

function textOf(data: JsonData | undefined): string {
  return typeof data === "string" ? data : JSON.stringify(data);
}

/** The name by which the application knows a channel. */
function nameOf(channel: string): string {
  return channel.slice(pusherApp.namespace.length + 1);
}
