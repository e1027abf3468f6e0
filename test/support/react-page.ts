import { join } from "node:path";
import { build as bundle } from "esbuild";
import { packageRoot } from "../../cli/package-root.ts";
import { codeBlocksOf, writeCode } from "./documented-code.ts";

/** What the tests show: all hooks, in Strict Mode. `show` changes what there is, and each element has the state of a hook. */
const page = `
  import { createElement as element, StrictMode, useState } from "react";
  import { createRoot } from "react-dom/client";
  import * as hooks from "dormouse-realtime/react";

  const text = (id, ...parts) => element("p", { id }, parts.join(" "));
  const json = (entries) => JSON.stringify(Object.fromEntries(entries));

  function Room({ id, channel, ...options }) {
    const getToken = async () => (await fetch("/token?channel=" + channel)).text();
    const room = hooks.useChannel(channel, options.isPrivate ? { ...options, getToken } : options);
    globalThis[id] = room;
    const texts = room.messages.map(({ data }) => data).join(",");
    return text(id, room.state, room.problem?.code ?? "fine", room.hasGap ? "gap" : "whole", texts);
  }
  function People({ channel, of }) {
    const { entries } = hooks.usePresence(channel, { of });
    return text("people", Array.from(entries.values(), ({ user }) => user).sort());
  }
  function Board({ channel }) {
    globalThis.board = hooks.useMap(channel);
    return text("board", board.state, json(board.entries));
  }
  function Unread({ channel }) {
    globalThis.unread = hooks.useUnread(channel);
    return text("unread", unread.unread ?? unread.problem?.code ?? "unknown");
  }
  function Connection() {
    globalThis.connection = hooks.useConnection();
    return text("connection", connection.state, connection.problem?.code ?? "fine");
  }
  const kinds = { Room, People, Board, Unread };

  function App() {
    const [{ user, parts }, set] = useState({ user: "ann", parts: [] });
    globalThis.show = (change) => set((before) => ({ ...before, ...change }));
    const getToken = async () => (await fetch("/token?user=" + user)).text();
    const options = { minReconnectDelay: 700, maxReconnectDelay: 700 };
    return element(hooks.RealtimeProvider, { url: globalThis.address, user, getToken, options },
      element(Connection),
      ...parts.map(([kind, props]) => element(kinds[kind], { key: kind + (props.id ?? ""), ...props })));
  }

  globalThis.sockets = 0;
  globalThis.WebSocket = class extends WebSocket {
    constructor(...options) {
      super(...options);
      sockets++;
    }
  };
  const root = createRoot(document.getElementById("root"));
  globalThis.end = () => root.unmount();
  globalThis.root = root;
  root.render(element(StrictMode, null, element(App)));
`;

export type ReactVersion = keyof typeof packages;

const packages = {
  18: { react: "react-18", "react-dom": "react-dom-18" },
  19: { react: "react", "react-dom": "react-dom" },
} as const;

/** All components of docs/react.md. */
const documentedPage = `
  import { useState } from "react";
  import { Board } from "./Maps";
  import { Messages } from "./Messages";
  import { Status } from "./The connection";
  import { People } from "./Who is there";
  import { Badge, Reading } from "./Unread messages";

  export function Chat({ room }: { room: string }) {
    const [isRead, setRead] = useState(false);
    return <>
      <Messages room={room} /><People room={room} /><Board name="plans" /><Badge room={room} /><Status />
      <button onClick={() => setRead(true)}>Read</button>{isRead && <Reading room={room} />}
    </>;
  }
`;
const documentedMain = `
  import { createElement } from "react";
  import { createRoot } from "react-dom/client";
  import { App } from "./The provider";
  createRoot(document.getElementById("root")).render(createElement(App, { user: "ann" }));
`;
/** The script of a page with the code of the document. */
export async function documentedScript(folder: string, websocketUrl: string): Promise<string> {
  for (const { heading, code } of codeBlocksOf("react.md").filter(
    ({ language }) => language === "tsx",
  ))
    writeCode(
      folder,
      `${heading}.tsx`,
      code.replace("wss://realtime.example.com/connection/websocket", websocketUrl),
    );
  writeCode(folder, "Chat.tsx", documentedPage);
  const main = writeCode(folder, "main.ts", documentedMain);
  const { outputFiles } = await bundle({
    entryPoints: [main],
    bundle: true,
    format: "esm",
    jsx: "automatic",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

/** The page's script, for a version of React. */
export async function hooksScript(version: ReactVersion): Promise<string> {
  const alias = Object.fromEntries(
    Object.entries(packages[version]).map(([name, installed]) => [
      name,
      join(packageRoot, "node_modules", installed),
    ]),
  );
  const { outputFiles } = await bundle({
    stdin: { contents: page, resolveDir: packageRoot },
    alias: { ...alias, "dormouse-realtime/react": join(packageRoot, "package/react/index.ts") },
    bundle: true,
    format: "esm",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
