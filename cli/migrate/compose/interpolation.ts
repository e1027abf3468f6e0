/** What Compose makes of a text with `${NAME}` in it. */
export interface Interpolated {
  readonly text: string;
  /** The variables that aren't set, and have no default. */
  readonly missing: readonly string[];
  /** The variables that aren't set, and whose default was taken. */
  readonly byDefault: readonly string[];
}

/** Variables by their names. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Fills variables into a text as Compose does: `$NAME`, `${NAME}`, with `:-` or `-` a default, with `:?` or `?` an error, with
 * `:+` or `+` a replacement, in each of which there may be variables again. `$$` stands for one `$`.
 */
export function interpolated(text: string, variables: Variables): Interpolated {
  const missing: string[] = [];
  const byDefault: string[] = [];
  let made = "";
  let at = 0;
  while (at < text.length) {
    const found = startOf(text, at);
    if (found === undefined) {
      made += text[at] ?? "";
      at++;
      continue;
    }
    at = found.end;
    if (found.kind === "dollar") made += "$";
    else {
      const filled = fill(found.name, found.rest, variables);
      made += filled.text;
      missing.push(...filled.missing);
      byDefault.push(...filled.byDefault);
    }
  }
  return { text: made, missing, byDefault };
}

type Found =
  | { readonly kind: "dollar"; readonly end: number }
  /** `rest` is what follows the name in braces. */
  | {
      readonly kind: "variable";
      readonly name: string;
      readonly rest: string;
      readonly end: number;
    };

function startOf(text: string, at: number): Found | undefined {
  if (text[at] !== "$") return undefined;
  if (text[at + 1] === "$") return { kind: "dollar", end: at + 2 };
  const [bare] = /^\w+/.exec(text.slice(at + 1)) ?? [];
  if (bare !== undefined && /^[a-z_]/i.test(bare))
    return { kind: "variable", name: bare, rest: "", end: at + 1 + bare.length };
  const [, name] = /^\{([a-z_]\w*)/i.exec(text.slice(at + 1)) ?? [];
  if (name === undefined) return undefined;
  const from = at + 2 + name.length;
  const close = closingBrace(text, from);
  return close === undefined
    ? undefined
    : { kind: "variable", name, rest: text.slice(from, close), end: close + 1 };
}

function closingBrace(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith("${", at)) depth++;
    else if (text[at] === "}" && depth-- === 0) return at;
  }
  return undefined;
}

function fill(name: string, rest: string, variables: Variables): Interpolated {
  const [, colon, operator = "", word = ""] = /^(:?)([-?+])(.*)$/s.exec(rest) ?? [];
  const given = variables[name];
  const value = colon === ":" && given === "" ? undefined : given;
  if (operator === "+") return value === undefined ? plain("") : interpolated(word, variables);
  if (value !== undefined) return plain(value);
  if (operator !== "-") return { ...plain(given ?? ""), missing: [name] };
  const made = interpolated(word, variables);
  return { ...made, byDefault: [name, ...made.byDefault] };
}

function plain(text: string): Interpolated {
  return { text, missing: [], byDefault: [] };
}
