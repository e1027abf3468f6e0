import type { ScannedSlice } from "../../ring.ts";
import type { PartedChannel } from "../../channel/channel-part.ts";
import { entryOf, livePublication, plainPublication } from "../../channel/publication-request.ts";
import type { ChannelOperation } from "../../contract/channel-call.ts";
import type { Erased } from "../../contract/erased.ts";
import {
  changedOffset,
  changeTags,
  isChangeTagged,
  withoutName,
} from "../../protocol/change-tags.ts";
import type { FieldWriter } from "../../protocol/fields.ts";
import type { PublicationColumns } from "../../protocol/publication-columns.ts";
import type { Publication, StreamPosition, Tags } from "../../protocol/publication.ts";
import type { ChannelAuthors } from "./authors/channel-authors.ts";
import type { EraseRequest } from "./change-call.ts";
import { nothingIn } from "./nothing.ts";
import { changeLimits } from "./limits.ts";

/** The channel, as its publications are erased. */
export type ErasedChannel = Pick<
  PartedChannel,
  "options" | "topAt" | "top" | "stored" | "store" | "published" | "relay"
>;

/** Those whose clients have published to the channel. */
export type ErasedAuthors = Pick<ChannelAuthors, "erasing">;

/**
 * Erases publications of a channel (rules ED14 to ED17), in slices. Each slice overwrites rows, publishes which
 * publications are holes from now on, and has the relay blank them.
 */
export class ChannelErasure {
  readonly #channel: ErasedChannel;
  readonly #authors: ErasedAuthors | undefined;
  /** By the requests of the operations, as long as somebody holds them. */
  readonly #runs = new WeakMap<EraseRequest, ErasureRun>();

  /** @param authors absent where nothing is kept of them */
  constructor(channel: ErasedChannel, authors?: ErasedAuthors) {
    this.#channel = channel;
    this.#authors = authors;
  }

  /** Begins to erase what is asked for: carries out the first slice. */
  begin(request: EraseRequest, key: string, nowMs: number): ErasureRun {
    const run: ErasureRun = {
      request,
      key,
      erased: 0,
      from: 0,
      holes: { offsets: [], by: 0, data: nothingIn(this.#channel.options) },
    };
    this.#runs.set(request, run);
    if (request.offset === undefined) this.#authors?.erasing(request.user);
    this.goOn(run, nowMs);
    return run;
  }

  /** The run that an operation has begun; undefined if it has begun none. */
  runOf(operation: ChannelOperation): ErasureRun | undefined {
    return operation.method === "erase" ? this.#runs.get(operation.request) : undefined;
  }

  /**
   * Carries out the next slice of a run that isn't over.
   *
   * @throws if there is no room for the publication that says what is erased
   */
  goOn(run: ErasureRun, nowMs: number): void {
    const { request, from = 0 } = run;
    if (!this.#channel.store.hasRoom(1, nowMs)) throw new Error("no room for another key");
    const rows =
      request.offset === undefined
        ? this.#ofUser(request.user, from)
        : this.#ofOffset(request.offset, request.user, from);
    const readable = [...rows.erased.keys()].filter((offset) =>
      this.#channel.stored.isReadable(offset, nowMs),
    );
    if (rows.isOfGone) readable.push(rows.target);
    run.from = rows.next;
    run.erased += rows.erased.size + (rows.isOfGone ? 1 : 0);
    const by = this.#write(rows, readable, run.key, nowMs);
    const found = rows.erased.size + rows.changes.size + rows.unnamed.size;
    // The last slice has the gateways blank what they hold of the user, whatever the others have found.
    const isTold = found > 0 || run.from === undefined;
    // Also what was erased before, by a call whose end is unknown.
    const asked = request.offset === undefined ? [] : [request.offset, rows.target];
    run.holes = {
      offsets: [...new Set([...asked, ...rows.erased.keys()])],
      ...(isTold && request.offset === undefined && { user: request.user }),
      by,
      data: nothingIn(this.#channel.options),
    };
    if (isTold) this.#channel.relay.erase(run.holes, this.#channel.top);
  }

  /** Overwrites the rows, and publishes that. @returns the offset of the publication, or of the top */
  #write(rows: ErasedRows, readable: readonly number[], key: string, nowMs: number): number {
    const { store, options, top } = this.#channel;
    const contents = new Map<number, PublicationColumns>();
    const by = (top?.offset ?? 0) + (readable.length > 0 ? 1 : 0);
    const data = nothingIn(options);
    const at = { [changeTags.at]: String(nowMs) };
    for (const [offset, { version }] of rows.erased) {
      const tags = {
        [changeTags.erased]: String(by),
        [changeTags.version]: String(version),
        ...at,
      };
      contents.set(offset, { data, tags });
    }
    for (const offset of rows.changes)
      contents.set(offset, { data, tags: { [changeTags.replaced]: String(by) } });
    for (const [offset, named] of rows.unnamed) contents.set(offset, named);
    if (contents.size === 0) return by;
    const [only] = readable.length === 1 ? readable : [];
    const version = only === undefined ? undefined : rows.erased.get(only)?.version;
    const versionTag = version !== undefined && { [changeTags.version]: String(version) };
    const tags: Tags = { [changeTags.erase]: rangesOf(readable), ...versionTag, ...at };
    const change = { ...plainPublication(data), tags };
    const entry = readable.length > 0 ? entryOf(change, undefined) : undefined;
    const position = store.erase(contents, entry, nowMs);
    if (entry === undefined || position === undefined) return by;
    const live = livePublication(change, undefined, position, options);
    this.#channel.published(live, entry, position, { info: undefined, apiKey: key, nowMs });
    return by;
  }

  /**
   * A publication, or the one that a change at this offset has changed, with the change that carries its data.
   *
   * @param user who has to have published it; "" for whoever has
   * @param from the slot at which the search for a change of it begins
   */
  #ofOffset(offset: number, user: string, from: number): ErasedRows {
    const rows = noRows();
    const { tags = {} } = this.#channel.stored.kept(offset)?.publication ?? {};
    const target = changedOffset(tags) ?? offset;
    rows.target = target;
    const kept = this.#channel.stored.kept(target);
    if (user !== "" && kept?.publication.info?.user !== user) return noRows();
    if (kept !== undefined) this.#add(kept.publication, rows);
    else {
      // The publication itself may be gone from the history while a change of it isn't.
      const found = this.#channel.stored.changesOf(target, sliceFrom(from));
      for (const change of found.offsets) rows.changes.add(change);
      rows.next = found.next;
    }
    rows.isOfGone = kept === undefined && rows.changes.size > 0;
    return rows;
  }

  /** The rows of a user's publications, and those that name the user as the one who has changed a publication. */
  #ofUser(user: string, from: number): ErasedRows {
    const rows = noRows();
    const { stored } = this.#channel;
    const { offsets, next } = stored.naming(user, sliceFrom(from));
    rows.next = next;
    for (const offset of offsets) {
      const publication = stored.kept(offset)?.publication;
      if (publication === undefined) continue;
      const changed = changedOffset(publication.tags ?? {});
      const target = changed === undefined ? publication : stored.kept(changed)?.publication;
      // Whose publication it was that isn't kept any more isn't known: its data may be the user's.
      if (target === undefined) rows.changes.add(offset);
      else if (target.info?.user === user) this.#add(target, rows);
      else rows.unnamed.set(offset, withoutUser(publication, user));
      // The change of an own publication.
      if (changed !== undefined && !rows.unnamed.has(offset)) rows.changes.add(offset);
    }
    return rows;
  }

  #add({ offset, tags = {} }: Publication, rows: ErasedRows): void {
    if (isChangeTagged(tags) || tags[changeTags.erased] !== undefined) return;
    rows.erased.set(offset, { version: Number(tags[changeTags.version] ?? 1) + 1 });
    const change = tags[changeTags.updated] ?? tags[changeTags.deleted];
    if (change !== undefined) rows.changes.add(Number(change));
  }
}

