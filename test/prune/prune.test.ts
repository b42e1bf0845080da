import { assert, describe, it } from "@effect/vitest"
import { existsSync, lutimesSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { discard, openAlone, openTables } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { inDatabase } from "../support/compare.ts"
import { environmentOf, newFolder, sluice } from "../support/sluice.ts"

describe("prune", () => {
  it("of the history is no damage, although the release still has it", { tags: ["slow"] }, async () => {
    const account = await openTables("contacts", "--contacts", "20")
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(config, '[prune]\nhistory = "1 days"\n[models]\nbuild = false\n')
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
    const run = async (args: ReadonlyArray<string>, clock?: ReturnType<typeof acceleratedClock>) => {
      const ran = await sluice([...args, "--config", config], environment, clock && { overrides: clock })
      assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
      return ran
    }
    try {
      await run(["sync", "--only", "contacts"])
      await account.service.post("change", { contacts: 0.5, seed: 1 })
      await run(["sync", "--only", "contacts"])
      const pruned = await run(["prune", "--apply"], acceleratedClock(-3 * 86_400_000))
      assert.match(pruned.stdout, /history: [1-9]\d* versions that ended before 20.*; with child tables [1-9]\d* rows/)
      const verified = await run(["verify", "--all"])
      assert.match(verified.stdout + verified.stderr, /the warehouse has newer changes in [1-9]\d* tables: contact/)
      assert.match(verified.stderr, /Next: \.\/sluice status/)
    } finally {
      discard(account)
    }
  })

  it(
    "removes earlier releases, leftovers and old history after a plan, and a rebuild does not bring them back",
    { tags: ["slow"] },
    async () => {
      const account = await openTables("contacts", "--contacts", "30")
      const { output } = account
      const config = join(newFolder(), "sluice.toml")
      writeFileSync(config, '[prune]\nhistory = "1 days"\n[models]\nbuild = false\n')
      const environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
      const runAt = async (daysAgo: number, ...args: ReadonlyArray<string>) => {
        const overrides = daysAgo > 0 && acceleratedClock(daysAgo * 86_400_000)
        const ran = await sluice([...args, "--config", config], environment, overrides ? { overrides } : undefined)
        assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
        return ran
      }
      const run = (...args: ReadonlyArray<string>) => runAt(0, ...args)
      try {
        for (const daysAgo of [4, 3, 0]) {
          await runAt(daysAgo, "sync", "--again=lists", "--only", "contacts")
          if (daysAgo > 0) await account.service.post("change", { contacts: 0.5, seed: daysAgo })
        }
        const history = () =>
          inDatabase(account.warehouse, (rows) =>
            rows("SELECT _valid_to < now() - INTERVAL 1 DAY AS is_old FROM crm_history.contacts ORDER BY ALL")
          )
        const before = await history()
        const oldRows = before.filter(({ is_old }) => is_old).length
        assert.isTrue(oldRows > 0 && oldRows < before.length, JSON.stringify(before))
        const versions = join(output, ".published")
        const current = basename(readlinkSync(join(output, "published")))
        const earlier = readdirSync(versions).filter((name) => name !== current)
        assert.isAbove(earlier.length, 0)
        lutimesSync(join(output, "published"), new Date(0), new Date(0))
        mkdirSync(join(output, "vault"), { recursive: true })
        writeFileSync(join(output, "vault/000009.ndjson.torn-17"), "half an ent")

        const planned = JSON.parse((await run("prune", "--json")).stdout).data
        assert.deepStrictEqual(
          planned.files.map(({ path }: { path: string }) => path),
          [...earlier.map((name) => `.published/${name}`), "vault/000009.ndjson.torn-17"]
        )
        assert.isFalse(planned.applied)
        assert.strictEqual(planned.history.versions, oldRows)
        // The rows of the child tables go with them.
        assert.isAbove(planned.history.rows, oldRows)
        assert.isTrue(existsSync(join(versions, earlier[0]!)))

        const applied = JSON.parse((await run("prune", "--apply", "--json")).stdout).data
        assert.deepStrictEqual(applied.files, planned.files)
        assert.isFalse(existsSync(join(versions, earlier[0]!)))
        assert.isFalse(existsSync(join(output, "vault/000009.ndjson.torn-17")))
        assert.isTrue(existsSync(join(output, "published/crm.duckdb")))
        assert.strictEqual((await history()).length, before.length - oldRows)
        assert.strictEqual(applied.history.rows, planned.history.rows)
        // What prune has removed is no damage.
        const verified = JSON.parse((await run("verify", "--json")).stdout)
        assert.strictEqual(verified.next, "./sluice status --config " + config)
        assert.match(JSON.stringify(verified.data.checks), /the warehouse has newer changes in \d+ tables: contact/)
        // The published file follows, though no row of the account has changed.
        await run("publish")
        const published = await inDatabase(join(output, "published/crm.duckdb"), (rows) =>
          rows("SELECT count(*)::INTEGER AS n FROM crm_history.contacts")
        )
        assert.deepStrictEqual(published, [{ n: before.length - oldRows }])
        const again = JSON.parse((await run("prune", "--json")).stdout).data
        assert.deepStrictEqual([again.files, again.history.versions], [[], 0])
        await run("verify")
        // What is left of the rows before the limit is not shown as if it were all.
        for (const [file, schema] of [
          [account.warehouse, "crm."],
          [join(output, "published/crm.duckdb"), ""]
        ] as const)
          for (const table of ["contacts", "contact_tags", "contact_notes", "blogs"]) {
            const asOf = (days: number) =>
              inDatabase(file, (rows) =>
                rows(`SELECT count(*)::INTEGER AS n FROM ${schema}${table}_as_of(now() - INTERVAL ${days} DAYS)`)
              )
            for (const days of [2, 400]) {
              const cause = await asOf(days).catch((error: Error) => error)
              assert.match(
                String(cause),
                /the rows as of 20.* are not known: prune\.history has removed the versions/,
                table
              )
            }
            assert.lengthOf(await asOf(0), 1)
            const one = inDatabase(file, (rows) =>
              rows(`FROM ${schema}${table}_as_of(now() - INTERVAL 2 DAYS) LIMIT 1`)
            )
            assert.match(String(await one.catch((error: Error) => error)), /are not known/, table)
          }
        await run("ledger", "verify")
        // Three days later, all of the history is too old, and the vault still has it.
        const later = { overrides: acceleratedClock(-3 * 86_400_000) }
        const rebuilt = await sluice(["rebuild", "--config", config], environment, later)
        assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
        assert.deepStrictEqual(await history(), [])
        const status = JSON.parse((await run("status", "--json")).stdout).data
        assert.isAbove(status.disk.published, 10_000)
        assert.isAbove(status.disk.vault, 1_000)
      } finally {
        discard(account)
      }
    }
  )

  it(
    "leaves an output that verify compares with the vault, which still has the removed versions",
    { tags: ["slow"] },
    async () => {
      const account = await openAlone("contacts", "--contacts", "30")
      const day = 86_400_000
      const config = join(newFolder(), "sluice.toml")
      writeFileSync(config, '[prune]\nhistory = "1 days"\n')
      const run = async (args: ReadonlyArray<string>, daysAgo = 0) => {
        const overrides = acceleratedClock(daysAgo * day)
        const ran = await sluice([...args, "--config", config], account.environment, { overrides })
        assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
        return ran
      }
      const versions = async () => {
        const [row] = await inDatabase(account.warehouse, (rows) =>
          rows("SELECT count(*)::INTEGER AS n FROM crm_history.contacts")
        )
        return Number(row!["n"])
      }
      try {
        for (const daysAgo of [4, 3, 0]) {
          await run(["sync", "--again=lists", "--only", "contacts"], daysAgo)
          await account.service.post("change", { contacts: 0.5, seed: daysAgo })
        }
        const before = await versions()
        await run(["prune", "--apply"])
        const after = await versions()
        assert.isTrue(after > 0 && after < before, `${before} became ${after}`)
        // The clock of the runs is fast, so the machine's own may still be behind their times.
        await run(["verify", "--all"], -1)
        await run(["verify"], -1)
        // A version that is missing after the limit is found all the same.
        const tables = [
          "contacts",
          "contact_tags",
          "contact_attributions",
          "contact_custom_values",
          "contact_dnd_settings"
        ]
        await inDatabase(
          account.warehouse,
          async (rows) => {
            for (const table of tables) await rows(`DELETE FROM crm_history.${table}`)
          },
          "READ_WRITE"
        )
        const wrong = await sluice(["verify", "--all", "--config", config], account.environment)
        assert.strictEqual(wrong.code, 1, wrong.stdout)
        assert.match(wrong.stdout + wrong.stderr, new RegExp(`${after} rows? missing that the vault contains`))
      } finally {
        discard(account)
      }
    }
  )

  it("says what to do if there is nothing to prune, and while another run works", async () => {
    const account = await openAlone("contacts", "--contacts", "10")
    try {
      const environment = environmentOf(account.service, newFolder())
      const { code, stderr } = await sluice(["prune"], environment)
      assert.strictEqual(code, 1)
      assert.match(stderr, /There is no warehouse .* yet[\s\S]*Next: \.\/sluice sync/)
    } finally {
      discard(account)
    }
  })
})
