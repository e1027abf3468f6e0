import { NodeSql } from "../support/node-sql.ts";
import { historyContract } from "./history-contract.ts";

historyContract(async (work) => {
  const sql = new NodeSql();
  try {
    work(sql);
  } finally {
    sql.close();
  }
});
