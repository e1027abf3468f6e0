import { namespaceOf } from "../namespace-of.ts";

/** Channels whose publications are changed: `edit:` keeps all of them, and of `brief:` the history turns fast. */
export const changeKinds = ["edit:e", "brief:b"];

/** Whether publications of a channel are edited, deleted and erased. */
export function isChanging(channel: string): boolean {
  return changeKinds.some((kind) => namespaceOf(kind) === namespaceOf(channel));
}

/** Whether the history never turns. */
export function keepsAll(channel: string): boolean {
  return namespaceOf(channel) === "edit";
}

const open = {
  presence: true,
  allow_subscribe_for_client: true,
  allow_presence_for_client: true,
  allow_change: true,
  history_ttl: "10h",
  history_meta_ttl: "24h",
  force_recovery: true,
};

export const changeNamespaces: readonly object[] = [
  { ...open, name: "edit", history_size: 1_000 },
  { ...open, name: "brief", history_size: 8 },
];
