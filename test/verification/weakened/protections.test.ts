import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { protectionNamed, protections } from "./protections.ts";
import { changed } from "./changed-copy.ts";
import { rulesIn, sourceFiles } from "../../core/docs/citations.ts";

const source = (file: string): string => readFileSync(join(packageRoot, file), "utf8");

const rules = rulesIn(sourceFiles());

describe.each(protections)("the protection $name", (protection) => {
  it(`[${protection.rule}] occurs once in the source and can be removed`, () => {
    const before = source(protection.file);
    const after = changed(before, protection);
    expect(before).toContain(protection.code);
    expect(after).not.toContain(protection.code);
    expect(after).toContain(protection.weakened);
  });

  it("keeps an existing rule, and is in docs/guarantees.md", () => {
    expect(rules).toContain(`- **${protection.rule}** `);
    expect(source("docs/guarantees.md")).toContain(`\`${protection.name}\``);
  });
});

describe("a protection", () => {
  it("that isn't in its file any more is reported by name", () => {
    const [protection] = protections;
    if (protection === undefined) throw new Error("there are none");
    expect(() => changed("something else", protection)).toThrow(
      `${protection.name} doesn't stand once in ${protection.file}`,
    );
  });

  it("with an unknown name is answered with all names", () => {
    expect(() => protectionNamed("luck", "prove")).toThrow(
      /"luck"; there are output-order, catch-up-of-joiners/,
    );
    expect(() => protectionNamed("crash-alarm", "simulate")).toThrow(
      /"crash-alarm"; there are .*held-session/,
    );
  });
});
