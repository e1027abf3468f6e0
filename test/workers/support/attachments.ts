import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { Attachment } from "../../../src/contract/attachment.ts";
import type { Holder } from "./place.ts";

/** Throws an object away, with its memory; its sockets stay. On a busy machine it may have fallen asleep by itself. */
export async function hibernate(holder: Holder): Promise<void> {
  try {
    await evictDurableObject(holder, { webSockets: "hibernate" });
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("not currently running"))) throw error;
  }
}

/** The present attachments of an object's sockets. */
export function attachmentsOf(holder: Holder): Promise<readonly Attachment[]> {
  return runInDurableObject<DurableObject, readonly Attachment[]>(holder, (_, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment()),
  );
}

/** Rewrites the attachments, and evicts the object, which then wakes with them. */
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
