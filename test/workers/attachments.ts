import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { Attachment } from "../../src/contract/attachment.ts";
import type { Holder } from "./place.ts";

/** Throws an object away, with its memory; its sockets stay. */
export function hibernate(holder: Holder): Promise<void> {
  return evictDurableObject(holder, { webSockets: "hibernate" });
}

/** What an object's sockets carry of their sessions now. */
export function attachmentsOf(holder: Holder): Promise<readonly Attachment[]> {
  return runInDurableObject<DurableObject, readonly Attachment[]>(holder, (_, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment()),
  );
}

/** Rewrites what they carry, and has the object wake with it. */
export async function rewriteAttachments(
  holder: Holder,
  rewrite: (attachment: Attachment) => object | string | null,
): Promise<void> {
  await runInDurableObject<DurableObject, void>(holder, (_, state) => {
    for (const socket of state.getWebSockets()) {
      socket.serializeAttachment(rewrite(socket.deserializeAttachment()));
    }
  });
  await hibernate(holder);
}
