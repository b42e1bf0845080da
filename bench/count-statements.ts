/**
 * Preloaded into sluice by bench/statements.ts: counts the SQL statements of the process, and prints them and the CPU of its
 * threads as one line of JSON on standard error when it ends.
 */
import { DuckDBConnection } from "@duckdb/node-api"
import { readFileSync, readdirSync } from "node:fs"

interface Kind {
  statements: number
  cpuMs: number
}

const kinds = new Map<string, Kind>()
let [statements, characters] = [0, 0]

const threads = (): ReadonlyArray<readonly [name: string, cpuMs: number]> =>
  readdirSync("/proc/self/task").flatMap((id) => {
    try {
      const name = Number(id) === process.pid ? "main" : readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim()
      return [[name, Number(readFileSync(`/proc/self/task/${id}/schedstat`, "utf8").split(" ")[0]) / 1e6] as const]
    } catch {
      return [] // The thread has ended.
    }
  })

const cpuOf = (prefix: string) =>
  threads().reduce((sum, [name, cpuMs]) => sum + (name.startsWith(prefix) ? cpuMs : 0), 0)

/** Statements that differ only in their values are of one kind. */
const kindOf = (sql: string): string =>
  sql
    .replaceAll(/'[^']*'/g, "?")
    .replaceAll(/\d+/g, "0")
    .replaceAll(/\s+/g, " ")
    .replace(/^(INSERT INTO|DELETE FROM|UPDATE) (crm(?:_history)?)\..*/, "$1 $2")
    .slice(0, 70)

// oxlint-disable-next-line typescript/unbound-method -- It is called with its connection.
const { run } = DuckDBConnection.prototype
DuckDBConnection.prototype.run = async function (sql, ...more) {
  const parts = sql.split(";\n")
  const before = cpuOf("libuv")
  try {
    return await run.call(this, sql, ...more)
  } finally {
    const cpuMs = (cpuOf("libuv") - before) / parts.length
    statements += parts.length
    characters += sql.length
    for (const part of parts) {
      const kind = kinds.get(kindOf(part)) ?? { statements: 0, cpuMs: 0 }
      kinds.set(kindOf(part), { statements: kind.statements + 1, cpuMs: kind.cpuMs + cpuMs })
    }
  }
}

process.on("exit", () => {
  const byThread: Record<string, number> = {}
  for (const [name, cpuMs] of threads()) byThread[name] = Math.round((byThread[name] ?? 0) + cpuMs)
  const dearest = [...kinds].toSorted(([, a], [, b]) => b.cpuMs - a.cpuMs).slice(0, 60)
  console.error(JSON.stringify({ statements, characters, byThread, dearest }))
})
