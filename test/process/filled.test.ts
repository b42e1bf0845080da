/** All tables in one transaction, each of which needs memory, with the least memory that the settings allow. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { firstWide } from "../../src/catalog/tables.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { query } from "../support/compare.ts"
import { fillVault } from "../support/filled.ts"
import { newFolder, sluice } from "../support/sluice.ts"

it.live("records with 200 unknown fields and their details are loaded with 96 MB", () =>
  Effect.gen(function* () {
    const { resources, ...catalogue } = yield* Effect.promise(() => discover())
    const some = resources.filter(({ table }) => table === "contacts" || table === "orders")
    const folder = newFolder()
    yield* fillVault({ ...catalogue, resources: some }, { records: 600, unknownFields: 200 }).pipe(
      Effect.provide(Vault.layer(join(folder, "vault")))
    )
    writeFileSync(join(folder, "sluice.toml"), "[machine]\nmemory_mb = 96\n")
    const environment = { SLUICE_OUTPUT: folder, SLUICE_FORMATS: "none" }
    const ran = yield* Effect.promise(() => sluice(["rebuild", "--config", join(folder, "sluice.toml")], environment))
    assert.strictEqual(ran.code, 0, ran.stderr)
    const [row] = yield* Effect.promise(() =>
      query(
        join(folder, "warehouse.duckdb"),
        "SELECT count(*) AS n, min(len(json_keys(_extra))) AS fields FROM crm.contacts"
      )
    )
    assert.deepStrictEqual(row, { n: "600", fields: "200" })
    rmSync(folder, { recursive: true })
  })
)

it.live("an account with rows in every table is loaded and published with 96 MB", () =>
  Effect.gen(function* () {
    const catalogue = yield* Effect.promise(() => discover())
    const folder = newFolder()
    yield* fillVault(catalogue, { records: 14, unknownFields: 200 }).pipe(
      Effect.provide(Vault.layer(join(folder, "vault")))
    )
    writeFileSync(join(folder, "sluice.toml"), "[machine]\nmemory_mb = 96\n")
    const ran = yield* Effect.promise(() =>
      sluice(["rebuild", "--config", join(folder, "sluice.toml")], {
        SLUICE_OUTPUT: folder,
        SLUICE_FORMATS: "duckdb,parquet"
      })
    )
    assert.strictEqual(ran.code, 0, ran.stderr)
    const ask = (sql: string) => Effect.promise(() => query(join(folder, "warehouse.duckdb"), sql))
    const shown = yield* ask("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'crm'")
    const names = shown.map(({ name }) => String(name))
    assert.includeMembers(
      names.map((name) => firstWide(name)),
      publishedTables(catalogue).map(({ name }) => name)
    )
    for (const name of names) {
      const [row] = yield* ask(`SELECT count(*) AS n FROM crm.${name}`)
      assert.isAbove(Number(row?.["n"]), 0, name)
    }
    rmSync(folder, { recursive: true })
  })
)
