import { Records } from "../../../support/records.ts";
import type { ViolationKind } from "../check-result.ts";
import type { Complain, Violations } from "../violations.ts";
import { checkLast } from "./growth-end.ts";
import type {
  AppendAnswered,
  AppendAsked,
  GrowthEvent,
  TextRemoval,
  TextShown,
  TextsFollowed,
  TextsRead,
  TextTold,
} from "./growth-event.ts";
import { GrowthRecord, type SentText, type ShownTexts, type TextChange } from "./growth-record.ts";
import { compareSeen } from "./growth-states.ts";
import { textDifference } from "./text-difference.ts";

/**
 * Checks texts that grow: whatever a client shows is the beginning of what had been sent by then, and becomes shorter only
 * when the client was told to read anew; what is durable stays, and what isn't is lost with the map's epoch alone (rules Z38
 * to Z43).
 */
export class Growth {
  readonly #violations: Violations;
  readonly #records = new Records((name) => new GrowthRecord(name));
  readonly #counts = { texts: 0, appends: 0, takenBack: 0, shown: 0, states: 0 };

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** What happened. */
  get counts(): GrowthCounts {
    return this.#counts;
  }

  take(event: GrowthEvent): void {
    const record = this.#records.of(event.channel);
    const complain = this.#violations.on(record.name);
    switch (event.f) {
      case "append":
        this.#append(record, event);
        return;
      case "text-remove":
        remove(record, event, complain);
        return;
      case "text-follow":
        this.#follow(record, event, complain);
        return;
      case "text-show":
        this.#show(record, event, complain);
        return;
      case "text-leave":
        leave(record, record.clients.of(event.process), event.time, complain);
        return;
      case "text-unusable": {
        const { process, time, problem } = event;
        complain("diverged", process, time, `${process} was sent what it can't show: ${problem}`);
        return;
      }
      case "text-read":
        this.#read(record, event, complain);
    }
  }

  /** Compares everything that was seen. No event may follow. */
  finish(isSettled: boolean, time: number): void {
    for (const record of this.#records.values()) {
      const complain = this.#violations.on(record.name);
      for (const client of record.clients.values())
        if (client.isAttached) seeWhole(record, client, time, complain);
      this.#counts.states += compareSeen(record, complain);
      if (isSettled) checkLast(record, time, complain);
      this.#counts.texts += record.texts.size;
    }
    this.#counts.states += this.#counts.shown;
  }

  #append(record: GrowthRecord, event: Extract<GrowthEvent, { readonly f: "append" }>): void {
    const text = record.texts.of(event.key);
    if (event.type === "invoke") send(text, event);
    else {
      if (event.type === "ok" && text.asked !== undefined) {
        if (event.refused === undefined) this.#counts.appends++;
        else if (event.length < (text.acknowledged?.length ?? 0)) this.#counts.takenBack++;
        answer(text, text.asked, event, this.#violations.on(record.name));
      }
      text.asked = undefined;
    }
  }

