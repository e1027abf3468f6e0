/**
 * The ID of a connection as Pusher's libraries know it: two decimal numbers with a dot. They are the halves of the
 * connection's UUID, so each can be told from the other, and nothing has to be remembered.
 */
export function socketIdOf(client: string): string {
  const digits = client.slice(0, 36).replaceAll("-", "");
  return `${BigInt(`0x${digits.slice(0, 16)}`)}.${BigInt(`0x${digits.slice(16)}`)}`;
}

/** The UUID of the connection; undefined if no connection has this ID. */
export function uuidOfSocket(socketId: string): string | undefined {
  const [, first, second] = /^(\d{1,20})\.(\d{1,20})$/.exec(socketId) ?? [];
  if (first === undefined || second === undefined) return undefined;
  const digits = [first, second]
    .map((half) => BigInt(half).toString(16).padStart(16, "0"))
    .join("");
  if (digits.length !== 32) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
