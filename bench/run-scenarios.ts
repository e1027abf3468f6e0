import type { ScenarioResult } from "./results/results.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { Workbench } from "./workbench.ts";

/**
 * Runs the scenarios one after the other. A failure of one doesn't prevent the others.
 *
 * @throws if the workbench was closed meanwhile; the rest isn't run then
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  workbench: Workbench,
): Promise<readonly ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    const { name, question } = scenario;
    workbench.print(`${name}: ${question}`);
    try {
      results.push({ name, question, findings: await scenario.run(workbench) });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      workbench.print(`${name} failed: ${error instanceof Error ? error.stack : problem}`);
      results.push({ name, question, findings: [], problem });
    }
    if (workbench.isClosed) throw new Error("The bench was interrupted");
    await workbench.clear();
  }
  return results;
}
