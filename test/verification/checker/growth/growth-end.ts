import type { GrowthRecord, SentText, ShownTexts } from "./growth-record.ts";
import type { Complain } from "../violations.ts";

/** In the end all that was acknowledged is stored, and every client shows what is stored. */
export function checkLast(record: GrowthRecord, time: number, complain: Complain): void {
  const { last } = record;
  if (last === undefined) return;
  for (const text of record.texts.values())
    checkStored(text, last.epoch, last.texts.get(text.key), time, complain);
  for (const client of record.clients.values()) checkShown(client, last, time, complain);
}

function checkStored(
  text: SentText,
  epoch: string,
  stored: string | undefined,
  time: number,
  complain: Complain,
): void {
  const { key, finalLength, acknowledged, removalAsked } = text;
  if (removalAsked !== undefined && (stored === undefined || text.removed === undefined)) return;
  // Of a text that isn't ended, what was acknowledged in this epoch is there, whether it was durable then or not.
  const inEpoch = acknowledged?.epoch === epoch ? acknowledged.length : 0;
  const wanted = finalLength ?? Math.max(inEpoch, text.durableAt(time));
  const length = stored?.length ?? 0;
  if (finalLength === undefined ? length >= wanted : length === wanted) return;
  complain(
    length < wanted ? "lost" : "resurrected",
    "",
    time,
    `${length} characters of ${key} are stored in the end, and not ${wanted}`,
  );
}

function checkShown(
  { process, isAttached, texts }: ShownTexts,
  last: { readonly texts: ReadonlyMap<string, string> },
  time: number,
  complain: Complain,
): void {
  if (!isAttached) {
    complain("absent", process, time, `${process} was not subscribed again`);
    return;
  }
  for (const key of new Set([...texts.keys(), ...last.texts.keys()])) {
    const [has, should] = [texts.get(key), last.texts.get(key)];
    if (has === should) continue;
    const kind = has === undefined ? "lost" : should === undefined ? "resurrected" : "diverged";
    const shows = `${process} shows ${has?.length ?? "no"} characters of ${key} in the end`;
    complain(kind, process, time, `${shows}; ${should?.length ?? "none"} are stored`);
  }
}
