import type { ChannelPart, PartedChannel, PartOutcome } from "../../channel/channel-part.ts";
import { plainPublication, entryOf, livePublication } from "../../channel/publication-request.ts";
import type { StoredPublication } from "../../channel/history-table.ts";
import type { ChannelOptions } from "../../config/config.ts";
import type {
  ChannelOperation,
  FailedReply,
  PublicationRequest,
} from "../../contract/channel-call.ts";
import {
  changeTags,
  isChangeTagged,
  isGoneTagged,
  withoutChangeTags,
} from "../../protocol/change-tags.ts";
import type { FieldWriter } from "../../protocol/fields.ts";
import { jsonOf } from "../../protocol/json/encode.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { elapsed } from "../../moment.ts";
import type { Payload } from "../../protocol/payload.ts";
import type { PublicationColumns } from "../../protocol/publication-columns.ts";
import type { Publication, StreamPosition, Tags } from "../../protocol/publication.ts";
import type { ChangeOperation, EraseOperation } from "./change-call.ts";
import {
  ChannelErasure,
  type ErasedAuthors,
  type ErasedChannel,
  erasureFields,
} from "./channel-erasure.ts";
import { nothingIn } from "./nothing.ts";

/** The channel, as its publications are changed. */
type ChangedChannel = Pick<
  PartedChannel,
  "name" | "options" | "topAt" | "stored" | "store" | "published"
>;

/** Changes publications of a channel (rules ED). */
export class ChannelChanges implements ChannelPart {
  readonly #channel: ChangedChannel & ErasedChannel;
  /** Erases publications. */
  readonly erasure: ChannelErasure;

  /** @param authors absent where nothing is kept of them */
  constructor(channel: ChangedChannel & ErasedChannel, authors?: ErasedAuthors) {
    this.#channel = channel;
    this.erasure = new ChannelErasure(channel, authors);
  }

  carryOut(operation: ChannelOperation, nowMs: number): PartOutcome | undefined {
    if (operation.method === "erase") return this.#erase(operation, nowMs);
    if (!isChange(operation)) return undefined;
    const outcome = this.#change(operation, nowMs);
    if (outcome.outcome !== "changed" && outcome.outcome !== "unchanged") return outcome;
    const fields = (out: FieldWriter): void => changeFields(out, outcome);
    if (operation.asMethod !== true) return { outcome: "result", fields };
    const data = trustedJsonText(jsonOf(outcome, changeFields));
    return { outcome: "reply", reply: { outcome: "answered", data } };
  }

  /** Carries out the first slice of an erasure. `ErasureEnd` carries out the others, and answers. */
  #erase({ request, key = "" }: EraseOperation, nowMs: number): PartOutcome {
    const top = this.#channel.topAt(nowMs);
    if (request.epoch !== "" && request.epoch !== top?.epoch)
      return { outcome: "unrecoverable-position" };
    if (!this.#channel.store.hasRoom(1, nowMs)) return { outcome: "too-many-keys" };
    const run = this.erasure.begin(request, key, nowMs);
    return {
      outcome: "result",
      fields: (out) => erasureFields(out, run, this.#channel.top),
    };
  }

  isVain(operation: ChannelOperation, nowMs: number): boolean | undefined {
    return isChange(operation) ? this.#check(operation, nowMs).outcome !== "changeable" : undefined;
  }

  #change(operation: ChangeOperation, nowMs: number): ChangeOutcome {
    const checked = this.#check(operation, nowMs);
    if (checked.outcome !== "changeable") return checked;
    const version = checked.version + 1;
    const position = this.#publish(operation, checked.publication, version, nowMs);
    if (position === undefined) return { outcome: "too-many-keys" };
    return { outcome: "changed", version, position };
  }

  /** Checks the conditions of a change, which have no effect (rules ED6 to ED8). */
  #check(operation: ChangeOperation, nowMs: number): Changeable | ChangeRefusal {
    const channel = this.#channel;
    const { offset, epoch, ifVersion, idempotencyKey } = operation.request;
    const top = channel.topAt(nowMs);
    const first = channel.store.firstResult(idempotencyKey, nowMs);
    if (first !== undefined)
      return { outcome: "unchanged", reason: "idempotency", version: 0, ...first };
    if (epoch !== "" && epoch !== top?.epoch) return { outcome: "unrecoverable-position" };
    const unchanged = (reason: ChangeSuppression, version: number): ChangeRefusal => ({
      outcome: "unchanged",
      reason,
      version,
      ...(top && { position: top }),
    });
    const found = channel.stored.find(offset, nowMs);
    if (found === undefined) return unchanged("not_found", 0);
    const { publication } = found;
    if (!this.#mayChange(operation, found, nowMs))
      return { outcome: "failed", error: errorCodes.permissionDenied };
    const { tags = {} } = publication;
    const version = versionOf(tags);
    if (isChangeTagged(tags)) return unchanged("is_change", 0);
    if (isGoneTagged(tags)) return unchanged("deleted", version);
    if (ifVersion !== undefined && ifVersion !== version)
      return unchanged("version_mismatch", version);
    return { outcome: "changeable", publication, version };
  }

