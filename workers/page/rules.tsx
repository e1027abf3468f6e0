/** The rules of the server, whose texts are loaded when somebody asks for one. */
import { href } from "./hash-route.ts";

/** The rules by their ids. */
export type Rules = Readonly<Record<string, Rule>>;

interface Rule {
  /** The title of its part of the specification. */
  readonly part: string;
  /** Backticks enclose code. */
  readonly text: string;
}

/** The id of a rule, which leads to its text. */
export function RuleLink({ id }: { readonly id: string }) {
  return <a href={href("rule", { id })}>{id}</a>;
}

/** The rules; undefined if they can't be loaded. */
export async function rulesOfServer(): Promise<Rules | undefined> {
  try {
    const response = await fetch("/console/rules.json");
    if (!response.ok) return undefined;
    const rules: Rules = await response.json();
    return rules;
  } catch {
    return undefined; // There is no connection, or a proxy has answered.
  }
}
