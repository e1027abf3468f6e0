import type { Action, Try } from "./tried-clients.ts";
import type { Outcome } from "./tried-server.ts";

/** A try that isn't what a reader of the page expects. */
export interface Contradiction {
  readonly sentence: string;
  readonly one: Try;
  readonly expected: Outcome;
}

/** The words of the page for what clients try. */
const words: readonly (readonly [Action, RegExp])[] = [
  ["subscribe", /\bsubscribe\b/],
  ["publish", /\bpublish\b/],
  ["set", /\bset (?:one key|keys)/],
  ["remove", /\bremove (?:one key|keys)/],
  ["append", /\bappend to the text of/],
  ["presence", /\bsee who is here/],
  ["history", /\bread the history/],
  ["mark", /\bmark what/],
  ["marks", /\bsee what others have read/],
  ["hears", /\bhear who joins and leaves/],
];

/** The actions that a sentence lists. */
function actionsIn(text: string): readonly Action[] {
  return words.filter(([, word]) => word.test(text)).map(([action]) => action);
}

/** What a sentence says of tries: the outcome that it makes a reader expect; undefined where it says nothing. */
type Says = (one: Try) => Outcome | undefined;

/** The tries with which a sentence is compared. */
export class SaidOfTries {
  readonly #tries: readonly Try[];
  readonly contradictions: Contradiction[] = [];
  /** The tries of which something was said. */
  readonly #told = new Set<Try>();
  /** Whether channels are limited by the users in their names. */
  limitsUsers = false;

  constructor(tries: readonly Try[]) {
    this.#tries = tries;
  }

  /** Reads a sentence. @returns whether it says what clients may do */
  read(sentence: string): boolean {
    for (const [shape, meaning] of meanings) {
      const match = shape.exec(sentence);
      if (match === null) continue;
      this.#compare(sentence, meaning(match, this));
      return true;
    }
    return false;
  }

  #compare(sentence: string, says: Says): void {
    for (const one of this.#tries) {
      const expected = says(one);
      if (expected === undefined) continue;
      this.#told.add(one);
      if (expected !== one.outcome) this.contradictions.push({ sentence, one, expected });
    }
  }

  /**
   * The tries of which nothing was said, although something should be: on an ordinary channel of anything, and of what
   * capabilities or the names of other channels change.
   */
  untold(): readonly Try[] {
    const told = new Set([...this.#told].map(({ action }) => action));
    return this.#tries.filter((one) => {
      if (this.#told.has(one)) return false;
      if (one.channel !== "plain") return this.outcomeOf(one, {}) !== one.outcome;
      const isNamed = words.some(([action]) => action === one.action);
      const isMore = this.outcomeOf(one, { capabilities: [] }) !== one.outcome;
      return isNamed && (isMore || (!told.has(one.action) && one.action !== "hears"));
    });
  }

  /** What the same client, with or without a user, came to with another try on the plain channel. */
  outcomeOf(one: Try, other: Partial<Try>): Outcome | undefined {
    const sought = { ...one, ...other, channel: "plain" };
    return this.#tries.find(
      (found) =>
        found.channel === "plain" &&
        found.action === sought.action &&
        found.subscribed === sought.subscribed &&
        (found.user === "") === (sought.user === "") &&
        found.capabilities.join() === sought.capabilities.join(),
    )?.outcome;
  }

  /** Whether clients are refused for a reason, as the log has it, that is quoted. */
  quotes(action: Action, reason: string): boolean {
    return this.#tries.some(
      (one) => one.action === action && one.reason?.endsWith(reason) === true,
    );
  }
}

/** A try on the plain channel without capabilities. */
function isPlain({ channel, capabilities }: Try): boolean {
  return channel === "plain" && capabilities.length === 0;
}

function among(who: string, withUser: string | undefined, one: Try): boolean {
  return (who === "client" || one.subscribed) && (withUser === undefined || one.user !== "");
}

function of(isAllowed: boolean): Outcome {
  return isAllowed ? "yes" : "no";
}

/** Takes what a sentence says of actions, and of tries on the plain channel without capabilities. */
function ofPlain(actions: readonly Action[], says: (one: Try) => Outcome): Says {
  return (one) => (actions.includes(one.action) && isPlain(one) ? says(one) : undefined);
}

function nobody(text: string, reason: string, said: SaidOfTries): Says {
  const actions = actionsIn(text);
  if (!actions.some((action) => said.quotes(action, reason)))
    throw new Error(`no client is told “${reason}”`);
  return ofPlain(actions, () => "no");
}

