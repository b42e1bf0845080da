import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Writable } from "node:stream"
import type { Catalogue } from "../../src/catalog/discover.ts"
import { CommandError } from "../../src/console/errors.ts"
import { Output } from "../../src/console/streams.ts"
import { RunFeatures } from "../../src/command/features.ts"
import { runAccounts } from "../../src/command/recorded.ts"
import type { Reported } from "../../src/command/features.ts"
import { Environment } from "../../src/values/environment.ts"
import { newFolder } from "../support/sluice.ts"

/** Runs work between features that note what they find when they are called. */
const noted = (work: (notes: Array<string>) => Effect.Effect<{ readonly exitCode: number }, CommandError>) => {
  const folder = newFolder()
  const ledger = join(folder, "ledger.jsonl")
  const notes: Array<string> = []
  const state = () => {
    const records = existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : []
    return records.map((line) => JSON.parse(line).detail.status ?? "done").join() || "no record"
  }
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const services = Context.make(Environment, {}).pipe(
    Context.add(Output, Output.make({ stdout: nowhere, stderr: nowhere }, {})),
    Context.add(RunFeatures, {
      beginSignals: ({ command }) =>
        Effect.sync(() => {
          notes.push(`signals of ${command} begin, ${state()}`)
          return ({ exitCode }) => Effect.sync(() => notes.push(`signals end with ${exitCode}, ${state()}`))
        }),
      withoutErased: (vault) => vault,
      writeReport: () => Effect.sync(() => notes.push(`report, ${state()}`))
    })
  )
  // A run uses no other setting, and gives the catalogue to the features only.
  const output = { folder, signals: { isOn: true } } as unknown as Reported
  const options = { output, catalogue: {} as Catalogue, accounts: [], detailOf: () => ({}) }
  return Effect.runPromiseExit(runAccounts("sync", work(notes), options).pipe(Effect.provideContext(services))).then(
    (exit) => ({ exit, notes })
  )
}

describe("what surrounds the work of a run", () => {
  it("is the report, then the ledger, then the signals", async () => {
    const { notes } = await noted((notes) => Effect.sync(() => ({ exitCode: notes.push("work") - 2 })))
    assert.deepStrictEqual(notes, [
      "signals of sync begin, no record",
      "work",
      "report, no record",
      "signals end with 0, done"
    ])
  })

  it("says of work that fails that it failed", async () => {
    const { exit, notes } = await noted(() =>
      Effect.fail(new CommandError({ ends: "failed", message: "no", next: "yes" }))
    )
    assert.strictEqual(exit._tag, "Failure")
    assert.deepStrictEqual(notes, [
      "signals of sync begin, no record",
      "report, no record",
      "signals end with 1, failed"
    ])
  })

  it("is no record for a run that another one kept out", async () => {
    const { notes } = await noted(() =>
      Effect.fail(new CommandError({ ends: "locked", message: "another run", next: "wait" }))
    )
    assert.match(notes.at(-1)!, /no record$/)
  })

  it("reports no run that was interrupted, and records that it was stopped", async () => {
    const { notes } = await noted(() => Effect.interrupt)
    assert.deepStrictEqual(notes, ["signals of sync begin, no record", "signals end with 143, stopped"])
  })
})
