/** What a test asked for can't be done, or didn't happen in time. The message says what, and names the channel or client. */
export class DormouseTestError extends Error {
  override readonly name = "DormouseTestError";
}
