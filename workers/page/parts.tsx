/** What several pages are made of. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { JsonValue } from "./answers.ts";
import { go } from "./hash-route.ts";
import type { Answer } from "./server.ts";

/** What every page gets. */
export interface PageProps {
  readonly params: URLSearchParams;
  /** To be called when the login has ended. */
  readonly loggedOut: () => void;
}

/** A table, which scrolls by itself where it is too wide. */
export function Table({
  caption,
  heads,
  children,
}: {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}) {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A text that is read out when it changes. */
export function Message({
  text,
  isProblem,
}: {
  readonly text: string;
  readonly isProblem?: boolean;
}) {
  return (
    <p class={isProblem === true ? "message problem" : "message"} role="status">
      {text}
    </p>
  );
}

/** Names with their values. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The state of one call: its newest result, and what went wrong. */
export interface Called<Result> {
  readonly result?: Result;
  readonly problem: string;
  readonly isWaiting: boolean;
}

/**
 * Keeps the newest answer to a call.
 *
 * @returns the state, and a function that takes an answer that is coming
 */
export function useAnswer<Result>(
  loggedOut: () => void,
): readonly [Called<Result>, (coming: Promise<Answer<Result>>) => Promise<Result | undefined>] {
  const [called, setCalled] = useState<Called<Result>>({ problem: "", isWaiting: false });
  const take = async (coming: Promise<Answer<Result>>): Promise<Result | undefined> => {
    setCalled((before) => ({ ...before, isWaiting: true }));
    const answer = await coming;
    switch (answer.outcome) {
      case "logged-out":
        loggedOut();
        return undefined;
      case "failed":
        setCalled((before) => ({ ...before, problem: answer.message, isWaiting: false }));
        return undefined;
      case "result":
        setCalled({ result: answer.result, problem: "", isWaiting: false });
        return answer.result;
    }
  };
  return [called, take];
}

/** What a form does that only leads to a page: its fields become the page's parameters. */
export function leadsTo(page: string, ...names: readonly string[]): (event: SubmitEvent) => void {
  return (event) => {
    event.preventDefault();
    go(page, Object.fromEntries(names.map((name) => [name, fieldOf(event, name)])));
  };
}

/** The text of a field of the form that was submitted. */
export function fieldOf(event: Event, name: string): string {
  const form = event.currentTarget;
  if (!(form instanceof HTMLFormElement)) return "";
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value : "";
}

/** A field for a value as JSON, with an example in it. */
export function JsonField({
  id,
  name,
  label,
  rows,
}: {
  readonly id: string;
  readonly name: string;
  /** What the value is. */
  readonly label: string;
  readonly rows: number;
}) {
  return (
    <>
      <label for={id}>{label}, as JSON</label>
      <textarea id={id} name={name} rows={rows} spellcheck={false} required>
        {'{"text":"hello"}'}
      </textarea>
    </>
  );
}

/** What is wrong with a value that was typed as JSON; "" if nothing is. */
export function jsonFault(what: "payload" | "value", text: string): string {
  return isJson(text) ? "" : `The ${what} isn't valid JSON. A text needs quotes.`;
}

/**
 * The buttons with which an operator moves through the pages of a list.
 *
 * @param cursors  with which the pages up to the shown one were asked for; that of the first is ""
 * @param next     the cursor of the page after; "" if there is none
 * @param move     is called with the cursors up to the page that is to be shown
 * @param children more buttons, and what there is to say
 */
export function Pager({
  cursors,
  next,
  move,
  children,
}: {
  readonly cursors: readonly string[];
  readonly next: string;
  readonly move: (cursors: readonly string[]) => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <p class="buttons">
      <button disabled={cursors.length < 2} onClick={() => move(cursors.slice(0, -1))}>
        Previous
      </button>
      <button disabled={next === ""} onClick={() => move([...cursors, next])}>
        Next
      </button>
      <span class="quiet">Page {cursors.length}</span>
      {children}
    </p>
  );
}

/** A number for people, such as 12,345 or 1.2 M. */
export function count(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value >= 1e7 ? 0 : 1)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(value >= 1e5 ? 0 : 1)} k`;
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

/** A size in bytes for people. */
export function bytes(value: number): string {
  if (value >= 1_048_576) return `${(value / 1_048_576).toFixed(1)} MiB`;
  return value >= 1_024 ? `${(value / 1_024).toFixed(1)} KiB` : `${value} B`;
}

/** Milliseconds for people. */
export function milliseconds(value: number): string {
  return value >= 1_000
    ? `${(value / 1_000).toFixed(1)} s`
    : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** A time since 1970, in the operator's own words for it. */
export function time(ms: number | undefined): string {
  if (ms === undefined || ms === 0) return "–";
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A payload as text, as far as a table shows it. */
export function shortened(data: JsonValue): string {
  const text = JSON.stringify(data);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
