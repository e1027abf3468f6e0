import type { Tags } from "./publication.ts";

/**
 * The tags that the server sets where publications are changed (rules ED, docs/protocol.md 3.6). A publication that is a
 * change names the changed one by `update`, `delete` or `erase`; the row of the changed one names the change by `updated`,
 * `deleted` or `erased`. Unmodified SDKs pass all of them on.
 */
export const changeTags = {
  /** Of a change: the offset of the publication that it changes. */
  update: "dormouse.update",
  delete: "dormouse.delete",
  erase: "dormouse.erase",
  /** Of a changed publication: the offset of its last change. */
  updated: "dormouse.updated",
  deleted: "dormouse.deleted",
  erased: "dormouse.erased",
  /** Of an edit whose data a later change has replaced: the offset of that change. */
  replaced: "dormouse.replaced",
  /** Of both: the version that the publication has now. One that was never changed has the version 1. */
  version: "dormouse.version",
  /** Of both: when it was changed, ms since 1970. */
  at: "dormouse.at",
  /** Of both: the user whose client changed it; absent for a backend. */
  by: "dormouse.by",
  /** Of both: why it was deleted. */
  reason: "dormouse.reason",
} as const;

/** What all of these tags begin with. */
const prefix = "dormouse.";

/** The tags without those that the server sets; undefined if none is left. */
export function withoutChangeTags(tags: Tags | undefined): Tags | undefined {
  const kept = Object.entries(tags ?? {}).filter(([name]) => !name.startsWith(prefix));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The tags without the name of a user who has changed the publication. */
export function withoutName(tags: Tags | undefined, user: string): Tags | undefined {
  if (tags?.[changeTags.by] !== user) return tags;
  const { [changeTags.by]: _, ...others } = tags;
  return others;
}

/** Whether the publication with these tags is a change of another one. */
export function isChangeTagged(tags: Tags): boolean {
  return has(tags, "update") || has(tags, "delete") || has(tags, "erase") || has(tags, "replaced");
}

/** Whether the publication with these tags has been deleted or erased. */
export function isGoneTagged(tags: Tags): boolean {
  return has(tags, "deleted") || has(tags, "erased");
}

/** The offset of the publication that the edit or deletion with these tags has changed; undefined for any other. */
export function changedOffset(tags: Tags): number | undefined {
  const offset = tags[changeTags.update] ?? tags[changeTags.delete];
  return offset === undefined ? undefined : Number(offset);
}

/** Whether somebody would read the publication with these tags: it isn't a change, and it isn't deleted (rule ED9). */
export function isReadable(tags: Tags | undefined): boolean {
  return tags === undefined || !(isChangeTagged(tags) || isGoneTagged(tags));
}

function has(tags: Tags, name: keyof typeof changeTags): boolean {
  return Object.hasOwn(tags, changeTags[name]);
}
