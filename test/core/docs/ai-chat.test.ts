import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { codeBlocksOf } from "../../support/documented-code.ts";

const source = readFileSync("examples/ai-chat/src/index.ts", "utf8");

it.each(["The route", "What runs where"])(
  "docs/ai-chat.md has the code of examples/ai-chat, which tests run: %s",
  (section) => {
    const code = codeBlocksOf("ai-chat.md").find(({ heading }) => heading === section)?.code ?? "";
    const [, own = ""] = code.split(/^(?:import .*\n)+\n/m);
    expect(own).not.toBe("");
    expect(source).toContain(own);
  },
);
