/**
 * The folders of `src` and `workers` in the order in which they may import each other, lowest first. A file imports
 * from its own folder and from rows above the row of its folder, types included. `src` and `workers` stand for the files
 * directly in them. Imports of features have figures of their own.
 */
export const floors: readonly (readonly string[])[] = [
  ["src"],
  ["src/protocol"],
  ["src/access"],
  ["src/contract"],
  ["src/config", "src/delta", "src/transport"],
  ["src/hub"],
  ["src/channel"],
  ["src/session"],
  ["src/api", "src/gateway", "src/users"],
  ["src/object"],
  ["src/features"],
  ["workers/platform"],
  ["workers/http", "workers/objects"],
  ["workers"],
];

/** The folder of a file, as {@link floors} names it. */
export function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

/** The feature that a file belongs to; undefined for a file of the kernel. */
export function featureOf(path: string): string | undefined {
  const folder = /^src\/features\/([^/]+)\//.exec(path)?.[1];
  if (folder !== undefined) return folder;
  if (kernelQueues.some((name) => path.endsWith(`/${name}.ts`))) return undefined;
  const words = new Set(path.replace(/\.ts$/, "").split(/[/-]/));
  return Object.entries(features).find(([, names]) => names.some((name) => words.has(name)))?.[0];
}

/** The kernel's own queues, which aren't those that backends put messages in. */
const kernelQueues = ["command-queue", "commit-queue", "frame-queue"];

/**
 * The features. A file belongs to one of them if a folder or a part of its name, between hyphens, is such a word. The
 * feature `presence`, which is that of presence maps, has no such word: who is present is a part of the kernel (section P
 * of src/SPEC.md), on every channel whose options allow to ask it.
 */
const features: Readonly<Record<string, readonly string[]>> = {
  console: ["console"],
  events: ["event", "events", "occupancy", "outbox"],
  hooks: ["hook", "hooks"],
  maps: ["checkpoint", "map"],
  metrics: ["counts", "gauges", "metrics"],
  queues: ["consumers", "queue"],
  "shared-polls": ["shared-poll", "poll", "track", "tracking", "tracks"],
  why: ["trail", "verdict", "why"],
};
