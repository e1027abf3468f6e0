import { useEffect } from "preact/hooks";
import type { Presence } from "../answers.ts";
import type { Question } from "../channel-questions.ts";
import { Message, Table, useAnswer, UserLink } from "../parts.tsx";
import { count, counted } from "../text.ts";
import { call } from "../server.ts";

/** Who is present on a channel, by users, read again in each round; a user leads to the page of the user. */
export function PresentPart({
  question,
  round,
  loggedOut,
}: {
  readonly question: Question;
  readonly round: number;
  readonly loggedOut: () => void;
}) {
  const [{ result, problem }, take] = useAnswer<Presence>(loggedOut);
  useEffect(
    () => void take(call(question.method, question.params)),
    [question.params["channel"], round],
  );
  const clients = Object.values(result?.presence ?? {});
  const users = [...Map.groupBy(clients, ({ user }) => user)];
  const shown = users.slice(0, usersShown);
  return (
    <section>
      <h2>Who is here</h2>
      <Message text={problem} isProblem />
      <Table
        caption={`Present: ${counted(users.length, "user")} on ${counted(clients.length, "connection")}`}
        heads={["User", "Connections"]}
      >
        {shown.map(([user, own]) => (
          <tr key={user}>
            <th scope="row">
              <UserLink user={user} />
            </th>
            <td class="number">{count(own.length)}</td>
          </tr>
        ))}
        {users.length > shown.length && (
          <tr>
            <td colSpan={2}>and {count(users.length - shown.length)} more</td>
          </tr>
        )}
        {result !== undefined && users.length === 0 && (
          <tr>
            <td colSpan={2}>Nobody.</td>
          </tr>
        )}
      </Table>
    </section>
  );
}

const usersShown = 100;
