/** The server's version as connect replies state it. A test compares it with package.json. */
export const version = "0.1.0 Dormouse";

/** The name under which the package is published; a test compares it with package.json. */
export const packageName = "dormouse-realtime";
