import { describe, expect, it } from "vitest";
import { withSection } from "./document.ts";

const document = `# Title

<!-- the run -->
old | figures
<!-- end of the run -->

Prose $& of people.
<!-- the bill --><!-- end of the bill -->
`;

describe("a document with generated sections", () => {
  it("changes only what stands between the marks of the name", () => {
    expect(withSection(document, "the run", "new $& figures\n")).toBe(
      document.replace("old | figures", () => "\nnew $& figures\n"),
    );
  });

  it("gives the same again when the same is written again", () => {
    const once = withSection(document, "the bill", "$1");
    expect(withSection(once, "the bill", "$1")).toBe(once);
  });

  it.each([
    { what: "no marks", text: "# Title" },
    { what: "no end", text: "<!-- the run -->" },
    { what: "no begin", text: "<!-- end of the run -->" },
    { what: "two of them", text: `${document}${document}` },
    { what: "the end first", text: "<!-- end of the run --><!-- the run -->" },
  ])("refuses a document with $what", ({ text }) => {
    expect(() => withSection(text, "the run", "new")).toThrow('must hold "<!-- the run -->"');
  });
});
