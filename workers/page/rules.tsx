/** The rules of the server, whose texts are loaded when somebody asks for one. */
import { href } from "./hash-route.ts";
import type { CollectedRefusal, Settings } from "./answers.ts";
import { reasonText } from "./channel-questions.ts";
import { Table } from "./parts.tsx";
import { addressAt } from "./server.ts";
import { time } from "./text.ts";

/** The rules by their ids. */
export type Rules = Readonly<Record<string, Rule>>;

interface Rule {
  /** The title of its part of the specification. */
  readonly part: string;
  /** Backticks enclose code. */
  readonly text: string;
}

/** The id of a rule, which leads to its text. */
export function RuleLink({ id }: { readonly id: string }) {
  return <a href={href("rule", { id })}>{id}</a>;
}

/** The rules; undefined if they can't be loaded. */
export async function rulesOfServer(): Promise<Rules | undefined> {
  try {
    const response = await fetch(addressAt("rules.json"));
    if (!response.ok) return undefined;
    const rules: Rules = await response.json();
    return rules;
  } catch {
    return undefined; // There is no connection, or a proxy has answered.
  }
}

/** A table of refusals with their rules and reasons, and with links to the user and the channel. */
export function RefusalTable({
  caption,
  refusals,
  settings,
}: {
  readonly caption: string;
  readonly refusals: readonly CollectedRefusal[];
  readonly settings: Settings;
}) {
  return (
    <Table
      caption={caption}
      heads={["When", "Refused", "Rule", "Reason", "User or key", "Channel", "Object"]}
    >
      {refusals.map((one) => (
        <tr key={JSON.stringify(one)}>
          <td class="time">{time(one.at_ms)}</td>
          <td>
            {one.refused} {one.count > 1 ? `× ${one.count}` : ""}
          </td>
          <td>
            <RuleLink id={one.rule} />
          </td>
          <td>{reasonText(one, settings)}</td>
          <td>
            {one.user !== undefined && one.user !== "" && (
              <a href={href("users", { user: one.user })}>{one.user}</a>
            )}
            {one.key}
          </td>
          <td>
            {one.channel !== undefined && (
              <a href={href("channel", { name: one.channel })}>{one.channel}</a>
            )}
          </td>
          <td>
            <a href={href("refusals", { object: one.object })}>{one.object}</a>
          </td>
        </tr>
      ))}
      {refusals.length === 0 && (
        <tr>
          <td colSpan={7}>Nothing was refused.</td>
        </tr>
      )}
    </Table>
  );
}
