/** Sentences about permissions. The page asks the questions by which sessions act, for each kind of client. */
import type { Capability } from "../../src/access/capabilities.ts";
import type { Caller, MayByBackend } from "../../src/session/may.ts";
import { listed } from "./text.ts";

/** Whether a client may do something. "if-kept": only if the channel keeps something of its user. */
type Answer = MayByBackend<string> | { readonly allowed: "if-kept" };

/** Asks for one client. */
export type Ask = (caller: Caller) => Answer;

/** The kinds of clients on a channel, without capabilities. */
const kinds: readonly Caller[] = ["", "42"].flatMap((user) =>
  [false, true].map((subscribed) => ({ user, subscribed })),
);

const capabilities: readonly Capability[] = ["sub", "pub", "prs", "hst", "call"];

/** The one who may do the most without a token for the channel. */
const mostEntitled: Caller = { user: "42", subscribed: true, capabilities };

/** The same, without a subscription. */
const mostEntitledOutside: Caller = { ...mostEntitled, subscribed: false };

const subjects: readonly (readonly [string, (caller: Caller) => boolean])[] = [
  ["subscriber", ({ subscribed }) => subscribed],
  ["subscriber with a user", ({ user, subscribed }) => subscribed && user !== ""],
  ["client", () => true],
  ["client with a user", ({ user }) => user !== ""],
];

/** The clients without capabilities that may do something, such as "client with a user"; undefined for none. */
function whoMay(ask: Ask): string | undefined {
  return subjectOf(kinds, ask);
}

/** Those of the subscribers that may do it. */
export function whichSubscribersMay(ask: Ask): string | undefined {
  return subjectOf(
    kinds.filter(({ subscribed }) => subscribed),
    ask,
  );
}

function subjectOf(asking: readonly Caller[], ask: Ask): string | undefined {
  const may = (caller: Caller): boolean => ask(caller).allowed === true;
  if (!asking.some(may)) return undefined;
  const subject = subjects.find(([, isOne]) => asking.every((one) => isOne(one) === may(one)));
  return subject?.[0] ?? "client of some kinds";
}

/** Whether a backend decides. */
function isAsked(ask: Ask): boolean {
  return kinds.every((caller) => ask(caller).allowed === "asked");
}

/** Whether no capability helps either. */
export function isForNobody(ask: Ask): boolean {
  return ask(mostEntitled).allowed === false;
}

/** Whether some clients may do it only if the channel keeps something of their users. */
export function isForKept(ask: Ask): boolean {
  return kinds.some((caller) => ask(caller).allowed === "if-kept");
}

/** Why nobody may do it: as the client is told that may do the most. */
export function whyNobody(ask: Ask): string {
  for (const caller of [mostEntitled, { user: "42", subscribed: true }]) {
    const answer = ask(caller);
    if (answer.allowed === false) return `“${answer.because}”`;
  }
  return "only capabilities allow it";
}

/** Something that clients may do on the channels of a namespace. */
export interface Deed {
  /** Such as "see who is here". */
  readonly what: string;
  /** The same where nobody may; absent if it is no other. */
  readonly none?: string;
  /** The same where a backend decides; absent if it is no other. */
  readonly asked?: string;
  readonly ask: Ask;
}

/** The sentence about who may do it. */
export function sentenceOf({ what, none = what, asked = what, ask }: Deed): string {
  if (isAsked(ask)) return `A backend decides who may ${asked}.`;
  const who = whoMay(ask);
  return who === undefined
    ? `Clients may not ${none}: ${whyNobody(ask)}.`
    : `Every ${who} may ${what}.`;
}

/** The things that a client may do only with a capability, such as "with “pub” publish". */
export function byCapability(deeds: readonly Deed[]): readonly string[] {
  return capabilities.flatMap((capability) => {
    const added = deeds.filter(({ ask }) =>
      kinds.some(
        (caller) =>
          ask(caller).allowed !== true &&
          ask({ ...caller, capabilities: [capability] }).allowed === true,
      ),
    );
    const what = listed(added.map((deed) => deed.what));
    return added.length === 0 ? [] : [`with “${capability}” ${what}`];
  });
}

/** The things that clients without a subscription may do on an ordinary channel, but not on one that is limited in its name. */
export function forSubscribersOnly(
  onPlain: readonly Deed[],
  onLimited: readonly Deed[],
): readonly string[] {
  return onPlain.flatMap(({ what, ask }, index) => {
    const { allowed: onOrdinary } = ask(mostEntitledOutside);
    const limited = onLimited[index]?.ask(mostEntitledOutside).allowed;
    const isLess = limited === false || (limited === "if-kept" && onOrdinary === true);
    return onOrdinary !== false && isLess ? [what] : [];
  });
}