/** Publications that one operation erases. */
export interface ErasureRun {
  readonly request: EraseRequest;
  /** The name of the API key. */
  readonly key: string;
  /** How many publications were erased so far. */
  erased: number;
  /** The slot of the history's ring at which the next slice begins; undefined if none is left. */
  from: number | undefined;
  /** The publications that the last slice has erased. */
  holes: Erased;
}

/** The rows of one slice, by their offsets. */
interface ErasedRows {
  /** The publications, with the versions that they get. */
  readonly erased: Map<number, { readonly version: number }>;
  /** Changes of them, which have their data, too. */
  readonly changes: Set<number>;
  /** Publications of others, without the user's name. */
  readonly unnamed: Map<number, PublicationColumns>;
  /** The publication that was asked for; 0 if a user was. */
  target: number;
  /** Whether only changes of it are kept. */
  isOfGone: boolean;
  /** The slot at which the next slice begins; undefined if there is none. */
  next: number | undefined;
}

function noRows(): ErasedRows {
  return {
    erased: new Map(),
    changes: new Set(),
    unnamed: new Map(),
    target: 0,
    isOfGone: false,
    next: undefined,
  };
}

function sliceFrom(from: number): ScannedSlice {
  const { scannedAtOnce: rowsMax, erasedAtOnce: foundMax } = changeLimits;
  return { from, rowsMax, foundMax };
}

/** A publication, or a change of one, that names a user who isn't its author. */
function withoutUser({ data, tags, info }: Publication, user: string): PublicationColumns {
  const kept = withoutName(tags, user);
  return {
    data,
    ...(kept && { tags: kept }),
    ...(info !== undefined && info.user !== user && { info }),
  };
}

/** Ascending offsets in a short form: "3,7-9". */
function rangesOf(offsets: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const offset of offsets.toSorted((one, other) => one - other)) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] + 1 === offset) range[1] = offset;
    else ranges.push([offset, offset]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join();
}

/** The result of a run. @param top the top of the stream after it */
export function erasureFields(
  out: FieldWriter,
  run: ErasureRun,
  top: StreamPosition | undefined,
): void {
  out.unsigned(1, "offset", top?.offset, "always");
  out.text(2, "epoch", top?.epoch, "always");
  out.unsigned(6, "erased", run.erased, "always");
}
