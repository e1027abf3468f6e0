/**
 * Finds where a text stops being JSON, as a line and a column, both from 1. The engine's own message often has no
 * position, and quotes the text, which may hold a secret (rule A7).
 *
 * @param text not valid JSON
 */
export function jsonFault(text: string): { readonly line: number; readonly column: number } {
  const before = text.slice(0, faultOffset(text)).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** The tokens that may come next. A list holds the open brackets, because recursion could exhaust the stack. */
type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

function faultOffset(text: string): number {
  const open: string[] = [];
  let expected: Expected = "value";
  for (const { 0: token, 1: space = "", index } of text.matchAll(tokens)) {
    const next = after(token.slice(space.length), expected, open);
    if (next === undefined) return index + space.length;
    expected = next;
  }
  return text.length;
}

/** Gives the tokens that may follow a token; undefined if the token itself may not come where it does. */
function after(token: string, expected: Expected, open: string[]): Expected | undefined {
  if (token === "}" || token === "]") {
    const mayClose = expected === ", or end" || expected.endsWith(token);
    return mayClose && open.pop() === (token === "}" ? "{" : "[") ? ", or end" : undefined;
  }
  switch (expected) {
    case ":":
      return token === ":" ? "value" : undefined;
    case ", or end":
      if (token !== "," || open.length === 0) return undefined;
      return open.at(-1) === "{" ? "key" : "value";
    case "key":
    case "key or }":
      return wholeString.test(token) ? ":" : undefined;
    case "value":
    case "value or ]":
      if (token !== "{" && token !== "[") return scalar.test(token) ? ", or end" : undefined;
      open.push(token);
      return token === "{" ? "key or }" : "value or ]";
  }
}

/** White space and a token: a string as far as its line and its escapes are right, a word, or one character. */
const tokens =
  /([ \t\r\n]*)(?:"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|[-+.\w]+|[^ \t\r\n])/gu;
const wholeString = /^".*"$/su;
const scalar = /^(?:".+|""|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/su;
