import * as fc from "fast-check";

/** Few enough that documents have equal keys, and that a random path hits something. */
export const keys = ["a", "data", "é", "", '"\\', "\t", "\\t", "__proto__"] as const;

/**
 * JSON text as no serializer would write it: whitespace and line breaks between all tokens, keys and strings spelled
 * with needless escapes, equal keys, numbers that JavaScript can't hold. Without whitespace around it.
 */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalarText(),
      tie("object"),
      fc.array(padded(tie("value")), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    ),
    object: fc
      .array(fc.tuple(padded(keyText()), padded(tie("value"))), { maxLength: 5 })
      .map((members) => `{${members.map((member) => member.join(":")).join(",")}}`),
  }),
).value;

/** A JSON object of given members; the last of equal names wins as elsewhere. */
export function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** Any of JSON's whitespace, or none. */
export function space(): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 2 });
}

function padded(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space(), text, space()).map((parts) => parts.join(""));
}

function scalarText(): fc.Arbitrary<string> {
  const literals = ["12345678901234567890", "-0", "1.0", "1E5", "1e400", "true", "false", "null"];
  return fc.oneof(fc.constantFrom(...literals), spelled(fc.string({ unit: "binary" })));
}

function keyText(): fc.Arbitrary<string> {
  return spelled(fc.constantFrom(...keys));
}

function spelled(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(text, fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }))
    .map(([plain, escapes]) => {
      const units = plain.split("").map((unit, index) => {
        if (escapes[index % escapes.length] !== true) return JSON.stringify(unit).slice(1, -1);
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
      });
      return `"${units.join("")}"`;
    });
}
