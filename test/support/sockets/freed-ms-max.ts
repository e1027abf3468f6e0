/**
 * How soon a stream that its client has left must have freed its presence. Rule T6 says 2 s; a machine that is busy with
 * other tests may take longer. Without the rule the presence would stay until the client's next pong is missing: in
 * test/clients/connection/streams.test.ts for at least 13 s.
 */
export const freedMsMax = 8_000;
