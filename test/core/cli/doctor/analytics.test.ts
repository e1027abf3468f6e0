import { describe, expect, it } from "vitest";
import {
  analyticsQuery,
  type Billed,
  type Done,
  hasAll,
  judgeBilled,
  parseAnalytics,
} from "../../../../cli/doctor/analytics.ts";

/** An answer in the form of Cloudflare's documents, for two classes of objects and one of another Worker. */
const answer = {
  data: {
    viewer: {
      accounts: [
        {
          workersInvocationsAdaptive: [
            { sum: { requests: 800, errors: 1 } },
            { sum: { requests: 200, errors: 0 } },
          ],
          durableObjectsInvocationsAdaptiveGroups: [
            { sum: { requests: 700 }, dimensions: { namespaceId: "aa", type: "http" } },
            { sum: { requests: 30 }, dimensions: { namespaceId: "aa", type: "alarm" } },
            { sum: { requests: 50 }, dimensions: { namespaceId: "bb", type: "http" } },
          ],
          durableObjectsPeriodicGroups: [
            {
              sum: { duration: 12.5, rowsRead: 40, rowsWritten: 30, inboundWebsocketMsgCount: 900 },
              dimensions: { namespaceId: "aa" },
            },
            {
              sum: { duration: 99, rowsRead: 99, rowsWritten: 99, inboundWebsocketMsgCount: 99 },
              dimensions: { namespaceId: "of another Worker" },
            },
          ],
        },
      ],
    },
  },
  errors: null,
};

/** What Cloudflare counted of a run. */
const billed = (more: Partial<Billed>): Billed => ({
  workerRequests: 1_000,
  workerErrors: 0,
  objectRequests: new Map(),
  gbSeconds: 1,
  rowsRead: 1,
  rowsWritten: 1,
  messages: 1_000,
  ...more,
});

describe("Cloudflare's analytics", () => {
  it("are added up for one Worker and its objects", () => {
    const expected: Billed = {
      workerRequests: 1_000,
      workerErrors: 1,
      objectRequests: new Map([
        ["http", 750],
        ["alarm", 30],
      ]),
      gbSeconds: 12.5,
      rowsRead: 40,
      rowsWritten: 30,
      messages: 900,
    };
    expect(parseAnalytics(JSON.stringify(answer))).toEqual({ outcome: "billed", billed: expected });
  });

  it.each([
    ["<html>", "the answer isn't JSON"],
    [
      '{"data":null,"errors":[{"message":"not authorized for that account"}]}',
      "not authorized for that account",
    ],
    ['{"data":{"viewer":{"accounts":[]}},"errors":null}', "the token sees no such account"],
    ["[]", "the answer isn't JSON"],
  ])("that can't be read are a reason: %s", (text, reason) => {
    expect(parseAnalytics(text)).toEqual({ outcome: "refused", reason });
  });

  it("asks for the fields that it reads, within the times of the run", () => {
    for (const field of ["requests", "duration", "rowsWritten", "inboundWebsocketMsgCount", "type"])
      expect(analyticsQuery).toMatch(new RegExp(String.raw`\b${field}\b`));
    expect(analyticsQuery.match(/datetime_geq: \$from, datetime_leq: \$until/g)).toHaveLength(3);
  });

  const done: Done = { connects: 600, calls: 400, commands: 1_000, keepAlives: 20_000 };
  it.each<readonly [Partial<Billed>, Partial<Done>, readonly string[]]>([
    [{}, {}, ["good", "good"]],
    [{ messages: 21_000 }, {}, ["good", "note"]],
    [
      { messages: 0, objectRequests: new Map([["websocketMessage", 21_000]]) },
      {},
      ["good", "note"],
    ],
    [{ messages: 4_000 }, {}, ["good", "skipped"]],
    [{}, { keepAlives: 80 }, ["good", "skipped"]],
    [{ workerRequests: 5_000 }, {}, ["note", "good"]],
    [{ workerRequests: 0 }, {}, ["skipped"]],
  ])("tell whether automatic answers count: %o of %o", (counted, did, expected) => {
    const findings = judgeBilled(
      { outcome: "billed", billed: billed(counted) },
      { ...done, ...did },
    );
    expect(findings.map(({ verdict }) => verdict)).toEqual(expected);
  });

  it("are wrong if they can't be read, and complete with nine tenths of the requests", () => {
    expect(judgeBilled({ outcome: "refused", reason: "no" }, done)[0]?.verdict).toBe("wrong");
    expect(hasAll(billed({ workerRequests: 899 }), done)).toBe(false);
    expect(hasAll(billed({ workerRequests: 900 }), done)).toBe(true);
  });
});
