import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Answer, AnswerReader } from "./answer-reader.ts";
import { chunked, chunksOf } from "./chunked.ts";

interface Said {
  readonly status: number;
  readonly body: string;
  /** Where the body is cut into chunks of the chunked encoding; undefined for a body with a Content-Length. */
  readonly encoding: readonly number[] | undefined;
  readonly keptAlive: boolean;
  readonly interim: boolean;
}

const answers: fc.Arbitrary<Said[]> = fc.array(
  fc.record({
    status: fc.constantFrom(200, 503),
    // Bodies may contain text that looks like another answer.
    body: fc.string({
      unit: fc.constantFrom("a", "\r", "\n", "HTTP/1.1 200 OK\r\n\r\n", "0\r\n\r\n"),
    }),
    encoding: fc.option(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }), {
      nil: undefined,
    }),
    keptAlive: fc.boolean(),
    interim: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

function written({ status, body, encoding, keptAlive, interim }: Said): string {
  const before = interim ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
  const connection = keptAlive ? "" : "Connection: close\r\n";
  const head = `${before}HTTP/1.1 ${status} Whatever\r\nContent-Type: text/plain\r\n${connection}`;
  if (encoding === undefined) return `${head}content-length: ${body.length}\r\n\r\n${body}`;
  const chunks: string[] = [];
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const chunk = body.slice(at, at + (encoding[turn % encoding.length] ?? 1));
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    at += chunk.length;
  }
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\nX-Trailer: 1\r\n\r\n`;
}

describe("AnswerReader", () => {
  it("finds the end of each answer, whatever the chunks", () => {
    const cut = answers.chain((said) =>
      fc
        .tuple(...said.map((one) => chunked(Buffer.from(written(one)))))
        .map((cuts) => ({ said, cuts })),
    );
    fc.assert(
      fc.property(cut, ({ said, cuts }) => {
        const reader = new AnswerReader();
        for (const [index, { status, body, keptAlive }] of said.entries()) {
          const one = cuts[index];
          const given: (Answer | undefined)[] = [];
          if (one !== undefined) for (const chunk of chunksOf(one)) given.push(reader.take(chunk));
          const last = given.pop();
          expect(given.every((early) => early === undefined)).toBe(true);
          expect(last).toEqual({ status, text: body.slice(0, 200), keptAlive });
        }
      }),
    );
  });

  it.each([
    ["not an answer of HTTP/1.1", "SSH-2.0\r\n"],
    ["an answer says no length", "HTTP/1.1 200 OK\r\n\r\n"],
    [
      "a chunk of an answer has no size",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ],
    [
      "an answer came that nothing was asked for",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP",
    ],
  ])("fails with %s", (problem, text) => {
    expect(() => new AnswerReader().take(Buffer.from(text))).toThrow(problem);
  });

  it("doesn't apply the length of one answer to the next", () => {
    const reader = new AnswerReader();
    reader.take(Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
    expect(() => reader.take(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"))).toThrow("says no length");
  });
});
