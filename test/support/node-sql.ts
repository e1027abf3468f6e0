/** The storage of the core's tests is that of the test kit. */
export { NodeSql } from "../../package/test/node-sql.ts";
