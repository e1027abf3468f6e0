import type { Protection } from "./protection.ts";

/** What keeps the code of channels right (the rules PC). */
export const procedureProtections: readonly Protection[] = [
  {
    name: "keys-of-a-call",
    meaning: "a call that fails has changed no key: keys are written when it has succeeded",
    rule: "PC1",
    noticedBy: ["simulate"],
    file: "src/features/procedures/step.ts",
    code: "    this.changes.set(key, text);",
    weakened: `    this.#channel.keys.write(new Map([[key, text]]), this.nowMs);
    this.changes.set(key, text ?? undefined);`,
  },
  {
    name: "answers-of-calls",
    meaning: "a call is answered after its commit",
    rule: "PC6",
    noticedBy: ["prove", "simulate"],
    faults: "crash-channel=40,kill=10",
    file: "src/features/procedures/channel-procedures.ts",
    code: "    const result = this.#setup.sql.transaction(() => work.write(ran));",
    weakened: `    const write = () => this.#setup.sql.transaction(() => work.write(ran));
    const result = by === "timer" ? write() : ran;
    if (by !== "timer") setTimeout(write, 20);`,
  },
  {
    name: "timers-once",
    meaning: "a timer that has called isn't called again",
    rule: "PC7",
    noticedBy: ["simulate"],
    file: "src/features/procedures/channel-procedures.ts",
    code: `    if (called.outcome === "done") return;`,
    weakened: `    if (called.outcome === "done" && timer.tries > 0) return;`,
  },
  {
    name: "timers-with-their-calls",
    meaning: "a timer goes in the commit of what it calls",
    rule: "PC7",
    noticedBy: ["simulate"],
    file: "src/features/procedures/timer-table.ts",
    code: `if (timers.delete(name)) this.#sql.run("DELETE FROM procedure_timer WHERE name = ?", name);`,
    weakened: `timers.delete(name);`,
  },
  {
    name: "calls-with-a-key",
    meaning: "a call that is repeated with its idempotency key isn't carried out again",
    rule: "PC4",
    noticedBy: ["simulate"],
    file: "src/features/procedures/channel-procedures.ts",
    code: "    if (first !== undefined) {\n      this.observer",
    weakened: "    if (first !== undefined && nowMs < 0) {\n      this.observer",
  },
  {
    name: "publications-before-answers",
    meaning: "a caller is sent what its call has published before it is answered",
    rule: "PC6",
    noticedBy: ["simulate"],
    file: "src/gateway/gateway.ts",
    code: `const after = reply.outcome === "published" ? reply : reply.after;`,
    weakened: `const after = reply.outcome === "published" ? reply : undefined;`,
  },
  {
    name: "publications-before-repeated-answers",
    meaning: "so is one who is answered again after a crash",
    rule: "PC6",
    noticedBy: ["simulate"],
    file: "src/features/procedures/channel-procedures.ts",
    code: `    if (relay.sequence === 0) relay.append({ type: "removed" }, top);`,
    weakened: "    void [relay, top];",
  },
];
