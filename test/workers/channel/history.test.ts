import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { historyContract } from "../../contract/history-contract.ts";

let objects = 0;

/** Runs a test on the storage of an object of its own. */
async function onFreshObject(work: (sql: ObjectSql) => void): Promise<void> {
  objects++;
  const stub = env.CHANNELS.getByName(`history-${objects}`);
  await runInDurableObject(stub, (_object, state) => work(new ObjectSql(state.storage)));
}

historyContract(onFreshObject);
