import { Records } from "../../../support/records.ts";
import type { ViolationKind } from "../check-result.ts";
import type {
  MapChangeEvent,
  MapDelivered,
  MapEntryTold,
  MapEnded,
  MapEvent,
  MapRead,
  MapSubscribed,
} from "./map-event.ts";
import { checkConditions } from "./map-conditions.ts";
import { type AskedChange, type MapCopy, MapRecord } from "./map-record.ts";
import { compareStates } from "./map-states.ts";
import type { Complain, Violations } from "../violations.ts";

/** Checks what happened to maps: every copy is the map as it is at the copy's offset (rules Z1 to Z6). */
export class Maps {
  readonly #violations: Violations;
  readonly #records = new Records((name) => new MapRecord(name));
  readonly #counts = { deliveries: 0, states: 0, changes: 0 };

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** How many changes were delivered, how many states were compared, and how many changes were asked for. */
  get counts(): { readonly deliveries: number; readonly states: number; readonly changes: number } {
    return this.#counts;
  }

  take(event: MapEvent): void {
    const record = this.#records.of(event.channel);
    switch (event.f) {
      case "map":
        record.isEphemeral = event.mode === "ephemeral";
        record.keyTtlMs = event.keyTtlMs;
        record.isCoded = event.isCoded === true;
        return;
      case "map-change":
        this.#change(record, event);
        return;
      case "map-subscribe":
        this.#subscribe(record, event);
        return;
      case "map-deliver":
        this.#deliver(record, event);
        return;
      case "map-end":
        this.#end(record, event);
        return;
      case "map-forget":
        record.acknowledged = undefined;
        return;
      case "map-read":
        this.#read(record, event);
    }
  }

  /** Compares everything that was seen. No event may follow. */
  finish(isSettled: boolean, time: number): void {
    for (const record of this.#records.values()) {
      const complain = this.#violations.on(record.name);
      for (const copy of record.copies.values()) {
        if (copy.isAttached) see(record, copy, time);
        if (isSettled) checkLast(record, copy, time, complain);
      }
      for (const [id, asked] of record.asked) checkOrder(id, asked, time, complain);
      this.#counts.states += compareStates(record, complain);
      checkConditions(record, complain);
    }
  }

