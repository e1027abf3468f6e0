import { useEffect, useState } from "preact/hooks";
import type { ConnectedUsers, Connections, Settings } from "../answers.ts";
import { href } from "../hash-route.ts";
import { leadsTo, Message, NoUsers, Pager, type PageProps, Table, useAnswer } from "../parts.tsx";
import { count, counted, time } from "../text.ts";
import { call, read } from "../server.ts";

/** The users of gateways, a page at a time; or one user: the connections, and what an operator may do to them. */
export function UsersPage({
  params,
  loggedOut,
  settings,
}: PageProps & { readonly settings: Settings }) {
  const user = params.get("user") ?? "";
  if (!settings.users)
    return (
      <>
        <h1>Users</h1>
        <NoUsers />
      </>
    );
  return (
    <>
      <h1>Users</h1>
      <form class="line" role="search" onSubmit={leadsTo("users", "user")}>
        <label for="user">The user's ID</label>
        <input id="user" name="user" value={user} required />
        <button class="main-button">Search</button>
      </form>
      {user === "" ? (
        <UserList loggedOut={loggedOut} />
      ) : (
        <User user={user} loggedOut={loggedOut} />
      )}
    </>
  );
}

/** Asks when the page is opened, and for each further page: an object is woken by the question. */
function UserList({ loggedOut }: { readonly loggedOut: () => void }) {
  const [cursors, setCursors] = useState<readonly string[]>([""]);
  const [called, take] = useAnswer<ConnectedUsers>(loggedOut);
  const ask = (all: readonly string[]) => {
    setCursors(all);
    void take(read("users", { cursor: all.at(-1) ?? "" }));
  };
  useEffect(() => ask([""]), []);
  const { users = [], anonymous = 0, cursor = "", incomplete } = called.result ?? {};
  return (
    <section>
      <Message text={called.problem} isProblem />
      {incomplete === true && (
        <Message text="Only the first gateways were asked, or some haven't answered." isProblem />
      )}
      <Table caption="Users connected to gateways" heads={["User", "Connections"]}>
        {users.map(({ user, connections }) => (
          <tr key={user}>
            <th scope="row">
              <a href={href("users", { user })}>{user}</a>
            </th>
            <td class="number">{count(connections)}</td>
          </tr>
        ))}
        {users.length === 0 && (
          <tr>
            <td colSpan={2}>{called.isWaiting ? "Asking…" : "No user is connected."}</td>
          </tr>
        )}
      </Table>
      <Pager cursors={cursors} next={cursor} move={ask}>
        <button onClick={() => ask(cursors)}>Refresh</button>
        {anonymous > 0 && (
          <span class="quiet">
            {counted(anonymous, "connection")} {anonymous === 1 ? "has" : "have"} no user
          </span>
        )}
      </Pager>
    </section>
  );
}

function User({ user, loggedOut }: { readonly user: string; readonly loggedOut: () => void }) {
  const [called, take] = useAnswer<Connections>(loggedOut);
  const [done, setDone] = useState("");
  const [action, takeAction] = useAnswer<object>(loggedOut);
  const refresh = () => take(call("connections", { user }));
  useEffect(() => void refresh(), [user]);
  const act = async (method: string, more: object, text: string) => {
    setDone("");
    const result = await takeAction(call(method, { user, ...more }));
    if (result !== undefined) setDone(text);
    await refresh();
  };
  const connections = Object.entries(called.result?.connections ?? {});
  return (
    <section>
      <h2>{user}</h2>
      <p class="buttons">
        <button onClick={() => void act("disconnect", {}, "Disconnected.")}>Disconnect</button>
        <button
          class="danger"
          onClick={() => void act("block_user", {}, "Blocked, and disconnected.")}
        >
          Block
        </button>
        <button onClick={() => void act("unblock_user", {}, "Unblocked.")}>Unblock</button>
        <button onClick={() => void refresh()}>Refresh</button>
        <a href={href("connect", { user })}>Connect as this user</a>
      </p>
      <Message text={done} />
      <Message text={called.problem === "" ? action.problem : called.problem} isProblem />
      {called.result?.incomplete === true && (
        <Message text="Some objects haven't answered." isProblem />
      )}
      <Table
        caption={`Connections: ${count(connections.length)}`}
        heads={["Client", "Since", "Transport", "Object", "Channels", "Action"]}
      >
        {connections.map(([client, one]) => (
          <tr key={client}>
            <th scope="row">
              <code>{client}</code>
            </th>
            <td>{time(one.connected_at_ms)}</td>
            <td>
              {one.transport} {one.protocol}
            </td>
            <td>{one.node}</td>
            <td>
              <ChannelLinks names={Object.keys(one.state?.channels ?? {})} />
            </td>
            <td>
              <button onClick={() => void act("disconnect", { client }, "Disconnected.")}>
                Disconnect
              </button>
            </td>
          </tr>
        ))}
        {connections.length === 0 && (
          <tr>
            <td colSpan={6}>{called.isWaiting ? "Asking…" : "Not connected."}</td>
          </tr>
        )}
      </Table>
    </section>
  );
}

function ChannelLinks({ names }: { readonly names: readonly string[] }) {
  const shown = names.slice(0, channelsShown);
  return (
    <>
      {shown.map((name) => (
        <a class="chip" href={href("channel", { name })} key={name}>
          {name}
        </a>
      ))}
      {names.length > shown.length && ` and ${names.length - shown.length} more`}
    </>
  );
}

const channelsShown = 8;
