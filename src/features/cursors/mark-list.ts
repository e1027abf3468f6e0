import type { PartOutcome } from "../../channel/channel-part.ts";
import type { FieldWriter } from "../../protocol/fields.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import type { MarksQuery } from "./cursor-calls.ts";
import type { MarkTable } from "./mark-table.ts";

/**
 * Lists what users have read of a channel, and counts those who have read up to an offset (rule CU35).
 *
 * @param lists whether the answer has a list, also if no mark is wanted; a client only counts (rule CU40)
 */
export function markList(
  table: MarkTable,
  { cursor, limit, offset }: MarksQuery,
  top: StreamPosition,
  lists: boolean,
): PartOutcome {
  const found = limit === 0 ? [] : table.page(cursor, top.epoch, limit + 1);
  const page = found.slice(0, limit);
  const last = table.lastLooked(cursor);
  const next = found.length > limit ? page.at(-1)?.user : last;
  const marks = page.map(({ user, read, atMs }) => ({ user, read, at_ms: atMs }));
  const count = offset === undefined ? undefined : table.countRead(cursor, top.epoch, offset);
  const fields = (out: FieldWriter): void => {
    if (lists) out.json(1, "marks", trustedJsonText(JSON.stringify(marks)));
    out.unsigned(2, "count", count, "always");
    out.flag(3, "capped", count !== undefined && last !== undefined);
    out.text(4, "epoch", top.epoch, "always");
    out.unsigned(5, "offset", top.offset, "always");
    out.text(6, "cursor", next);
  };
  return { outcome: "result", fields };
}