  #change(record: MapRecord, event: MapChangeEvent): void {
    const { change, key, value, type, epoch, offset, suppressed, time } = event;
    if (type === "invoke") {
      const { version, ifOffset } = event;
      const what = { key, value, version, ifOffset, invokedTime: time } as const;
      this.#counts.changes++;
      record.asked.set(change, { ...what, outcome: "open", after: record.acknowledged });
      return;
    }
    const asked = record.asked.get(change);
    if (asked === undefined || asked.outcome === "made") return;
    if (type === "info") asked.outcome = "unknown";
    else if (type === "fail") asked.outcome = "refused";
    else asked.outcome = suppressed === undefined ? "made" : "suppressed";
    if (asked.outcome === "made" && epoch !== undefined && offset !== undefined) {
      this.#note(record, epoch, { key, offset, ...(value === undefined ? {} : { value }) }, event);
      place(asked, epoch, offset);
      const { acknowledged } = record;
      if (acknowledged?.epoch !== epoch || acknowledged.offset < offset)
        record.acknowledged = { epoch, offset };
    } else if (asked.outcome !== "made" && asked.offset !== undefined && type !== "info") {
      const text = `${change} was received at ${asked.offset} and then refused`;
      this.#complain(record, "resurrected", event, text);
    }
  }

  #subscribe(record: MapRecord, event: MapSubscribed): void {
    const { process, epoch, state, since, changes, offset } = event;
    const copy = record.copies.of(process);
    if (state === undefined) {
      if (!copy.isWhole || copy.epoch !== epoch || copy.offset !== since) {
        const has = `${copy.epoch}:${copy.offset}`;
        const text = `${process} goes on at ${epoch}:${since} with a copy of ${has}`;
        this.#complain(record, "hole", event, text);
      }
    } else {
      copy.forget();
      for (const entry of state) this.#takeEntry(record, copy, entry, event);
    }
    copy.isAttached = true;
    copy.hasLeft = false;
    copy.isWhole = true;
    copy.epoch = epoch;
    copy.offset = since;
    for (const change of changes) this.#apply(record, copy, change, event);
    if (copy.offset !== offset) {
      const text = `${process} was told ${offset} and has the changes up to ${copy.offset}`;
      this.#complain(record, "hole", event, text);
      copy.offset = offset;
    }
    see(record, copy, event.time);
  }

  /** An entry of a page. */
  #takeEntry(record: MapRecord, copy: MapCopy, entry: MapEntryTold, event: MapSubscribed): void {
    const { process, since } = event;
    const { key, value = "", offset } = entry;
    if (copy.values.has(key))
      this.#complain(record, "doubled", event, `${process} got ${key} on two pages`);
    if (since !== undefined && (offset ?? 0) > since) {
      const text = `${process} got ${key} = ${value} of ${offset} on a page as of ${since}`;
      this.#complain(record, "doubled", event, text);
    }
    this.#note(record, event.epoch, entry, event);
    copy.apply(entry);
  }

  #deliver(record: MapRecord, event: MapDelivered): void {
    const { process, key, value, offset } = event;
    const copy = record.copies.of(process);
    if (!copy.isAttached) {
      const text = `${process} received a change of ${key} without being subscribed`;
      this.#complain(record, "stray", event, text);
      return;
    }
    const entry = { key, ...(value === undefined ? {} : { value }) };
    if (copy.offset === 0 && event.epoch !== undefined) copy.epoch = event.epoch;
    this.#apply(record, copy, offset === undefined ? entry : { ...entry, offset }, event);
  }

  /** A client carries out a change. */
  #apply(
    record: MapRecord,
    copy: MapCopy,
    change: MapEntryTold,
    event: MapSubscribed | MapDelivered,
  ): void {
    this.#counts.deliveries++;
    const { process } = event;
    const { key, value, offset } = change;
    const what = value === undefined ? `the removal of ${key}` : `${key} = ${value}`;
    if (copy.offset !== undefined && offset !== copy.offset + 1) {
      const kind = (offset ?? 0) <= copy.offset ? "doubled" : "hole";
      const text = `${process} received ${what} at ${offset} after ${copy.offset}`;
      this.#complain(record, kind, event, text);
    }
    const before = copy.values.get(key);
    // A key that is removed while the client reads pages may be on none of them, and where only the newest change of a
    // key is sent (rule Z14) the removal may be all that is sent of it.
    const isLive = !record.isEphemeral && (event.f === "map-deliver" || event.state === undefined);
    const isRepeated =
      value === undefined ? isLive && before === undefined : before?.value === value;
    if (isRepeated) this.#complain(record, "doubled", event, `${process} received ${what} again`);
    this.#note(record, copy.epoch, change, event);
    copy.apply(change);
    if (copy.offset !== undefined) copy.offset = offset;
  }

  #end(record: MapRecord, { process, time, forgets = false, leaves = false }: MapEnded): void {
    const copy = record.copies.of(process);
    if (copy.isAttached) see(record, copy, time);
    copy.isAttached = false;
    copy.hasLeft ||= leaves;
    if (forgets) copy.forget();
  }

  #read(record: MapRecord, event: MapRead): void {
    const { process, time, epoch, offset, entries } = event;
    const values = new Map<string, MapEntryTold>();
    for (const entry of entries) {
      if (values.has(entry.key))
        this.#complain(record, "doubled", event, `the state has ${entry.key} twice`);
      values.set(entry.key, entry);
      this.#note(record, epoch, entry, event);
    }
    record.final = { process, time, epoch, offset, values };
    record.seen.push(record.final);
    // An offset of which nobody was told has to be known as one.
    record.epochs.of(epoch);
  }

  /** Somebody was told of a change. */
  #note(record: MapRecord, epoch: string, change: MapEntryTold, event: MapEvent): void {
    const { key, value, offset } = change;
    if (record.isCoded && value !== undefined && !record.asked.has(value)) {
      const what = { key, value, version: undefined, ifOffset: undefined, after: undefined };
      record.asked.set(value, { ...what, invokedTime: event.time, outcome: "unknown" });
    }
    const asked = value === undefined ? undefined : record.asked.get(value);
    if (value !== undefined && asked?.key !== key) {
      this.#complain(record, "invented", event, `nobody set ${key} to ${value}`);
    }
    if (asked?.outcome === "refused" || asked?.outcome === "suppressed") {
      const text = `${key} = ${value} was received although it was ${asked.outcome}`;
      this.#complain(record, "resurrected", event, text);
    }
    if (offset === undefined) return;
    const changes = record.epochs.of(epoch);
    const known = changes.get(offset);
    if (known !== undefined && (known.key !== key || known.value !== value)) {
      const was = `${known.key} = ${known.value ?? "removed"}`;
      const text = `${epoch}:${offset} is ${key} = ${value ?? "removed"} and was ${was}`;
      this.#complain(record, "forgotten", event, text);
    }
    changes.set(offset, change);
    record.told(epoch, offset, event.time);
    if (asked === undefined) return;
    if (asked.offset !== undefined && (asked.offset !== offset || asked.epoch !== epoch)) {
      const text = `${value} is at ${asked.epoch}:${asked.offset} and at ${epoch}:${offset}`;
      this.#complain(record, "republished", event, text);
    }
    place(asked, epoch, offset);
  }

  #complain(record: MapRecord, kind: ViolationKind, event: MapEvent, text: string): void {
    this.#violations.on(record.name)(kind, event.process, event.time, text);
  }
}

