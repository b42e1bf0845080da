import { assert, it } from "vitest"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { DatabaseError } from "../../src/features/explore/database.ts"
import { withinSpace } from "../../src/features/explore/download-space.ts"
import { newFolder } from "../support/sluice.ts"

const open = new AbortController().signal

it("a download that grows beyond its space is stopped, and says why", async () => {
  const folder = newFolder()
  let written = 0
  const endless = async (signal: AbortSignal) => {
    for (; !signal.aborted; await sleep(5))
      appendFileSync(join(folder, "result.csv"), Buffer.alloc((written += 10_000)))
    throw new DatabaseError("stopped", "The query was stopped.")
  }
  const error = await withinSpace(folder, open, endless, 1_000_000).catch((cause: unknown) => cause)
  assert.instanceOf(error, DatabaseError)
  assert.match(String(error), /would take more than 1 MB of .*published Parquet files/)
})

it("a download within its space is left alone, and another error stays what it is", async () => {
  const folder = newFolder()
  assert.strictEqual(await withinSpace(folder, open, async () => 7, 1_000_000), 7)
  const failed = withinSpace(folder, open, () => Promise.reject(new Error("other")), 1_000_000)
  assert.match(String(await failed.catch((cause: unknown) => cause)), /other/)
})
