/**
 * The buffer for the bytes of all sockets. Each chunk is processed before the next one is read, so nothing is allocated
 * for a read. After the bytes that can arrive there is space for two more, for a reader's end marks.
 */
export const receiveBuffer: Buffer = Buffer.alloc(256 * 1024 + 2);

/** The part that the network may fill. */
export const receivable: Buffer = receiveBuffer.subarray(0, -2);
