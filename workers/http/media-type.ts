/** What a request's body is, by its Content-Type: in lower case, without parameters; "" when it doesn't say. */
export function mediaTypeOf({ headers }: Request): string {
  const [type = ""] = (headers.get("Content-Type") ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

/** The type of the protocol's own binary bodies, which are Protobuf (reference 4.2 and 4.3). */
export const binaryType = "application/octet-stream";
