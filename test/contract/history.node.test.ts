import { NodeSql } from "../../package/test/node-sql.ts";
import { historyContract } from "./history-contract.ts";

historyContract(async (work) => {
  const sql = new NodeSql();
  try {
    work(sql);
  } finally {
    sql.close();
  }
});
