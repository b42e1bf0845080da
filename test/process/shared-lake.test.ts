/** A lake that several machines write: its catalog is in PostgreSQL, its files are in an object store. */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { cpSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAlone } from "../support/account.ts"
import { lakeExtensions, withLake } from "../support/extensions.ts"
import { hasObjectStore, startObjectStore } from "../support/object-store.ts"
import { keyValuesOf, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { knowingApart, start } from "../support/process.ts"
import { python, runPython } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

const isPossible = python !== undefined && hasObjectStore && postgresPrograms !== undefined
if (postgresPrograms === undefined) console.log(withoutPostgres)

const tables = "contacts,opportunities"
const sync = ["sync", "--only", tables]
const [key, secret] = ["AKIAEXAMPLEKEYID", "an-object-store-secret-5d1f"]

const connect = `
import duckdb, json, sys
from urllib.parse import urlparse
extensions, catalog, endpoint = sys.argv[1:4]
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute("SET enable_progress_bar = false") # It would be on stdout.
for name in ["ducklake", "postgres_scanner", "httpfs"]: c.execute(f"LOAD '{extensions}/{name}.duckdb_extension'")
c.execute(f"CREATE SECRET (TYPE s3, KEY_ID '${key}', SECRET '${secret}', ENDPOINT '{urlparse(endpoint).netloc}', URL_STYLE 'path', USE_SSL false)")
c.execute(f"ATTACH 'ducklake:{catalog}' AS lake (READ_ONLY)")
`
/** Compares the number of rows of every snapshot that it sees with sluice.commits, until stdin ends. */
const poll = `${connect}
import select
seen, wrong = set(), []
while not select.select([sys.stdin], [], [], 0.5)[0]:
    c.execute("BEGIN")
    version = c.execute("SELECT max(snapshot_id) FROM lake.snapshots()").fetchone()[0]
    for table in ["contacts", "contact_tags", "opportunities"]:
        rows = c.execute(f"SELECT count(*) FROM lake.crm.{table}").fetchone()[0]
        said = c.execute(f"SELECT coalesce(sum(rows), 0) FROM (FROM lake.sluice.commits WHERE table_name = '{table}' QUALIFY row_number() OVER (PARTITION BY location_id ORDER BY run_id DESC, committed_at DESC) = 1)").fetchone()[0]
        if rows != said: wrong.append((version, table, rows, int(said)))
    c.execute("COMMIT")
    seen.add(version)
print(json.dumps({"seen": len(seen), "wrong": wrong}))
`
const compare = `${connect}
warehouse = sys.argv[4]
c.execute(f"ATTACH '{warehouse}' AS warehouse (READ_ONLY)")
differ = []
for table in ["contacts", "contact_tags", "contact_custom_values", "opportunities"]:
    for schema in ["crm", "crm_history"]:
        mine = f"(FROM lake.{schema}.{table} WHERE location_id IN (SELECT DISTINCT location_id FROM warehouse.meta.run_resources))"
        other = f"(FROM warehouse.{schema}.{table})"
        n = c.execute(f"SELECT count(*) FROM (({mine} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {mine}))").fetchone()[0]
        if n: differ.append(f"{schema}.{table}: {n}")
rows = c.execute(f"SELECT count(*), count(DISTINCT (location_id, id)), count(DISTINCT location_id) FROM lake.crm.contacts").fetchone()
print(json.dumps({"differ": differ, "rows": rows}))
`

describe.skipIf(!isPossible)("a lake in PostgreSQL and an object store", () => {
  it("has the rows of all locations while three of them commit at once, and a reader sees whole commits only", async () => {
    const postgres = await openDatabase()
    const store = await startObjectStore("lake")
    const accounts: Array<Account> = []
    try {
      for (const seed of [1, 2, 3])
        accounts.push(await openAlone(tables, "--limits", "off", "--contacts", "60", "--seed", String(seed)))
      const extensions = lakeExtensions(python!)
      const known = await knowingApart(tables)
      const database = `${keyValuesOf(postgres)} password=a-database-password-77c1`
      const environmentOf = (account: Account) => ({
        ...account.environment,
        ...known,
        LAKE_CATALOG: `postgres:${database}`
      })
      const config = withLake(python!, {
        lake: "s3://lake/tables",
        catalog: "env:LAKE_CATALOG",
        s3_key: key,
        s3_secret: secret,
        s3_endpoint: store.url
      })
      const outputs: Array<string> = []
      const run = async (account: Account, args: ReadonlyArray<string> = sync, code = 0) => {
        const ended = await start([...args, ...config], environmentOf(account)).ended
        outputs.push(ended.stdout, ended.stderr)
        assert.strictEqual(ended.code, code, ended.stderr)
        return ended
      }
      await Promise.all(accounts.map((account) => run(account)))

      const arguments_ = [extensions, `postgres:${database}`, store.url]
      const reader = spawn(python!, ["-c", poll, ...arguments_], { stdio: ["pipe", "pipe", "pipe"] })
      let [answer, errors] = ["", ""]
      reader.stdout.on("data", (chunk) => (answer += chunk))
      reader.stderr.on("data", (chunk) => (errors += chunk))
      const closed = new Promise((resolve) => reader.once("close", resolve))
      for (const round of [1, 2, 3]) {
        for (const { service } of accounts)
          await service.post("change", {
            contacts: 0.2,
            opportunities: 0.1,
            deleted: 0.05,
            seed: round
          })
        await Promise.all(accounts.map((account) => run(account)))
      }
      reader.stdin.end("stop")
      await closed
      assert.strictEqual(errors, "")
      const { seen, wrong } = JSON.parse(answer)
      assert.deepStrictEqual(wrong, [])
      assert.isAtLeast(seen, 3)

      for (const { warehouse } of accounts) {
        const { differ, rows } = JSON.parse(runPython(python!, compare, ...arguments_, warehouse))
        assert.deepStrictEqual(differ, [])
        assert.strictEqual(rows[0], rows[1], "no contact is there twice")
        assert.strictEqual(rows[2], 3)
      }
      assert.match((await run(accounts[2]!, ["verify"])).stdout, /lake .* ok/)
      await run(accounts[0]!, ["lake", "maintain", "--apply"])
      await run(accounts[1]!, ["verify"])

      // While another writer has the lock, two commits of a location wait for it. The second must read again what the lake has.
      const holder = spawn(join(postgresPrograms!, "psql"), [postgres.url, "-qAt"], {
        stdio: ["pipe", "pipe", "ignore"]
      })
      const isHeld = new Promise((resolve) => holder.stdout.once("data", resolve))
      holder.stdin.write("BEGIN; SELECT pg_advisory_xact_lock(7310423);\n")
      await isHeld
      const [account] = accounts as [Account]
      const copy = newFolder()
      cpSync(account.output, copy, { recursive: true })
      const syncWaits = async (waiters: number, output: string) => {
        const running = start([...sync, ...config], { ...environmentOf(account), SLUICE_OUTPUT: output })
        const isWaiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7310423 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
        for (let tries = 0; (await sqlIn(postgres, isWaiting)) !== String(waiters); tries++) {
          assert.isBelow(tries, 300, "a commit waits for the lock")
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        return running
      }
      // Only the first reads this contact, so only the first has it as changed.
      const guest = { collection: "contacts", id: "seenOnceByTheFirst1" }
      const like = (await account.service.records("contacts"))[0]!["id"]
      await account.service.post("plant", { ...guest, like })
      const first = await syncWaits(1, copy)
      await account.service.post("remove", guest)
      await account.service.post("change", { contacts: 0.2, seed: 4 })
      const both = [first, await syncWaits(2, account.output)]
      holder.stdin.end("COMMIT;\n")
      for (const { ended } of both) assert.strictEqual((await ended).code, 0, (await ended).stderr)
      const last = JSON.parse(runPython(python!, compare, ...arguments_, account.warehouse))
      assert.deepStrictEqual(last.differ, [])

      await postgres.stop()
      const failed = await run(accounts[0]!, ["publish", "--full"], 1)
      assert.match(failed.stderr, /The lake in the PostgreSQL catalog of s3:\/\/lake\/tables\/ was not changed: /)
      for (const text of [...outputs, ...filesOf(accounts)])
        for (const hidden of [secret, "a-database-password-77c1"]) assert.notInclude(text, hidden)
    } finally {
      for (const { service } of accounts) service.stop()
      store.stop()
      await postgres.stop()
    }
  })
})

const filesOf = (accounts: ReadonlyArray<Account>): ReadonlyArray<string> =>
  accounts.flatMap(({ output }) =>
    readdirSync(output, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
  )
