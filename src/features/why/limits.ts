/**
 * The bounds of what objects remember of publications and clients, so that a backend can ask why something didn't
 * arrive (rule B1). All of it is in memory, and where a bound is reached the oldest is forgotten.
 */
export const trailLimits = {
  /**
   * Publications with an offset whose way a channel's object remembers: 40 bytes each and the names of their publishers,
   * 148 KB in all. Fewer publications take less (rule Y1).
   */
  trailPublicationsMax: 256,
  /**
   * Frames with publications that a channel's object remembers, and a gateway of all its channels together: 80 bytes each,
   * 22 KB and 85 KB (rule Y9).
   */
  trailFramesMax: 256,
  trailGatewayFramesMax: 1_024,
  /** Calls to one gateway that a channel's object remembers: 40 bytes each, and 512 gateways may follow (rule Y1). */
  trailCallsMax: 64,
  /** Batches that a gateway remembers, of all its channels together: 40 bytes each, 44 KB (rule Y1). */
  trailBatchesMax: 1_024,
  /**
   * Subscriptions that began or ended, and connections that ended, which an object remembers: about 540 bytes
   * each, 417 KB (rule Y2).
   */
  trailNotesMax: 512,
  trailClosesMax: 256,
  /** Characters of a user's ID that is remembered. A connection with a longer one is found by its own ID only (rule Y2). */
  trailUserCharactersMax: 256,
  /** Characters of a connection's ID in a question. A longer one is answered 107 (rule Y3). */
  trailClientCharactersMax: 1_024,
  /** Gateways that are asked for the answer to one `why` or `inspect`. Beyond it the answer is `incomplete` (rule Y7). */
  askedGatewaysMax: 128,
  /** Of these, how many are asked at a time: a Worker may wait for six connections only. */
  askedAtATime: 6,
  /** How long the edge waits for each object that it asks, and for all of them: less than `objectAnswerMs` (rule Y7). */
  trailAnswerMs: 3_000,
  trailAllAnswersMs: 8_000,
  /**
   * Connections of the user that one object reports, and ends of connections. Beyond it the answer is `incomplete`
   * (rule Y3).
   */
  trailConnectionsMax: 100,
  /** Connections with the largest backlogs, and the last ends of connections, that `inspect` lists (rule Y4). */
  inspectedConnectionsMax: 20,
  /**
   * Keys of a channel's code that `inspect` lists, the characters of a value that it shows, and the last calls: at most
   * 120 KB (rule Y10).
   */
  inspectedKeysMax: 100,
  inspectedValueCharactersMax: 1_024,
  inspectedCallsMax: 20,
} as const;
