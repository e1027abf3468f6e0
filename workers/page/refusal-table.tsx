import type { CollectedRefusal } from "./answers.ts";
import { href } from "./hash-route.ts";
import { RuleLink } from "./rules.tsx";
import { Table, time } from "./parts.tsx";

/** A table of refusals with their rules and reasons, and with links to the user and the channel. */
export function RefusalTable({
  caption,
  refusals,
}: {
  readonly caption: string;
  readonly refusals: readonly CollectedRefusal[];
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
          <td>{one.reason}</td>
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