  #follow(record: GrowthRecord, event: TextsFollowed, complain: Complain): void {
    const { process, time, epoch, offset, deltas, texts } = event;
    const client = record.clients.of(process);
    client.isAttached = true;
    client.deltas = deltas;
    client.recoversTo = offset;
    if (texts === undefined) {
      if (client.epoch === epoch && client.offset <= offset) return;
      const text = `${process} goes on at ${epoch}:${offset} with what it had at ${client.epoch}:${client.offset}`;
      complain("hole", process, time, text);
      client.epoch = epoch;
      return;
    }
    client.epoch = epoch;
    client.offset = offset;
    const before = new Map(client.texts);
    client.texts.clear();
    for (const told of texts) {
      if (client.texts.has(told.key))
        complain("doubled", process, time, `${process} got ${told.key} twice`);
      const shown = (before.get(told.key) ?? "").slice(0, told.kept) + told.added;
      client.texts.set(told.key, shown);
      this.#compare(record, told.key, shown, event, complain);
      note(record, event, told, shown.length, complain);
    }
    missing(record, client.texts, event, complain);
    record.see(client, time);
  }

  #show(record: GrowthRecord, event: TextShown, complain: Complain): void {
    const { process, time, key, kept, added, offset, removed = false, together = false } = event;
    const client = record.clients.of(process);
    if (!client.isAttached) {
      complain("stray", process, time, `${process} was told of ${key} without being subscribed`);
      return;
    }
    if (!together && time - client.seenTime >= seenEveryMicroseconds)
      seeWhole(record, client, time, complain);
    place(client, event, complain);
    const before = client.texts.get(key);
    if (removed) {
      client.texts.delete(key);
      if (record.texts.of(key).removalAsked === undefined)
        complain("lost", process, time, `${process} was told that ${key} is removed; nobody asked`);
    } else {
      const shown = (before ?? "").slice(0, kept) + added;
      client.texts.set(key, shown);
      this.#compare(record, key, shown, event, complain);
      if (before !== undefined && shown.length < before.length) {
        const what = `showed ${before.length} characters of ${key}, and then ${shown.length}`;
        complain("forgotten", process, time, `${process} ${what}, and was told nothing`);
      }
    }
    if (offset === undefined) return;
    const length = removed ? undefined : client.texts.get(key)?.length;
    note(record, { ...event, epoch: client.epoch }, { key, offset }, length, complain);
  }

  #read(record: GrowthRecord, event: TextsRead, complain: Complain): void {
    const { epoch, texts, last = false } = event;
    for (const { key, text } of texts) this.#compare(record, key, text, event, complain);
    const read = new Map(texts.map(({ key, text }) => [key, text]));
    if (last) record.last = { epoch, texts: read };
    if (last) missing(record, read, event, complain);
    else for (const { key, text } of texts) tooShort(record.texts.of(key), text, event, complain);
    for (const { key, text } of texts) record.texts.of(key).isDurable(text.length, event.time);
  }

  /** A text is the beginning of what had been sent. */
  #compare(
    record: GrowthRecord,
    key: string,
    shown: string,
    { process, time }: TextsFollowed | TextShown | TextsRead,
    complain: Complain,
  ): void {
    this.#counts.shown++;
    const difference = textDifference(shown, record.texts.of(key).sent);
    if (difference !== undefined)
      complain(difference.kind, process, time, `${process} has ${key}, which ${difference.what}`);
  }
}

/** What happened to texts that grow. */
export interface GrowthCounts {
  readonly texts: number;
  /** Appends that were acknowledged. */
  readonly appends: number;
  /** How often a producer was told of a shorter text than had been acknowledged. */
  readonly takenBack: number;
  /** Texts that were compared with what had been sent, and states that were compared with the changes before them. */
  readonly shown: number;
  readonly states: number;
}

/** A producer sends a piece. What it sends after the end of its text isn't a part of it. */
function send(text: SentText, asked: AppendAsked): void {
  text.asked = asked;
  const end = asked.at + asked.text.length;
  if (text.finalLength === undefined && end > text.sent.length)
    text.sent = text.sent.slice(0, asked.at) + asked.text;
}

function answer(
  text: SentText,
  asked: AppendAsked,
  answered: AppendAnswered,
  complain: Complain,
): void {
  const { key, sent } = text;
  const { process, time, length, refused, epoch = "" } = answered;
  const told = (kind: ViolationKind, what: string): void => {
    complain(kind, process, time, `${process} was told that ${key} ${what}`);
  };
  if (length > sent.length) told("invented", `has ${length} characters; it sent ${sent.length}`);
  const durable = text.durableAt(asked.time);
  if (length < durable) told("forgotten", `has ${length} characters; ${durable} were durable`);
  if (refused !== undefined) {
    const isRight =
      refused === "final" ? text.finalLength !== undefined : refused === "length_mismatch";
    if (!isRight) told("diverged", `can't grow: ${refused}`);
    const { acknowledged } = text;
    if (acknowledged !== undefined && length < acknowledged.length) text.takenBack ??= acknowledged;
    return;
  }
  const end = asked.at + asked.text.length;
  if (end > (text.finalLength ?? end)) told("resurrected", "has grown after its end");
  if (length < end) told("lost", `has ${length} characters, after it appended ${end}`);
  const { takenBack } = text;
  if (takenBack?.epoch === epoch) {
    const what = `has lost some of its ${takenBack.length} characters`;
    told("forgotten", `${what}, and the epoch is still ${epoch}`);
  }
  const before = text.acknowledged;
  if (before?.epoch === epoch && length < before.length)
    told("forgotten", `has ${length} characters, and had ${before.length} in the epoch ${epoch}`);
  text.takenBack = undefined;
  text.acknowledged = { length, epoch };
  if (asked.final === true) text.finalLength ??= end;
  // The first piece of a key and the last one are durable before they are acknowledged (rule Z40).
  if (asked.at === 0 || asked.final === true) text.isDurable(end, time);
}

