import type { ClientInfo } from "centrifuge";
import * as realtime from "dormouse-realtime/react";
import { type ChangeEvent, StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

type Typed = ChangeEvent<HTMLInputElement>;
type Message = realtime.Message<{ readonly text: string; readonly at: number }>;

const me: { readonly user: string } = await (await fetch("/me")).json();
const rooms = ["lobby", "ideas", "random"] as const;
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const nameOf = (info: ClientInfo | undefined): string => info?.connInfo?.name ?? "Somebody";

function Chat({ room }: { readonly room: string }) {
  const unread = rooms.map((one) => realtime.useUnread(`chat:${one}`).unread ?? 0);
  const total = unread.reduce((sum, count) => sum + count);
  const { entries } = realtime.usePresence("here:chat:lobby");
  const people = new Map(Array.from(entries.values(), (one) => [one.user, one]));
  return (
    <>
      <title>{total === 0 ? "Chat" : `(${total}) Chat`}</title>
      <aside>
        <strong>Chat</strong>
        <nav>
          {rooms.map((one, index) => (
            <a key={one} href={`#${one}`} aria-current={one === room && "page"}>
              # {one} {unread[index] !== 0 && <b>{unread[index]}</b>}
            </a>
          ))}
        </nav>
        <h2>{people.size} online</h2>
        <ul>
          {Array.from(people, ([id, info]) => (
            <li key={id}>
              <Avatar info={info} /> {nameOf(info)} {id === me.user && "(you)"}
            </li>
          ))}
        </ul>
      </aside>
      <Room key={room} room={room} />
    </>
  );
}

function Room({ room }: { readonly room: string }) {
  const { messages } = realtime.useChannel<Message["data"]>(`chat:${room}`, { history: 100 });
  const { markRead } = realtime.useUnread(`chat:${room}`);
  const { state } = realtime.useConnection();
  const newest = messages.at(-1)?.offset;
  useEffect(() => {
    const read = () => document.visibilityState === "visible" && markRead(newest);
    read();
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, [markRead, newest]);
  return (
    <main>
      <header>
        <h1># {room}</h1>
        {state !== "connected" && <p role="status">Reconnecting … nothing gets lost.</p>}
      </header>
      <div tabIndex={0}>
        <ol aria-live="polite">
          {messages.map((message, index) => (
            <Line key={message.key} message={message} before={messages[index - 1]} />
          ))}
        </ol>
      </div>
      <Composer room={room} />
    </main>
  );
}

function Line({ message: { data, info }, before }: { message: Message; before?: Message }) {
  const isMore = before?.info?.user === info?.user && data.at < (before?.data.at ?? 0) + 300_000;
  return (
    <li className={`${info?.user === me.user ? "mine" : ""} ${isMore ? "more" : ""}`}>
      {!isMore && <Avatar info={info} />}
      {!isMore && <small>{`${nameOf(info)} ${clock.format(data.at)}`}</small>}
      <p>{data.text}</p>
    </li>
  );
}

function Composer({ room }: { readonly room: string }) {
  const { publish } = realtime.useChannel(`chat:${room}`);
  // What is written stays over a reload until the server has it; what is typed until then stays, too.
  const [draft, setDraft] = useState(() => localStorage.getItem(room) ?? "");
  const [problem, setProblem] = useState("");
  const typing = realtime.useMap(`typing:${room}`);
  const { entries } = realtime.usePresence("here:chat:lobby");
  const writers = [...typing.entries.keys()].flatMap((key) => entries.get(key) ?? []);
  const names = writers.filter(({ user }) => user !== me.user).map(nameOf);
  const write = (text: string) => {
    setDraft(text);
    localStorage.setItem(room, text);
    (text === "" ? typing.remove("me") : typing.set("me", true)).catch(() => undefined);
  };
  const send = async () => {
    setDraft("");
    let failure = "";
    await publish({ text: draft }).catch(() => (failure = "That wasn’t sent. Try it again."));
    const typed = [localStorage.getItem(room) ?? ""].filter((kept) => kept !== draft);
    write((failure === "" ? typed : [draft, ...typed]).join(" "));
    setProblem(failure);
  };
  const field = { required: true, maxLength: 2_000, autoFocus: true, autoComplete: "off" };
  const change = { value: draft, onChange: ({ target }: Typed) => write(target.value) };
  return (
    <form action={() => void send()}>
      <p role="status">{problem || (names.length > 0 && `${names.join(" and ")} typing …`)}</p>
      <input {...field} {...change} placeholder={`Message #${room}`} aria-label="Message" />
      <button aria-label="Send">➤</button>
    </form>
  );
}

function Avatar({ info }: { readonly info: ClientInfo | undefined }) {
  const hue = parseInt(info?.user ?? "0") * 1.41;
  const background = `linear-gradient(135deg, hsl(${hue} 60% 42%), hsl(${hue + 50} 60% 36%))`;
  return <i style={{ background }}>{nameOf(info).slice(0, 1)}</i>;
}

const root = createRoot(document.body);
const show = () => {
  const room = rooms.find((one) => location.hash === `#${one}`) ?? "lobby";
  root.render(
    <StrictMode>
      <realtime.RealtimeProvider url="/realtime/connection/websocket">
        <Chat room={room} />
      </realtime.RealtimeProvider>
    </StrictMode>,
  );
};
addEventListener("hashchange", show);
show();
