import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/**
 * Packages for other systems whose tarballs couldn't be had where the lockfile was written. A package without a hash is
 * installed whatever it contains.
 */
const withoutHash = [
  "node_modules/@cloudflare/workerd-darwin-64",
  "node_modules/@cloudflare/workerd-darwin-arm64",
  "node_modules/@cloudflare/workerd-windows-64",
];

/** Packages that are folders of this repository, so that npm only links to them. */
const ownPackages: ReadonlySet<string> = new Set(["examples/chat-rooms", "examples/shared-board"]);

it("package-lock.json has a hash of every package but three, which are optional", () => {
  const { packages }: Lockfile = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const { "": _root, ...installed } = packages;
  const unknown = Object.entries(installed)
    .filter(([path, { resolved = "" }]) => ![path, resolved].some((one) => ownPackages.has(one)))
    .filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"))
    .map(([path]) => path);
  expect(unknown).toEqual(withoutHash);
  for (const path of withoutHash) expect(packages[path]?.optional).toBe(true);
});

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly integrity?: string; readonly optional?: boolean; readonly resolved?: string }
    >
  >;
}
