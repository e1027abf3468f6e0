import { useEffect, useState } from "preact/hooks";
import type { Channels, Settings } from "../answers.ts";
import { href } from "../hash-route.ts";
import { leadsTo, Message, NoUsers, Pager, type PageProps, Table, useAnswer } from "../parts.tsx";
import { count } from "../text.ts";
import { call } from "../server.ts";

/** Channels with subscribers, by a pattern, a page at a time; or any channel by its name. */
export function ChannelsPage({
  params,
  loggedOut,
  settings,
}: PageProps & { readonly settings: Settings }) {
  return (
    <>
      <h1>Channels</h1>
      {settings.users ? (
        <ChannelList pattern={params.get("pattern") ?? ""} loggedOut={loggedOut} />
      ) : (
        <>
          <OpenForm />
          <NoUsers />
        </>
      )}
    </>
  );
}

function OpenForm() {
  return (
    <form class="line" onSubmit={leadsTo("channel", "name")}>
      <label for="name">Any channel by its name</label>
      <input id="name" name="name" required placeholder="chat:1" />
      <button>Open</button>
    </form>
  );
}

function ChannelList({
  pattern,
  loggedOut,
}: {
  readonly pattern: string;
  readonly loggedOut: () => void;
}) {
  const [cursors, setCursors] = useState<readonly string[]>([""]);
  const [called, take] = useAnswer<Channels>(loggedOut);
  const ask = (all: readonly string[]) => {
    setCursors(all);
    void take(call("channels", { pattern, cursor: all.at(-1) ?? "", limit: pageSize }));
  };
  useEffect(() => ask([""]), [pattern]);
  const { channels = {}, cursor = "", incomplete } = called.result ?? {};
  const rows = Object.entries(channels);
  return (
    <>
      <form class="line" role="search" onSubmit={leadsTo("channels", "pattern")}>
        <label for="pattern">Pattern, with * and ?</label>
        <input id="pattern" name="pattern" value={pattern} placeholder="chat:*" />
        <button class="main-button">Search</button>
      </form>
      <OpenForm />
      <Message text={called.problem} isProblem />
      {incomplete === true && <Message text="Some objects haven't answered." isProblem />}
      <Table caption="Channels with subscribers" heads={["Channel", "Subscribers"]}>
        {rows.map(([name, { num_clients: subscribers }]) => (
          <tr key={name}>
            <th scope="row">
              <a href={href("channel", { name })}>{name}</a>
            </th>
            <td class="number">{count(subscribers)}</td>
          </tr>
        ))}
        {rows.length === 0 && (
          <tr>
            <td colSpan={2}>{called.isWaiting ? "Asking…" : "No channel with subscribers."}</td>
          </tr>
        )}
      </Table>
      <Pager cursors={cursors} next={cursor} move={ask} />
    </>
  );
}

const pageSize = 50;
