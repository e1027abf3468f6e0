import type { ChatBackend } from "../../../package/ai/index.ts";

/** A backend, and what kills the producer that has it: nothing that it sends arrives any more, and nothing is answered. */
export function mortal(backend: ChatBackend): {
  readonly from: ChatBackend;
  readonly kill: () => void;
} {
  let isDead = false;
  const never = new Promise<never>(() => undefined);
  const from: ChatBackend = {
    map_publish: (params) => (isDead ? never : backend.map_publish(params)),
    map_append: (params) => (isDead ? never : backend.map_append(params)),
    map_read_state: (params) => (isDead ? never : backend.map_read_state(params)),
    map_remove: (params) => (isDead ? never : backend.map_remove(params)),
    batch: (commands) => (isDead ? never : backend.batch(commands)),
  };
  return { from, kill: () => void (isDead = true) };
}
