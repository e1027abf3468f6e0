/** What several pages are made of. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { go, href } from "./hash-route.ts";
import type { Answer } from "./server.ts";
import { isJson } from "./text.ts";

/** What every page gets. */
export interface PageProps {
  readonly params: URLSearchParams;
  /** To be called when the login has ended. */
  readonly loggedOut: () => void;
}

/** What a part of a page asks in each round. */
export interface Asked {
  readonly round: number;
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

/** In place of what the server can't list. Nothing is asked: the answer would be a refusal (rule N28). */
export function NoUsers() {
  return (
    <p>
      The server doesn't know which channels have subscribers, and who is connected:{" "}
      <code>client.users.enabled</code> is off.
    </p>
  );
}

/** A user, who leads to the page of the user. */
export function UserLink({ user }: { readonly user: string }) {
  return user === "" ? "(anonymous)" : <a href={href("users", { user })}>{user}</a>;
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
 * Keeps the answer to the newest call: an earlier one may be answered later, and would show what isn't so any more.
 *
 * @returns the state, and a function that takes an answer that is coming
 */
export function useAnswer<Result>(
  loggedOut: () => void,
): readonly [Called<Result>, (coming: Promise<Answer<Result>>) => Promise<Result | undefined>] {
  const [called, setCalled] = useState<Called<Result>>({ problem: "", isWaiting: false });
  const asked = useRef(0);
  const take = async (coming: Promise<Answer<Result>>): Promise<Result | undefined> => {
    const number = ++asked.current;
    setCalled((before) => ({ ...before, isWaiting: true }));
    const answer = await coming;
    const isNewest = number === asked.current;
    switch (answer.outcome) {
      case "logged-out":
        loggedOut();
        return undefined;
      case "failed":
        if (isNewest)
          setCalled((before) => ({ ...before, problem: answer.message, isWaiting: false }));
        return undefined;
      case "result":
        if (isNewest) setCalled({ result: answer.result, problem: "", isWaiting: false });
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
  value = '{"text":"hello"}',
}: {
  readonly id: string;
  readonly name: string;
  /** What the value is. */
  readonly label: string;
  readonly rows: number;
  /** What is in it at first, in place of the example. */
  readonly value?: string;
}) {
  return (
    <>
      <label for={id}>{label}, as JSON</label>
      <textarea id={id} name={name} rows={rows} spellcheck={false} required>
        {value}
      </textarea>
    </>
  );
}

/** What is wrong with a value that was typed as JSON; "" if nothing is. */
export function jsonFault(what: "arguments" | "payload" | "value", text: string): string {
  const isOne = what !== "arguments";
  return isJson(text)
    ? ""
    : `The ${what} ${isOne ? "isn't" : "aren't"} valid JSON. A text needs quotes.`;
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
