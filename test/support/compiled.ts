import { Pattern } from "../../src/access/pattern.ts";

/** A pattern that can be used; throws for any other. */
export function compiled(source: string): Pattern {
  const pattern = Pattern.compile(source);
  if (pattern instanceof Pattern) return pattern;
  throw new Error(`${source}: ${pattern}`);
}