/** What sentences mean, by their shape. */
const meanings: readonly (readonly [
  RegExp,
  (match: readonly string[], said: SaidOfTries) => Says,
])[] = [
  [
    /^Every (client|subscriber)( with a user)? may (.+)\.$/,
    ([, who = "", withUser, text = ""]) =>
      ofPlain(actionsIn(text), (one) => of(among(who, withUser, one))),
  ],
  [
    /^A backend decides who may (.+)\.$/,
    ([, text = ""]) =>
      (one) =>
        actionsIn(text).includes(one.action) && one.channel === "plain" ? "asks" : undefined,
  ],
  [
    /^Clients may not change keys, which the server alone does: “(.+)”\.$/,
    ([, reason = ""], said) => nobody("set keys, remove keys, append to the text of", reason, said),
  ],
  [
    /^Clients may not (.+?): “(.+)”\.$/,
    ([, text = "", reason = ""], said) => nobody(text, reason, said),
  ],
  [
    /^Every subscriber( with a user)?( that asks for it)? hears who joins and leaves\.$/,
    ([, withUser]) => ofPlain(["hears"], (one) => of(among("client", withUser, one))),
  ],
  [
    /^Subscribers may not (hear who joins and leaves): “(.+)”\.$/,
    () => ofPlain(["hears"], () => "no"),
  ],
  [
    /^To a channel whose name ends with users, .+ only these may subscribe, without a token\.$/,
    (_, said) => {
      said.limitsUsers = true;
      return ({ action, channel, user }) =>
        action === "subscribe" && (channel === "own" || channel === "other")
          ? of(channel === "own" && user !== "")
          : undefined;
    },
  ],
  [
    /^To a channel whose name begins with “.+”, nothing but these lets a client subscribe\.$/,
    () =>
      ({ action, channel }) =>
        action === "subscribe" && channel === "private" ? "no" : undefined,
  ],
  [
    /^A subscription token lets its client subscribe to its channel, /,
    () =>
      ({ action }) =>
        action === "token" ? "yes" : undefined,
  ],
  [
    /^Another client with a user may mark once the channel keeps something of that user\.$/,
    () =>
      ({ action, user }) =>
        action === "kept" ? of(user !== "") : undefined,
  ],
  [
    /^To the receipts of “.+”, only a client may subscribe that may see what others have read there, /,
    (_, said) => (one) =>
      one.action === "receipts" ? said.outcomeOf(one, { action: "marks" }) : undefined,
  ],
  [
    /^No client may subscribe to the receipts of “.+”: “.+”\.$/,
    () =>
      ({ action }) =>
        action === "receipts" ? "no" : undefined,
  ],
  [
    /^A client that was away(?:, and has asked for recovery,)? (?:recovers|gets) /,
    recoverable("yes"),
  ],
  [/^A client that was away reads the map anew\.$/, recoverable("no")],
  [
    /^A client that was away, may read the history, and has asked for recovery, /,
    (_, said) => (one) =>
      one.action === "recovers" && one.channel === "plain"
        ? said.outcomeOf(one, { action: "history", subscribed: true })
        : undefined,
  ],
  [
    /^The capabilities of a token let its client do more: (.+)\.$/,
    ([, text = ""], said) =>
      (one) =>
        byCapabilities(one, text, said),
  ],
  [
    /^In private channels, and in those that are limited to users, only subscribers may (.+)\.$/,
    ([, text = ""], said) =>
      ({ action, channel, subscribed }) => {
        const isLimited = channel === "private" || (channel === "own" && said.limitsUsers);
        return isLimited && !subscribed && actionsIn(text).includes(action) ? "no" : undefined;
      },
  ],
];

function recoverable(outcome: Outcome): () => Says {
  return () =>
    ({ action }) =>
      action === "recovers" ? outcome : undefined;
}

/** A capability that is named for an action lets a client do it, but for what needs a user or a subscription as well. */
function byCapabilities(one: Try, text: string, said: SaidOfTries): Outcome | undefined {
  if (one.channel !== "plain" || one.capabilities.length === 0) return undefined;
  if (!words.some(([action]) => action === one.action)) return undefined;
  const parts = text.split("; ");
  const without = said.outcomeOf(one, { capabilities: [] });
  const isNamed = one.capabilities.some((capability) =>
    parts.some(
      (part) => part.startsWith(`with “${capability}” `) && actionsIn(part).includes(one.action),
    ),
  );
  if (!isNamed) return without;
  const isOfUser = ["set", "remove", "append"].includes(one.action) && text.includes("of its user");
  const needsUser = one.action === "mark" || isOfUser;
  return needsUser && one.user === "" ? without : "yes";
}
