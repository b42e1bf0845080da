/** While a run has the tables open, alarms are decided from the last release, which quiet nights do not write anew. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdirSync, realpathSync, rmSync, truncateSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { watch } from "../../src/alarms/watch.ts"
import { writeState } from "../../src/alarms/state.ts"
import { loadCatalogue } from "../../src/command/catalogue.ts"
import { factsOf } from "../../src/run/alarms-now.ts"
import { readSettings } from "../../src/settings/read.ts"
import { outputSettings } from "../../src/settings/settings.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { discard, openAlone } from "../support/account.ts"
import { acceleratedFrom } from "../support/clock.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const hourMs = 3_600_000

it("what a quiet night has found complete is as old as that night, and what was published is looked for", async () => {
  const account = await openAlone("contacts", "--contacts", "3")
  try {
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
    // A new day is a new release.
    const day = Math.floor(Date.now() / (24 * hourMs) - 1) * 24 * hourMs
    for (const hour of [3, 9]) {
      const overrides = acceleratedFrom(day + hour * hourMs)
      const { code, stderr } = await sluice(["sync", ...account.selection], environment, { overrides })
      assert.strictEqual(code, 0, stderr)
    }
    const hourFrom = (source: "warehouse" | "published") =>
      Effect.gen(function* () {
        const output = yield* outputSettings({}, environment)
        const release = join(output.folder, "published/crm.duckdb")
        const options = { memoryMb: 128, access: "read", isRelease: true } as const
        const tables = yield* Layer.build(Warehouse.layer(release, options))
        const holder = { command: "sluice sync", isRun: true }
        const readable = source === "warehouse" ? ({ source, tables } as const) : ({ source, tables, holder } as const)
        const { readings } = yield* factsOf(output, yield* loadCatalogue(output), readable)
        const contacts = readings.find(({ resource }) => resource === "contacts")
        return Math.floor(((contacts?.completeAt ?? 0) - day) / hourMs)
      }).pipe(Effect.scoped, Effect.runPromise)
    assert.strictEqual(await hourFrom("warehouse"), 3, "the release itself is of the first night")
    assert.strictEqual(await hourFrom("published"), 9)

    // What was written once is no proof that it is still there.
    const published = join(account.output, "published")
    const release = realpathSync(published)
    const [file] = readdirSync(release).filter((name) => name.endsWith(".duckdb"))
    const damages: ReadonlyArray<readonly [lacks: string, damage: () => void]> = [
      [file!, () => truncateSync(join(release, file!), 4096)],
      [file!, () => rmSync(join(release, file!))],
      [published, () => rmSync(join(release, "manifest.json"))],
      [published, () => rmSync(release, { recursive: true })],
      [published, () => rmSync(published)]
    ]
    const statusOf = async () => {
      const { code, stdout } = await sluice(["status", "--json", "--check", ...account.selection], environment)
      const { data, next } = JSON.parse(stdout)
      return { code, missing: data.targets[0].missing, next }
    }
    for (const [lacks, damage] of damages) {
      damage()
      const { code, missing, next } = await statusOf()
      assert.deepStrictEqual([code, missing, next], [3, [lacks], "./sluice publish"])
    }
    const { code, stderr } = await sluice(["sync", ...account.selection], environment)
    assert.strictEqual(code, 0, stderr)
    const again = new Date(0)
    utimesSync(join(published, file!), again, again)
    const repaired = await statusOf()
    assert.deepStrictEqual([repaired.code, repaired.missing], [0, undefined])
  } finally {
    discard(account)
  }
})

it.effect("what was open stays open, until the tables can be asked", () =>
  Effect.gen(function* () {
    const folder = newFolder()
    const open = { kind: "freshness", subject: "contacts", where: "freshness:contacts", level: "wrong" } as const
    const known = { ...open, what: "w", next: "n", since: 1 }
    yield* Effect.promise(() => writeState(folder, { version: 1, alarms: [known], free: [] }))
    const { alarms: limits } = readSettings({ noFile: true }, {}).values
    const naming = { tokenOf: () => "" }
    const watched = (isOfRelease: boolean) =>
      watch(
        { folder, limits: { ...limits, requestsPerDay: 1e9 }, naming, silences: [], isRunning: true, isOfRelease },
        undefined
      )
    assert.deepStrictEqual((yield* watched(true)).recovered, [])
    assert.deepInclude((yield* watched(true)).alarms, known)
    assert.deepStrictEqual(
      (yield* watched(false)).recovered.map(({ where }) => where),
      ["freshness:contacts"]
    )
  })
)
