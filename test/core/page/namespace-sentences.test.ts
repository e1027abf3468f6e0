import { expect, it } from "vitest";
import { shownSettings } from "../../../src/features/console/settings.ts";
import type { Settings } from "../../../workers/page/answers.ts";
import { generalSentences, sentencesOf } from "../../../workers/page/namespace-sentences.ts";
import { Random } from "../../support/random.ts";
import { type RandomNamespace, randomNamespace } from "./random-namespace.ts";
import { ruledOutcome } from "./ruled-outcome.ts";
import { type Action, allCapabilities, type Try, triesOf } from "./tried-clients.ts";
import { SaidOfTries } from "./tried-sentences.ts";

/** Sentences that say nothing of what clients may do. */
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

/** What the page says of a namespace that isn't so. */
function wrong(namespace: RandomNamespace, tries: readonly Try[]): readonly object[] {
  const settings: Settings = JSON.parse(JSON.stringify(shownSettings(namespace.config)));
  const saidOf = (name: string) =>
    settings.namespaces
      .filter((one) => one.name === name)
      .flatMap((one) => sentencesOf(one, settings));
  const own = new SaidOfTries(tries);
  const sentences = [...generalSentences(settings), ...saidOf("ns")];
  // Of a mirror's namespace, what is said of subscribing is said of looking at the channel.
  const looks = tries
    .filter(({ action }) => action === "look")
    .map((one) => ({ ...one, action: "subscribe" as const }));
  const mirror = new SaidOfTries(looks);
  const isRead = (said: SaidOfTries, sentence: string): boolean =>
    said.read(sentence) || others.some((other) => other.test(sentence));
  const unread = sentences.filter((sentence) => !isRead(own, sentence));
  if (looks.length > 0)
    for (const one of saidOf("users")) if (/ may (?:not )?subscribe/.test(one)) mirror.read(one);
  for (const one of saidOf("seen")) if (one.includes(" receipts of ")) own.read(one);
  const untold = tries.filter(({ action }) => mustBeTold.has(action) && !own.told.has(action));
  return [
    ...own.contradictions,
    ...mirror.contradictions,
    ...unread.map((one) => ({ unread: one })),
    ...untold,
  ];
}

const mustBeTold: ReadonlySet<Action> = new Set<Action>([
  "subscribe",
  "publish",
  "set",
  "remove",
  "append",
  "presence",
  "history",
  "mark",
  "marks",
  "receipts",
]);

it("[N29] each sentence of the page Namespaces is true of real sessions, for 500 namespaces and all kinds of clients", () => {
  const random = new Random(51);
  const outcomes = new Set<string>();
  for (let count = 0; count < 500; count++) {
    const namespace = randomNamespace(random);
    const tries = triesOf(namespace, random.pick(allCapabilities));
    for (const { action, outcome } of tries) outcomes.add(`${namespace.type} ${action} ${outcome}`);
    expect(wrong(namespace, tries), JSON.stringify(namespace.options)).toStrictEqual([]);
    const unruled = tries.filter(
      (one) => (ruledOutcome(one, namespace) ?? one.outcome) !== one.outcome,
    );
    expect(unruled, JSON.stringify(namespace)).toStrictEqual([]);
  }
  expect([...outcomes].sort()).toMatchInlineSnapshot(`
    [
      "map append asks",
      "map append no",
      "map append yes",
      "map hears no",
      "map hears yes",
      "map history no",
      "map presence no",
      "map presence yes",
      "map recovers no",
      "map recovers yes",
      "map remove asks",
      "map remove no",
      "map remove yes",
      "map set asks",
      "map set no",
      "map set yes",
      "map subscribe asks",
      "map subscribe no",
      "map subscribe yes",
      "map token yes",
      "map_users append no",
      "map_users hears no",
      "map_users hears yes",
      "map_users history no",
      "map_users presence no",
      "map_users presence yes",
      "map_users recovers no",
      "map_users remove no",
      "map_users set no",
      "map_users subscribe asks",
      "map_users subscribe no",
      "map_users subscribe yes",
      "map_users token yes",
      "shared_poll hears no",
      "shared_poll hears yes",
      "shared_poll history no",
      "shared_poll presence no",
      "shared_poll presence yes",
      "shared_poll publish no",
      "shared_poll recovers no",
      "shared_poll subscribe asks",
      "shared_poll subscribe no",
      "shared_poll subscribe yes",
      "shared_poll token yes",
      "stream hears no",
      "stream hears yes",
      "stream history no",
      "stream history yes",
      "stream kept no",
      "stream kept yes",
      "stream look no",
      "stream look yes",
      "stream mark no",
      "stream mark yes",
      "stream marks no",
      "stream marks yes",
      "stream presence no",
      "stream presence yes",
      "stream publish asks",
      "stream publish no",
      "stream publish yes",
      "stream receipts no",
      "stream receipts yes",
      "stream recovers no",
      "stream recovers yes",
      "stream subscribe asks",
      "stream subscribe no",
      "stream subscribe yes",
      "stream token yes",
    ]
  `);
});
