import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** Packages that are folders of this repository, so that npm only links to them. */
const ownPackages: ReadonlySet<string> = new Set([
  "cli/node",
  "examples/ai-answer",
  "examples/auction",
  "examples/chat-rooms",
  "examples/inbox",
  "examples/shared-board",
]);

it.each(["package-lock.json", "bench/peers/package-lock.json"])(
  "%s has a hash of every package, also of those for other systems",
  (file) => {
    const { packages }: Lockfile = JSON.parse(readFileSync(file, "utf8"));
    const { "": _root, ...installed } = packages;
    const unknown = Object.entries(installed)
      .filter(([path, { resolved = "" }]) => ![path, resolved].some((one) => ownPackages.has(one)))
      .filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"))
      .map(([path]) => path);
    // A package without a hash is installed whatever it contains.
    expect(unknown).toEqual([]);
  },
);

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly integrity?: string; readonly resolved?: string }>
  >;
}