  /** Whether it is a publication of the client's user, and not too old, where the client may change no others (rule ED13). */
  #mayChange(
    { request, info }: ChangeOperation,
    { publication: { info: author }, timeMs }: StoredPublication,
    nowMs: number,
  ): boolean {
    if (request.ownOnly !== true) return true;
    if (info === undefined || info.user === "" || info.user !== author?.user) return false;
    const { windowMs = 0 } = this.#channel.options.changes ?? {};
    return windowMs === 0 || !elapsed(timeMs, windowMs, nowMs);
  }

  /**
   * Publishes the change, and gives the changed row its new form in the same transaction: two rows written. Where an edit
   * before this one is still kept, its row loses its data, too (rule ED4).
   *
   * @returns undefined if nothing was done, because a key would have no room (rule I4)
   */
  #publish(
    operation: ChangeOperation,
    { offset, tags: tagsBefore, info: author }: Publication,
    version: number,
    nowMs: number,
  ): StreamPosition | undefined {
    const { store, relay, options } = this.#channel;
    const amend = (at: number, contents: PublicationColumns): void => {
      store.amend(at, contents);
      relay.amend(at, contents);
    };
    const { info, key: apiKey = "", request } = operation;
    const { data, tags } = formOf(operation, tagsBefore, options);
    const marks = marksOf(operation, version, nowMs);
    const isEdit = operation.method === "update_publication";
    const change: PublicationRequest = {
      ...plainPublication(data),
      tags: { ...tags, [isEdit ? changeTags.update : changeTags.delete]: String(offset), ...marks },
      idempotencyKey: request.idempotencyKey,
      delta: isEdit && operation.request.delta,
      ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
    };
    const entry = entryOf(change, info);
    const editBefore = Number(tagsBefore?.[changeTags.updated] ?? 0);
    const position = store.append(entry, nowMs, (own) => {
      const by = String(own);
      const mark = { [isEdit ? changeTags.updated : changeTags.deleted]: by };
      amend(offset, {
        data,
        tags: { ...tags, ...mark, ...marks },
        ...(author && { info: author }),
      });
      if (editBefore > 0)
        amend(editBefore, {
          data: nothingIn(options),
          tags: { [changeTags.replaced]: by },
        });
    });
    if (position === undefined) return undefined;
    const live = livePublication(change, info, position, options);
    this.#channel.published(live, entry, position, { info, apiKey, nowMs });
    return position;
  }
}

/** On a channel whose namespace doesn't allow changes (rule ED1). */
export const noChanges: ChannelPart = {
  carryOut: (operation) =>
    isChange(operation) || operation.method === "erase" ? { outcome: "not-available" } : undefined,
  isVain: (operation) => (isChange(operation) ? true : undefined),
};

/** Whether an operation edits or deletes a publication. */
export function isChange(operation: ChannelOperation): operation is ChangeOperation {
  return operation.method === "update_publication" || operation.method === "delete_publication";
}

/** The form that a change leaves of a publication: its data, and the tags of its publisher. */
function formOf(
  operation: ChangeOperation,
  tagsBefore: Tags | undefined,
  options: ChannelOptions,
): { readonly data: Payload; readonly tags: Tags | undefined } {
  const kept = withoutChangeTags(tagsBefore);
  if (operation.method === "delete_publication") return { data: nothingIn(options), tags: kept };
  const { data, tags } = operation.request;
  return { data, tags: tags === undefined ? kept : withoutChangeTags(tags) };
}

/** The tags that both rows of a change have. */
function marksOf({ method, info, request }: ChangeOperation, version: number, nowMs: number): Tags {
  const reason = method === "delete_publication" ? request.reason : "";
  return {
    [changeTags.version]: String(version),
    [changeTags.at]: String(nowMs),
    ...(info !== undefined && { [changeTags.by]: info.user }),
    ...(reason !== "" && { [changeTags.reason]: reason }),
  };
}

/** The version of a publication with these tags. */
export function versionOf(tags: Tags): number {
  return Number(tags[changeTags.version] ?? 1);
}

/** Why nothing was changed, in the words of the answer. */
type ChangeSuppression = "idempotency" | "not_found" | "is_change" | "deleted" | "version_mismatch";

/** A publication that a change would find, with its version. */
interface Changeable {
  readonly outcome: "changeable";
  readonly publication: Publication;
  readonly version: number;
}

/** Why a change does nothing. */
type ChangeRefusal = Unchanged | FailedReply | { readonly outcome: "unrecoverable-position" };

type ChangeOutcome = Changed | ChangeRefusal | { readonly outcome: "too-many-keys" };

/** The outcome of a change that is answered with a result. */
type Changed =
  | { readonly outcome: "changed"; readonly position: StreamPosition; readonly version: number }
  | Unchanged;

interface Unchanged {
  readonly outcome: "unchanged";
  readonly reason: ChangeSuppression;
  /** The true version; 0 if there is no such publication. */
  readonly version: number;
  /** Of the first change if its idempotency key was repeated; otherwise the top. */
  readonly position?: StreamPosition;
}

function changeFields(out: FieldWriter, outcome: Changed): void {
  out.unsigned(1, "offset", outcome.position?.offset, "always");
  out.text(2, "epoch", outcome.position?.epoch, "always");
  if (outcome.version > 0) out.unsigned(3, "version", outcome.version, "always");
  if (outcome.outcome === "changed") return;
  out.flag(4, "suppressed", true);
  out.text(5, "suppress_reason", outcome.reason);
}
