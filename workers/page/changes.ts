/** What the page of a channel says of publications that were edited, deleted or erased, and of the changes themselves. */
import { changeTags, isChangeTagged, isGoneTagged } from "../../src/protocol/change-tags.ts";
import type { Changed, Erased, HistoryEntry, Publication } from "./answers.ts";
import type { Answer } from "./server.ts";
import { time } from "./text.ts";

/** What an operator may do to a publication. */
export type ChangeKind = "edit" | "delete" | "erase";

/** A sentence on a publication that was changed, or that is a change; "" on any other. */
export function changeNote({ tags = {} }: Publication): string {
  const of = (name: keyof typeof changeTags): string | undefined => tags[changeTags[name]];
  const reason = of("reason") === undefined ? "" : `: ${of("reason")}`;
  const by = of("by");
  const made = `${by === undefined ? "" : ` by ${by}`}, ${time(Number(of("at") ?? 0))}`;
  const [update, deletion, erasure] = [of("update"), of("delete"), of("erase")];
  if (update !== undefined) return `Edits ${update}${made}`;
  if (deletion !== undefined) return `Deletes ${deletion}${made}${reason}`;
  if (erasure !== undefined) return `Erases ${erasure.replaceAll(",", ", ")}${made}`;
  if (of("replaced") !== undefined) return `An edit that ${of("replaced")} has replaced`;
  if (of("erased") !== undefined) return `Erased${made}`;
  if (of("deleted") !== undefined) return `Deleted${made}${reason}`;
  return of("updated") === undefined ? "" : `Edited${made}: version ${of("version")}`;
}

/** Whether a publication has no payload: it was taken away, or the publication takes away another one's. */
export function hasNoPayload({ tags = {} }: Publication): boolean {
  const isDeletion = tags[changeTags.delete] !== undefined || tags[changeTags.erase] !== undefined;
  return isGoneTagged(tags) || isDeletion || tags[changeTags.replaced] !== undefined;
}

/** What can be done to a publication. The one that a change has changed is edited and deleted itself. */
export function changesOf({ tags = {}, data }: HistoryEntry): readonly ChangeKind[] {
  if (tags[changeTags.erased] !== undefined || isChangeTagged(tags)) return [];
  if (isGoneTagged(tags)) return ["erase"];
  // The page shows bytes, but has no field for them.
  return data === undefined ? ["delete", "erase"] : ["edit", "delete", "erase"];
}

/** The version that the page has shown. */
export function versionOf({ tags = {} }: Publication): number {
  return Number(tags[changeTags.version] ?? 1);
}

/** The answer to a change, with a sentence in place of an error, and where nothing was changed. */
export function answeredChange(
  answer: Answer<Changed | Erased>,
  { offset = 0, ...seen }: HistoryEntry,
): Answer<string> {
  if (answer.outcome === "logged-out") return answer;
  if (answer.outcome === "failed")
    return failed(sentences[answer.code ?? 0]?.(offset) ?? answer.message);
  const { result } = answer;
  if ("erased" in result)
    return result.erased === 0
      ? failed(`Nothing of publication ${offset} is left to erase.`)
      : { outcome: "result", result: `Publication ${offset} is erased everywhere.` };
  const { suppress_reason: reason, version = 1 } = result;
  switch (reason) {
    case undefined:
      return {
        outcome: "result",
        result: `Publication ${offset} has version ${version} now. The change is publication ${result.offset}.`,
      };
    case "version_mismatch":
      return failed(
        `Somebody has changed publication ${offset} meanwhile: it has version ${version} now, and you saw version ${versionOf(seen)}. Nothing was changed. Look at it again.`,
      );
    case "deleted":
      return failed(`Publication ${offset} has been deleted or erased meanwhile.`);
    case "not_found":
      return failed(`The history doesn't keep publication ${offset} any more. ${unchanged}`);
    default:
      return failed(`Nothing was changed: ${reason}.`);
  }
}

function failed(message: string): Answer<never> {
  return { outcome: "failed", message };
}

const unchanged = "Nothing was changed.";

/** What the errors mean here, by their codes. */
const sentences: Readonly<Record<number, (offset: number) => string>> = {
  100: (offset) =>
    `It isn't known that publication ${offset} is changed everywhere, because an object hasn't answered. Ask again until it is: that is harmless.`,
  108: () => `The namespace doesn't allow it any more: allow_change isn't set. ${unchanged}`,
  112: (offset) =>
    `The history has begun anew meanwhile, so that ${offset} isn't this publication any more. ${unchanged}`,
};
