import { mapLimits } from "./limits.ts";
import type { Publication } from "../../protocol/publication.ts";
import { publicationBytes } from "../../contract/relay-batch.ts";
import { dueMoment } from "../../moment.ts";

/**
 * Pages of a map's state that were read a moment ago. Clients that synchronise at the same time ask for the same pages,
 * and reading one takes thousands of times as long as finding it here. All of them get the same list of entries, so that
 * it is also encoded once.
 *
 * A later page may be older than the question: it belongs to the position of its first page. A client that gets it also
 * gets all changes since that position before its subscription begins (rule Z3). So nothing has to be dropped when the
 * map changes. The keeper of a first page has to check that the map is still at the page's position.
 */
export class SharedPages<Page extends { readonly publications: readonly Publication[] }> {
  /** By what was asked for, oldest first. */
  readonly #pages = new Map<string, SharedPage<Page>>();
  #bytes = 0;

  /** @param key what is asked for, with everything that decides which entries the page has */
  find(key: string, nowMs: number): Page | undefined {
    this.forgetOld(nowMs);
    const known = this.#pages.get(key);
    // After a clock was set back, a page may wait behind one whose moment ends later.
    return known !== undefined && known.untilMs > nowMs ? known.page : undefined;
  }

  /** Keeps a page for a moment. The oldest ones make room for it. */
  keep(key: string, page: Page, nowMs: number): void {
    this.#forget(key);
    const bytes = page.publications.reduce((sum, each) => sum + publicationBytes(each), 0);
    this.#pages.set(key, { page, bytes, untilMs: nowMs + mapLimits.mapPageSharedMs });
    this.#bytes += bytes;
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= mapLimits.mapPagesSharedBytesMax) break;
      this.#forget(oldest);
    }
  }

  /** Forgets the pages whose moment is over; without it they would stay in memory until the next page is read. */
  forgetOld(nowMs: number): void {
    for (const [key, { untilMs }] of this.#pages) {
      if (dueMoment(untilMs, mapLimits.mapPageSharedMs, nowMs) > nowMs) break;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    const known = this.#pages.get(key);
    if (known === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= known.bytes;
  }
}

interface SharedPage<Page> {
  readonly page: Page;
  readonly bytes: number;
  readonly untilMs: number;
}
