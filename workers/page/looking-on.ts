import { Centrifuge } from "centrifuge";
import { useEffect, useRef, useState } from "preact/hooks";
import { socketAddressAt } from "./server.ts";

/** Whose view an operator has. */
export interface View {
  /** "" for a client of an application of which nobody has signed in. */
  readonly user: string;
  /** The ID of the application whose clients speak the Pusher protocol; "" for the server's own protocol. */
  readonly app: string;
}

/** A frame of the connection. */
interface ShownFrame {
  readonly number: number;
  readonly atMs: number;
  /** From here to the server. */
  readonly isSent: boolean;
  readonly text: string;
}

/** An onlooker, and what the operator does with it (rules N19 and N32). */
export interface LookingOn {
  /** A sentence on how the connection is; "" without one. */
  readonly state: string;
  /** Newest first. */
  readonly frames: readonly ShownFrame[];
  readonly subscribe: (channel: string) => void;
}

/** A connection that is open, or about to be. */
interface Connection {
  readonly subscribe: (channel: string) => void;
  readonly close: () => void;
}

/** What a connection reports. */
interface Reports {
  readonly says: (state: string) => void;
  readonly note: (isSent: boolean, data: unknown) => void;
}

/** Looks on as somebody, as long as there is a view. */
export function useLookingOn(view: View | undefined): LookingOn {
  const connection = useRef<Connection>(undefined);
  const [state, says] = useState("");
  const [frames, setFrames] = useState<readonly ShownFrame[]>([]);
  useEffect(() => {
    if (view === undefined) return undefined;
    const note = (isSent: boolean, data: unknown) =>
      setFrames((before) => [
        { number: (before[0]?.number ?? 0) + 1, atMs: Date.now(), isSent, text: String(data) },
        ...before.slice(0, framesMax - 1),
      ]);
    const connect = view.app === "" ? connectOwn : connectPusher;
    const made = connect(view, { says, note });
    connection.current = made;
    return () => {
      connection.current = undefined;
      made.close();
    };
  }, [view]);
  return { state, frames, subscribe: (channel) => connection.current?.subscribe(channel) };
}

/** Connects as a user by the official client. */
function connectOwn({ user }: View, { says, note }: Reports): Connection {
  const address = socketAddressAt("connect");
  address.searchParams.set("user", user);
  const client = new Centrifuge(address.href, { websocket: recordedSocket(note) });
  client.on("connecting", ({ reason }) => says(`Connecting as ${user}: ${reason}.`));
  client.on("connected", ({ client: id }) => says(`Connected as ${user}, as the client ${id}.`));
  client.on("disconnected", ({ code, reason }) =>
    says(`Disconnected with code ${code}: ${reason}.`),
  );
  client.connect();
  return {
    subscribe: (channel) => {
      const known = client.getSubscription(channel);
      (known ?? client.newSubscription(channel)).subscribe();
    },
    close: () => client.disconnect(),
  };
}

/** Connects as a client of an application. Its protocol is a frame for each step, so there is no library here. */
function connectPusher({ user, app }: View, { says, note }: Reports): Connection {
  const address = socketAddressAt("connect");
  address.searchParams.set("app", app);
  if (user !== "") address.searchParams.set("user", user);
  const who = user === "" ? `a client of ${app}` : `${user} of ${app}`;
  const socket = new (recordedSocket(note))(address);
  const send = (event: string, data: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ event, data }));
  };
  // As Pusher's libraries do, so that the server knows that somebody is there.
  const pings = setInterval(() => send("pusher:ping", {}), pingMs);
  says(`Connecting as ${who}.`);
  socket.addEventListener("open", () => says(`Connected as ${who}.`));
  socket.addEventListener("close", ({ code, reason }) => {
    clearInterval(pings);
    says(`Disconnected with code ${code}${reason === "" ? "" : `: ${reason}`}.`);
  });
  return {
    subscribe: (channel) => send("pusher:subscribe", { channel }),
    close: () => socket.close(),
  };
}

/** A WebSocket that shows its frames. */
function recordedSocket(note: Reports["note"]): typeof WebSocket {
  return class extends WebSocket {
    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols);
      this.addEventListener("message", ({ data }) => note(false, data));
    }

    override send(data: Parameters<WebSocket["send"]>[0]): void {
      note(true, data);
      super.send(data);
    }
  };
}

const framesMax = 200;
/** Half of the time after which a client of the Pusher protocol that has heard nothing pings. */
const pingMs = 60_000;
