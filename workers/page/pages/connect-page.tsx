import { useState, useEffect, useRef } from "preact/hooks";
import { href } from "../hash-route.ts";
import { fieldOf, Message, type PageProps } from "../parts.tsx";
import { socketAddressAt } from "../server.ts";
import { time } from "../text.ts";
import { Centrifuge } from "centrifuge";

/** Looks on as a user by the official client, and shows every frame in both directions. */
export function ConnectPage({ params }: PageProps) {
  const [user, setUser] = useState("");
  const { state, frames, subscribe } = useUser(user);
  const connect = (event: SubmitEvent) => {
    event.preventDefault();
    setUser(fieldOf(event, "user"));
  };
  const subscribeTo = (event: SubmitEvent) => {
    event.preventDefault();
    subscribe(fieldOf(event, "channel"));
  };
  return (
    <>
      <h1>Connect as</h1>
      <p class="quiet">
        You are the user then, but only look on: you see what the user sees, as with a token that
        says nothing else, and nobody can tell. You aren't present, take no place of the user's, and
        mark nothing as delivered or read. A subscription about which a backend is asked is refused
        with 103. To publish, open the <a href={href("channels", {})}>channel</a>.
      </p>
      <form class="line" onSubmit={connect}>
        <label for="as-user">The user's ID</label>
        <input id="as-user" name="user" value={params.get("user") ?? ""} required />
        <button class="main-button">Connect</button>
        <button type="button" disabled={user === ""} onClick={() => setUser("")}>
          Disconnect
        </button>
      </form>
      <Message text={state} />
      <div class="columns">
        <section>
          <h2>Subscribe</h2>
          <form onSubmit={subscribeTo}>
            <label for="as-channel">Channel</label>
            <input id="as-channel" name="channel" required />
            <button disabled={user === ""}>Subscribe</button>
          </form>
        </section>
        <section>
          <h2>Frames</h2>
          <ol class="tail" aria-label="Frames, newest first" tabIndex={0}>
            {frames.map(({ number, atMs, isSent, text }) => (
              <li key={number}>
                <span class="quiet">
                  {time(atMs)} {isSent ? "sent" : "received"}
                </span>
                <code>{text}</code>
              </li>
            ))}
          </ol>
        </section>
      </div>
    </>
  );
}

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
function useUser(user: string): UserConnection {
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
    const address = socketAddressAt("connect");
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
