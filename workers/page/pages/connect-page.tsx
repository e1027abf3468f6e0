import { useState } from "preact/hooks";
import { fieldOf, JsonField, jsonFault, Message, type PageProps } from "../parts.tsx";
import { time } from "../text.ts";
import { useUser } from "../user-connection.ts";

/** Connects as a user by the official client, and shows every frame in both directions. */
export function ConnectPage({ params }: PageProps) {
  const [user, setUser] = useState("");
  const { state, frames, subscribe, publish } = useUser(user);
  const [problem, setProblem] = useState("");
  const connect = (event: SubmitEvent) => {
    event.preventDefault();
    setUser(fieldOf(event, "user"));
  };
  const act = (work: (channel: string, data: string) => void) => (event: SubmitEvent) => {
    event.preventDefault();
    const data = fieldOf(event, "data");
    // A form without the field subscribes.
    const fault = data === "" ? "" : jsonFault("payload", data);
    setProblem(fault);
    if (fault === "") work(fieldOf(event, "channel"), data);
  };
  return (
    <>
      <h1>Connect as</h1>
      <p class="quiet">
        You are the user then, as with a token that says nothing else: what the user may do, you may
        do.
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
          <form onSubmit={act((channel) => subscribe(channel))}>
            <label for="as-channel">Channel</label>
            <input id="as-channel" name="channel" required />
            <button disabled={user === ""}>Subscribe</button>
          </form>
          <h2>Publish</h2>
          <form onSubmit={act(publish)}>
            <label for="as-target">Channel</label>
            <input id="as-target" name="channel" required />
            <JsonField id="as-data" name="data" label="Payload" rows={3} />
            <button disabled={user === ""}>Publish</button>
          </form>
          <Message text={problem} isProblem />
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
