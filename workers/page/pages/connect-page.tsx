import { useState } from "preact/hooks";
import { href } from "../hash-route.ts";
import { fieldOf, Message, type PageProps } from "../parts.tsx";
import { time } from "../text.ts";
import { useUser } from "../user-connection.ts";

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
