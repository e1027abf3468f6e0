import { Centrifuge } from "centrifuge";
import { useEffect, useRef, useState } from "preact/hooks";

/** A frame of the connection. */
interface ShownFrame {
  readonly number: number;
  readonly atMs: number;
  /** From here to the server. */
  readonly isSent: boolean;
  readonly text: string;
}

/** The onlooker of a user, and what the operator does with it (rule N19). */
export interface UserConnection {
  /** A sentence on how the connection is; "" without one. */
  readonly state: string;
  /** Newest first. */
  readonly frames: readonly ShownFrame[];
  readonly subscribe: (channel: string) => void;
}

/** Connects as a user by the official client; "" for nobody. */
export function useUser(user: string): UserConnection {
  const client = useRef<Centrifuge>(undefined);
  const [state, setState] = useState("");
  const [frames, setFrames] = useState<readonly ShownFrame[]>([]);
  useEffect(() => {
    if (user === "") return undefined;
    const note = (isSent: boolean, data: unknown) =>
      setFrames((before) => [
        { number: (before[0]?.number ?? 0) + 1, atMs: Date.now(), isSent, text: String(data) },
        ...before.slice(0, framesMax - 1),
      ]);
    const address = new URL("/console/connect", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    address.searchParams.set("user", user);
    const made = new Centrifuge(address.href, { websocket: recordedSocket(note) });
    made.on("connecting", ({ reason }) => setState(`Connecting as ${user}: ${reason}.`));
    made.on("connected", ({ client: id }) =>
      setState(`Connected as ${user}, as the client ${id}.`),
    );
    made.on("disconnected", ({ code, reason }) =>
      setState(`Disconnected with code ${code}: ${reason}.`),
    );
    made.connect();
    client.current = made;
    return () => {
      client.current = undefined;
      made.disconnect();
    };
  }, [user]);
  const subscribe = (channel: string) => {
    const known = client.current?.getSubscription(channel);
    (known ?? client.current?.newSubscription(channel))?.subscribe();
  };
  return { state, frames, subscribe };
}

/** A WebSocket that shows its frames. */
function recordedSocket(note: (isSent: boolean, data: unknown) => void): typeof WebSocket {
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
