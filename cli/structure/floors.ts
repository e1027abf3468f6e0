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
  ["workers/features"],
  ["workers/embedded"],
  ["workers"],
];

/** The folder of a file, as {@link floors} names it. */
export function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

/** The feature that a file belongs to, by its folder; undefined for a file of the kernel. */
export function featureOf(path: string): string | undefined {
  return /^(?:src|workers)\/features\/([^/]+)\//.exec(path)?.[1];
}
