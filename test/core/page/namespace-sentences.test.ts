import { describe, expect, it } from "vitest";
import { shownSettings } from "../../../src/features/console/settings.ts";
import type { Settings } from "../../../workers/page/answers.ts";
import { generalSentences, sentencesOf } from "../../../workers/page/namespace-sentences.ts";
import { Random } from "../../support/random.ts";
import { type RandomNamespace, randomNamespace } from "./random-namespace.ts";
import { ruledOutcome } from "./ruled-outcome.ts";
import { allCapabilities, type Try, triesOf } from "./tried-clients.ts";
import { SaidOfTries } from "./tried-sentences.ts";

/** Sentences that don't say what clients may do. */
const others = [
  /^Backends and connection tokens may subscribe clients to any channel\.$/,
  /^Each channel (?:is|shows) /,
  /^Whoever may subscribe (?:tracks|to) /,
  /^The (?:values come|key that is the ID|newest .+ kept|server keeps|options of this namespace alone)\b/,
  /^What others have read is shown by /,
  /^“.+” shows “.+”\.$/,
  /^No namespace names a prefix /,
  /^(?:A client is removed|A user stays|Clients that poll)/,
];

/** What the page says of a namespace and isn't so, and what it doesn't say. */
function misleading({ config }: RandomNamespace, tries: readonly Try[]): readonly object[] {
  const settings: Settings = JSON.parse(JSON.stringify(shownSettings(config)));
  const saidOf = (name: string): readonly string[] =>
    settings.namespaces
      .filter((one) => one.name === name)
      .flatMap((one) => sentencesOf(one, settings));
  const own = new SaidOfTries(tries);
  const unread = [...generalSentences(settings), ...saidOf("ns")].filter(
    (sentence) => !own.read(sentence) && !others.some((other) => other.test(sentence)),
  );
  for (const one of saidOf("seen")) if (one.includes(" receipts of ")) own.read(one);
  // What is said of subscribing in a mirror's namespace is said of looking at the channel.
  const looks = tries.flatMap((one) =>
    one.action === "look" ? [{ ...one, action: "subscribe" as const }] : [],
  );
  const mirror = new SaidOfTries(looks);
  for (const one of looks.length === 0 ? [] : saidOf("users"))
    if (/ may (?:not )?subscribe/.test(one)) mirror.read(one);
  const misread = unread.map((sentence) => ({ unread: sentence }));
  return [...own.contradictions, ...mirror.contradictions, ...misread, ...own.untold()];
}

describe("the page Namespaces", () => {
  const outcomes = new Set<string>();

  // In five parts, each of which takes a second or two.
  it.each([1, 2, 3, 4, 5])(
    "[N29] [A1] [A5] [A16] [Z18] [CU7] [CU37] says of 100 namespaces what real sessions do with clients of all kinds, and they do what the options say: %i",
    (seed) => {
      const random = new Random(seed);
      const wrong: object[] = [];
      for (let count = 0; count < 100; count++) {
        const namespace = randomNamespace(random);
        const { type, options, map, cursors } = namespace;
        const tries = triesOf(namespace, random.pick(allCapabilities));
        for (const { action, outcome } of tries) outcomes.add(`${type} ${action} ${outcome}`);
        const found = [
          ...misleading(namespace, tries),
          ...tries.filter((one) => (ruledOutcome(one, namespace) ?? one.outcome) !== one.outcome),
        ];
        if (found.length > 0 && wrong.length < 3)
          wrong.push({ options, map, cursors, found: found.slice(0, 3) });
      }
      expect(wrong).toStrictEqual([]);
    },
  );

  it("[N29] was tried with all actions and outcomes that a type of channels has", () => {
    expect(outcomes.size).toBe(69);
  });
});
