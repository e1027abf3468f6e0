/** Part of `npm run deploy`: refuses a configuration that the deployed Worker would refuse. */
import { configurationProblems } from "./configuration-problems.ts";

const problems = configurationProblems(process.argv.slice(2));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
