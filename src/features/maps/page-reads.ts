import { type ClientOperation, errorOf, type FailedReply } from "../../contract/channel-call.ts";
import type { MapPageReply } from "./map-call.ts";
import type { ObjectPart } from "../../object/part.ts";
import type { RelayReply, RelayRequest } from "../../contract/relay-request.ts";
import { SharedPages } from "./shared-pages.ts";

/**
 * Reads pages of maps for a gateway's clients. Clients that come at the same time ask for the same pages. Pages after
 * the first one may be a moment old. So one answer of the channel's object serves all clients that want the same page
 * while the answer is on its way, and for a moment after that. A page crosses to the gateway once. Clients at the end
 * of a long call don't get short pages because earlier ones have filled the answer. A first page is as new as the
 * request for it.
 */
export class PageReads implements ObjectPart {
  readonly #ask: AskChannel;
  readonly #pages = new SharedPages<MapPageReply>();
  readonly #underWay = new Map<string, PageDone[]>();
  /** Forgets the pages whose moment is over. Absent until a page is read: on most gateways none is. */
  settle?: (nowMs: number) => void;

  /** @param ask sends a request to a channel's object */
  constructor(ask: AskChannel) {
    this.#ask = ask;
  }

  /** Reads a page, if that is what the operation does. */
  request(channel: string, operation: ClientOperation, nowMs: number, done: PageDone): boolean {
    if (operation.method === "map_state") this.#read(channel, operation, nowMs, done);
    return operation.method === "map_state";
  }

  #read(channel: string, read: PageRead, nowMs: number, done: PageDone): void {
    const { request, bytesMax } = read;
    if (request.since === undefined) {
      this.#ask(channel, read, (reply) => done(pageOf(reply)), true);
      return;
    }
    const key = JSON.stringify([channel, request, bytesMax]);
    this.settle ??= (settledMs) => this.#pages.forgetOld(settledMs);
    const known = this.#pages.find(key, nowMs);
    if (known !== undefined) {
      done(known);
      return;
    }
    const waiting = this.#underWay.get(key);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    const all = [done];
    this.#underWay.set(key, all);
    this.#ask(
      channel,
      read,
      (reply) => {
        this.#underWay.delete(key);
        const page = pageOf(reply);
        if (page.outcome === "page") this.#pages.keep(key, page, nowMs);
        for (const each of all) each(page);
      },
      true,
    );
  }
}

type PageRead = Extract<ClientOperation, { readonly method: "map_state" }>;
type PageDone = (reply: MapPageReply | FailedReply) => void;
type AskChannel = (
  channel: string,
  request: RelayRequest,
  done: (reply: RelayReply) => void,
  shares: boolean,
) => void;

function pageOf(reply: RelayReply): MapPageReply | FailedReply {
  return reply.outcome === "page" ? reply : { outcome: "failed", error: errorOf(reply) };
}