function remove(record: GrowthRecord, event: TextRemoval, complain: Complain): void {
  const text = record.texts.of(event.key);
  const { type, time, epoch, offset, key } = event;
  if (type === "invoke") text.removalAsked ??= time;
  if (type !== "ok") return;
  text.removed ??= time;
  if (epoch !== undefined && offset !== undefined)
    note(record, { ...event, epoch }, { key, offset }, undefined, complain);
}

/** A client's position follows the changes that it is told of, without a hole. */
function place(client: ShownTexts, event: TextShown, complain: Complain): void {
  const { process, time, key, offset } = event;
  const before = client.offset;
  if (offset === undefined) {
    if (before < client.recoversTo) unrecovered(client, time, complain);
    if (!client.deltas) {
      const text = `${process} was told of text of ${key} that isn't durable, without deltas`;
      complain("unpositioned", process, time, text);
    }
    return;
  }
  client.offset = offset;
  // Of several changes of a text, a client that recovers or has no deltas may get the last one alone. That it doesn't lack
  // the others is seen when its texts are compared.
  const isRecovered = before < client.recoversTo && offset <= client.recoversTo;
  const isNext = isRecovered || !client.deltas ? offset > before : offset === before + 1;
  if (isNext) return;
  const kind = offset <= before ? "doubled" : "hole";
  complain(kind, process, time, `${process} was told of ${key} at ${offset} after ${before}`);
}

function unrecovered(client: ShownTexts, time: number, complain: Complain): void {
  const { process, offset, recoversTo } = client;
  const text = `${process} was told that it has recovered ${recoversTo}, and has ${offset}`;
  complain("lost", process, time, text);
  client.offset = recoversTo;
}

function leave(record: GrowthRecord, client: ShownTexts, time: number, complain: Complain): void {
  if (client.isAttached) seeWhole(record, client, time, complain);
  client.isAttached = false;
}

/** Keeps what a client shows. */
function seeWhole(record: GrowthRecord, client: ShownTexts, time: number, complain: Complain) {
  if (client.offset < client.recoversTo) unrecovered(client, time, complain);
  client.seenTime = time;
  record.see(client, time);
}

/** Somebody was told of a change, and so of durable text. */
function note(
  record: GrowthRecord,
  {
    process,
    time,
    epoch,
  }: { readonly process: string; readonly time: number; readonly epoch: string },
  { key, offset }: Pick<TextTold, "key" | "offset">,
  length: number | undefined,
  complain: Complain,
): void {
  if (length !== undefined) record.texts.of(key).isDurable(length, time);
  if (offset === undefined) return;
  const changes = record.epochs.of(epoch);
  const known = changes.get(offset);
  if (known !== undefined && (known.key !== key || known.length !== length)) {
    const text = `${epoch}:${offset} is ${inWords({ key, length })} and was ${inWords(known)}`;
    complain("forgotten", process, time, text);
  }
  changes.set(offset, { key, length });
}

function inWords({ key, length }: TextChange): string {
  return length === undefined ? `the removal of ${key}` : `${key} with ${length} characters`;
}

/** Who reads all texts gets as much of each as was durable when they asked, and none that was removed by then. */
function missing(
  record: GrowthRecord,
  read: ReadonlyMap<string, string>,
  event: TextsFollowed | TextsRead,
  complain: Complain,
): void {
  const { process, time, asked } = event;
  for (const text of record.texts.values()) {
    const has = read.get(text.key);
    if (has !== undefined && (text.removed ?? Number.POSITIVE_INFINITY) <= asked)
      complain("resurrected", process, time, `${process} read ${text.key}, which was removed`);
    if (has !== undefined || text.removalAsked === undefined)
      tooShort(text, has ?? "", event, complain);
  }
}

function tooShort(
  text: SentText,
  has: string,
  { process, time, asked }: TextsFollowed | TextsRead,
  complain: Complain,
): void {
  const durable = text.durableAt(asked);
  if (has.length >= durable) return;
  const what = `read ${has.length} characters of ${text.key}; ${durable} were durable before`;
  complain("lost", process, time, `${process} ${what}`);
}

/** How often the texts of a client are compared. */
const seenEveryMicroseconds = 500_000;
