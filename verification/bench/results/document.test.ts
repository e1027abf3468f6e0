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
  it("changes only the text between the marks", () => {
    expect(withSection(document, "the run", "new $& figures\n")).toBe(
      document.replace("old | figures", () => "\nnew $& figures\n"),
    );
  });

  it("is the same when the same text is written again", () => {
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
