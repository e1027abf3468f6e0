import type { ScenarioResult } from "./results/results.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { Workbench } from "./workbench.ts";

/**
 * Runs them one after the other. One that fails keeps none of the others from being run.
 *
 * @throws when the workbench was closed meanwhile: what is left isn't to be run then
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
