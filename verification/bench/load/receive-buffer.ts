/**
 * Where every socket's bytes arrive: one buffer for all, since each chunk is dealt with before the next one is read. So
 * nothing is allocated for a read. Behind the bytes that can arrive there is room for one more, where a reader may put
 * an end mark for its search.
 */
export const receiveBuffer: Buffer = Buffer.alloc(256 * 1024 + 1);

/** What the network may fill. */
export const receivable: Buffer = receiveBuffer.subarray(0, -1);
