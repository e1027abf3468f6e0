import { describe, expect, it } from "vitest";
import { pageRefusal } from "../../../src/access/origin.ts";

/** Of a page's request that says nothing else. */
const silent = { origin: null, site: null, mode: null, accept: null };

function originAllowed(origin: string | null, patterns: readonly string[]): boolean {
  return pageRefusal({ ...silent, origin }, patterns) === undefined;
}

describe("[A6] a browser", () => {
  const anybody = ["*"];

  it.each([
    { site: "same-origin", mode: "cors", accept: "text/event-stream" },
    { site: "same-origin", mode: "no-cors", accept: "*/*" },
    { origin: "https://example.com", site: "cross-site", mode: "cors" },
    { origin: "https://example.com", site: "same-site", mode: "websocket" },
    { mode: "cors", accept: "*/*" }, // Node.js says this of itself.
  ])("passes that says %o", (said) => {
    expect(pageRefusal({ ...silent, ...said }, anybody)).toBeUndefined();
  });

  it.each(["cross-site", "same-site", "none"])(
    "is refused that comes from elsewhere, and doesn't say from where: %s",
    (site) => {
      const reason = "a page of another site sends no Origin";
      expect(pageRefusal({ ...silent, site, mode: "no-cors" }, anybody)).toBe(reason);
    },
  );

  it.each([
    { mode: "navigate" },
    { site: "none", mode: "navigate" },
    { site: "same-origin", mode: "navigate" },
    { origin: "https://example.com", site: "same-origin", mode: "navigate" },
    { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    { accept: "Text/HTML" },
  ])("is refused that opens the address as a page: %o", (said) => {
    const reason = "a browser opens the address as a page";
    expect(pageRefusal({ ...silent, ...said }, anybody)).toBe(reason);
  });
});

describe("[A6] an origin", () => {
  it("may be absent, whatever the patterns", () => {
    expect(originAllowed(null, [])).toBe(true);
  });

  it("is refused when there is no pattern", () => {
    expect(originAllowed("https://example.com", [])).toBe(false);
  });

  it.each([
    ["https://example.com", "https://example.com"],
    ["HTTPS://Example.COM", "https://example.com"],
    ["https://www.example.com", "https://{www,app}.example.com"],
    ["https://a.app.example.com", "https://{www,*.app}.example.com"],
    ["https://example.com", "http{s,}://example.com"],
    ["https://example.com", "https://{,www.}example.com"],
    ["https://app7.example.com", "https://app?.example.com"],
    ["https://a.example.com", "https://[ab].example.com"],
    ["https://c.example.com", "https://[!ab].example.com"],
    ["https://app7.example.com", "https://app[0-9].example.com"],
    ["https://A.example.com", "https://[a-c].example.com"],
    ["https://a.example.com", "*.example.com"],
    ["https://a.b.example.com", "https://**.example.com"],
    ["https://a.example.com", "https://*.example.com"],
    ["https://a.b.example.com", "https://*.example.com"],
    ["http://localhost:5173", "http://localhost:*"],
    ["https://a.example.com:8443", "*://*.example.com*"],
    ["https://example.com", "*"],
    ["https://example.com", "**"],
    ["null", "null"],
    ["https://aXbXc", "https://a*b*c"],
    ["https://abab", "https://*ab"],
    ["", "*"],
  ])("%s is matched by %s", (origin, pattern) => {
    expect(originAllowed(origin, ["https://other.test", pattern])).toBe(true);
  });

  it.each([
    ["https://example.com.evil.test", "https://example.com"],
    ["https://evil.test/https://example.com", "https://example.com"],
    ["https://example.com", "https://*.example.com"],
    ["https://evilexample.com", "https://*.example.com"],
    ["https://exampleXcom", "https://example.com"],
    ["https://example.co", "https://example.com?"],
    ["https://evil.example.com", "https://{www,app}.example.com"],
    ["https://www.example.com.evil.test", "https://{www,app}.example.com"],
    ["https://evil.test", "https://{www.example.com,app.example.com}"],
    ["https://app77.example.com", "https://app?.example.com"],
    ["https://ab.example.com", "https://[ab].example.com"],
    ["https://a.example.com", "https://[!ab].example.com"],
    ["https://{www,app}.example.com", "https://{www,app}.example.com"],
    ["https://a.example.com.evil.test", "https://*.example.com"],
    ["http://a.example.com", "https://*.example.com"],
    ["https://aba", "https://ab*ba"],
    ["https://ab", "https://a*b*b"],
    ["https://c-b-a", "https://*a*b*c"],
    ["https://a-b", "https://*b*a*"],
    ["null", "https://*"],
    ["", "https://example.com"],
    ["https://example.com", ""],
  ])("%s is not matched by %s", (origin, pattern) => {
    expect(originAllowed(origin, ["https://other.test", pattern])).toBe(false);
  });

  it("[B1] that is made to backtrack is still decided at once", () => {
    const origin = `https://${"a".repeat(100_000)}`;
    expect(originAllowed(origin, [`https://${"*a".repeat(50)}*b`])).toBe(false);
    expect(originAllowed(origin, [`https://${"{a,a}*".repeat(20)}?b`])).toBe(false);
  });
});