function place(asked: AskedChange, epoch: string, offset: number): void {
  asked.epoch = epoch;
  asked.offset = offset;
}

/** Keeps what a client holds, to be compared when all changes are known. */
function see(record: MapRecord, copy: MapCopy, time: number): void {
  const { process, epoch, offset, values } = copy;
  if (offset === undefined) return;
  record.epochs.of(epoch);
  record.seen.push({ process, time, epoch, offset, values: new Map(values) });
}

/** A change that was asked for after another one was acknowledged comes after it (rule O1). */
function checkOrder(
  id: string,
  { after, epoch, offset, invokedTime }: AskedChange,
  time: number,
  complain: Complain,
): void {
  if (after === undefined || offset === undefined || epoch !== after.epoch) return;
  if (offset > after.offset) return;
  const asked = `${id}, asked for at ${invokedTime} µs,`;
  complain("swapped", id, time, `${asked} is at ${offset}; ${after.offset} was known before`);
}

/** In the end every client that wants the map has it. */
function checkLast(record: MapRecord, copy: MapCopy, time: number, complain: Complain): void {
  const { process, isAttached, hasLeft, offset, epoch, values } = copy;
  if (hasLeft) return;
  if (!isAttached) {
    complain("absent", process, time, `${process} was not subscribed again`);
    return;
  }
  const { final } = record;
  if (final === undefined) return;
  if (offset !== undefined && epoch !== final.epoch && (offset > 0 || final.offset > 0)) {
    const text = `${process} follows the epoch ${epoch}, the map has ${final.epoch}`;
    complain("forgotten", process, time, text);
  } else if (offset !== undefined && offset !== final.offset) {
    const text = `${process} is at ${offset} in the end, the map at ${final.offset}`;
    complain(offset < final.offset ? "lost" : "forgotten", process, time, text);
  }
  // Clients that aren't told offsets can be compared in the end alone; the others are compared with the changes, too.
  for (const key of new Set([...values.keys(), ...final.values.keys()])) {
    const [has, should] = [values.get(key)?.value, final.values.get(key)?.value];
    if (has === should) continue;
    const kind = has === undefined ? "lost" : should === undefined ? "resurrected" : "diverged";
    const text = `${process} has ${key} = ${has ?? "nothing"} in the end, and not ${should ?? "nothing"}`;
    complain(kind, process, time, text);
  }
}
