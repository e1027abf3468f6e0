import { useState } from "preact/hooks";
import type { Settings } from "../answers.ts";
import { href } from "../hash-route.ts";
import { type LookingOn, useLookingOn, type View } from "../looking-on.ts";
import { fieldOf, Message, type PageProps } from "../parts.tsx";
import { time } from "../text.ts";

/** Looks on as a user, or as a client of an application that speaks the Pusher protocol, and shows every frame in both directions. */
export function ConnectPage({
  params,
  settings: { apps },
}: PageProps & { readonly settings: Settings }) {
  const [view, setView] = useState<View>();
  const [app, setApp] = useState(params.get("app") ?? "");
  const { state, frames, subscribe } = useLookingOn(view);
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
      <ViewForm
        apps={apps}
        user={params.get("user") ?? ""}
        app={app}
        chooseApp={setApp}
        isOn={view !== undefined}
        turn={setView}
      />
      <Message text={state} />
      <div class="columns">
        <section>
          <h2>Subscribe</h2>
          <form onSubmit={subscribeTo}>
            <label for="as-channel">
              {app === "" ? "Channel" : "Channel, as the application names it"}
            </label>
            <input id="as-channel" name="channel" required />
            <button disabled={view === undefined}>Subscribe</button>
          </form>
          {app !== "" && (
            <p class="quiet">
              No signature is needed for private-… and presence-…, and you are no member there.
            </p>
          )}
        </section>
        <section>
          <h2>Frames</h2>
          <FrameList frames={frames} />
        </section>
      </div>
    </>
  );
}

/** Asks whose view the operator wants. */
function ViewForm({
  apps,
  user,
  app,
  chooseApp,
  isOn,
  turn,
}: {
  readonly apps: Settings["apps"];
  /** Who is in the field at first. */
  readonly user: string;
  readonly app: string;
  readonly chooseApp: (app: string) => void;
  readonly isOn: boolean;
  readonly turn: (view: View | undefined) => void;
}) {
  const connect = (event: SubmitEvent) => {
    event.preventDefault();
    turn({ user: fieldOf(event, "user"), app });
  };
  return (
    <form class="fields" onSubmit={connect}>
      {apps.length > 0 && (
        <>
          <label for="as-app">Protocol</label>
          <select
            id="as-app"
            name="app"
            value={app}
            onChange={(event) => chooseApp(event.currentTarget.value)}
          >
            <option value="">Dormouse's own</option>
            {apps.map(({ id, key }) => (
              <option value={id} key={id}>
                Pusher: {id} (key {key})
              </option>
            ))}
          </select>
        </>
      )}
      <label for="as-user">
        {app === "" ? "The user's ID" : "The user who has signed in, if any"}
      </label>
      <input id="as-user" name="user" value={user} required={app === ""} />
      <span class="buttons">
        <button class="main-button">Connect</button>
        <button type="button" disabled={!isOn} onClick={() => turn(undefined)}>
          Disconnect
        </button>
      </span>
    </form>
  );
}

function FrameList({ frames }: Pick<LookingOn, "frames">) {
  return (
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
  );
}
