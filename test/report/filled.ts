/** The report of a warehouse that statements fill. */
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { makeReport } from "../../src/features/report/report.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { prepareIn } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

export const reportAfter = async (...statements: ReadonlyArray<string>): Promise<string> => {
  const folder = newFolder()
  await prepareIn(folder)
  try {
    return await Effect.runPromise(
      Effect.gen(function* () {
        for (const statement of statements) yield* (yield* Warehouse).run(statement)
        return (yield* makeReport({ folder, memoryMb: 128 })).text
      }).pipe(Effect.provide(Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
