import { describe, expect, it } from "vitest";
import { billBetween, monthlyDollars } from "../../../workers/page/bill.ts";

describe("the bill", () => {
  it("[N4] is what was counted times what it costs", () => {
    const before = { 'dormouse_object_rows_written_total{kind="channel"}': 1_000_000 };
    const now = {
      'dormouse_object_rows_written_total{kind="channel"}': 3_000_000,
      'dormouse_object_awake_seconds_total{kind="gateway"}': 1_000_000,
      'centrifugo_node_incoming_http_requests_total{path="/api/publish",method="POST",status="200"}': 1_000_000,
      'dormouse_client_commands_total{method="publish"}': 20_000_000,
    };
    const { lines, dollars } = billBetween(before, now);
    const costs = lines.map((line) => Math.round(line.dollars * 1_000) / 1_000);
    // One million requests to the Worker; those and a twentieth of the commands to objects; an eighth of a GB; two million rows.
    expect(costs).toEqual([0.3, 0.3, 1.563, 2]);
    expect(dollars).toBeCloseTo(4.1625);
  });

  it("[N4] is shared among namespaces by their publications and deliveries", () => {
    const now = {
      'dormouse_object_rows_written_total{kind="channel"}': 1_000_000,
      'centrifugo_node_messages_sent_count{type="publication",channel_namespace="chat"}': 30,
      'centrifugo_node_messages_sent_count{type="publication",channel_namespace=""}': 10,
      'dormouse_deliveries_total{channel_namespace="chat"}': 50,
      'dormouse_deliveries_total{channel_namespace=""}': 50,
    };
    const { namespaces, dollars } = billBetween({}, now);
    expect(namespaces).toEqual([
      { namespace: "chat", publications: 30, deliveries: 50, dollars: dollars * 0.625 },
      { namespace: "", publications: 10, deliveries: 50, dollars: dollars * 0.375 },
    ]);
  });

  it("[N4] says of a month only what is beyond that which the plan includes", () => {
    const rows = 'dormouse_object_rows_written_total{kind="channel"}';
    // 730 hours have 73 million rows, of which 50 million are included.
    expect(monthlyDollars(billBetween({}, { [rows]: 100_000 }), 1)).toBeCloseTo(23);
    expect(monthlyDollars(billBetween({}, { [rows]: 100_000 }), 2)).toBe(0);
  });

  it("[N4] is nothing where nothing was counted", () => {
    expect(billBetween({}, {})).toMatchObject({ dollars: 0, namespaces: [] });
  });
});
