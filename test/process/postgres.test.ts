/** A PostgreSQL database that is brought up to date each night, as its readers see it. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount, discard } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { compareDatabase } from "../support/database.ts"
import { type Server, postgresPrograms, sqlIn, startServer, withoutPostgres } from "../support/postgres.ts"
import { start } from "../support/process.ts"
import { python, readingUntil, runPython } from "../support/python.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)
/** More with SLUICE_NIGHTS. */
const nights = Number(process.env["SLUICE_NIGHTS"] ?? 7)
const canRun = postgresPrograms !== undefined && python !== undefined

const target = (more = "") => `[[publish]]
name = "warehouse"
postgres = "env:CRM_DATABASE_URL"
profile = "raw"
${more}`

const settingsFile = (text: string): string => {
  const path = join(newFolder(), "sluice.toml")
  writeFileSync(path, text)
  return path
}

/**
 * Polls until its input ends. Each statement reads one version of the release with sums over two tables and a model; a version
 * with two different sums would be a mix. Prints the number of polls, of versions and of mixes.
 */
const reader = `
import sys, threading, time, psycopg
url, stopped, sums, polls = sys.argv[1], False, {}, 0
def wait():
    global stopped
    sys.stdin.read(); stopped = True
threading.Thread(target=wait).start()
statement = """SELECT (SELECT version FROM crm._sluice WHERE table_name = ''),
  (SELECT sum(hashtext(t::text)) FROM crm.contacts AS t), (SELECT sum(hashtext(t::text)) FROM crm.opportunities AS t),
  (SELECT sum(hashtext(t::text)) FROM crm_bi.dim_contact AS t), (SELECT count(*) FROM crm.contacts_wide)"""
while not stopped:
    try:
        with psycopg.connect(url, autocommit=True) as database:
            while not stopped:
                version, *values = database.execute(statement).fetchone()
                sums.setdefault(version, set()).add(tuple(values)); polls += 1
                time.sleep(0.02)
    except psycopg.Error: time.sleep(0.1)
print(polls, len(sums), sum(len(one) > 1 for one in sums.values()))
`

const differences = (server: Server, account: Account, schema = "crm", release = "published") => {
  const printed = runPython(
    python!,
    compareDatabase,
    server.url,
    schema,
    join(account.output, release, "crm.duckdb")
  ).trim()
  const [rows, ...found] = printed.split("\n").toReversed()
  assert.match(rows!, /^rows [1-9]/)
  return found
}

const person = `SELECT json_agg(c) FROM (SELECT id, email FROM crm.contacts WHERE email IS NOT NULL ORDER BY id LIMIT 1) AS c`

/** Custom fields come, get another name, and get another type. */
const alterFields = async ({ service, warehouse }: Account, night: number) => {
  const fields = await query(warehouse, "SELECT id, field_key, data_type FROM crm.custom_fields")
  const edit = (key: string, change: (type: unknown) => object) => {
    const { id, data_type: type } = fields.find((field) => field["field_key"] === key)!
    return service.post("edit", { collection: "customFields", id, fields: change(type) })
  }
  if (night % 3 === 1) {
    const like = fields.find((field) => field["field_key"] === "contact.gate_instructions")!["id"]
    const field = { name: `Field ${night}`, fieldKey: `contact.field_${night}` }
    await service.post("plant", { collection: "customFields", like, id: `planted${night}`, fields: field })
  } else if (night % 3 === 2) await edit("contact.gate_instructions", () => ({ name: `Renamed ${night}` }))
  else await edit("contact.lot_size_sq_ft", (type) => ({ dataType: type === "TEXT" ? "NUMERICAL" : "TEXT" }))
}

describe.skipIf(!canRun)(canRun ? "a database" : withoutPostgres, () => {
  it(`equals the release after each of ${nights} nights with kills and restarts, and its readers see no mix (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const server = await startServer()
    const account = await openAccount("--contacts", "30", "--seed", String(seed))
    const environment = {
      ...account.environment,
      SLUICE_FORMATS: "duckdb",
      CRM_DATABASE_URL: server.url
    }
    const config = settingsFile(target())
    const sync = (...flags: ReadonlyArray<string>) => start(["sync", "--config", config, ...flags], environment)
    let stop: (() => Promise<string>) | undefined
    let [kills, restarts, usualMs] = [0, 0, 0]
    let restarted = Promise.resolve()
    try {
      for (let night = 0; night < nights; night++) {
        if (night > 0)
          await account.service.post("change", {
            contacts: 0.1,
            opportunities: 0.1,
            conversations: 0.1,
            orders: 0.1,
            submissions: 0.1,
            delete: night % 3 === 0 ? 0.1 : 0,
            seed: night
          })
        if (night > 0) await alterFields(account, night)
        const full = night % 6 === 5 ? ["--again=all"] : []
        for (;;) {
          const running = sync(...full)
          const isDisturbed = kills + restarts < night && (random() < 0.5 || night < 3)
          const begun = Date.now()
          const timer = setTimeout(
            () => {
              if (kills > restarts) {
                restarts++
                restarted = server.stop().then(() => server.start())
              } else {
                kills++
                running.kill("SIGKILL")
              }
            },
            usualMs * (0.2 + 0.7 * random())
          )
          if (!isDisturbed) clearTimeout(timer)
          const { code, stderr } = await running.ended
          clearTimeout(timer)
          await restarted
          // Deletions are found by a full sync only, and a restart takes longer than the connection is waited for.
          if (code === 0) {
            usualMs = Date.now() - begun
            break
          }
          assert.isTrue(code === null || code === 1, stderr)
        }
        assert.deepStrictEqual(differences(server, account), [], `night ${night}`)
        stop ??= readingUntil(reader, server.url)
      }
      const [{ id, email }] = JSON.parse(await sqlIn(server, person))
      const erased = await start(
        ["subject", "erase", "--contact", id, "--apply", "--reason", "test", "--config", config],
        environment
      ).ended
      assert.strictEqual(erased.code, 0, erased.stderr)
      assert.deepStrictEqual(differences(server, account), [], "after the erasure")
      assert.strictEqual(
        await sqlIn(server, `SELECT count(*) FROM crm.contacts AS c WHERE c::text LIKE '%${email}%'`),
        "0"
      )
      const [polls, versions, mixes] = (await stop!()).split(" ").map(Number)
      assert.isAbove(polls!, 50)
      assert.isAbove(versions!, nights / 2)
      assert.strictEqual(mixes, 0)
      assert.isAbove(kills, 0)
      assert.isAbove(restarts, 0)
      process.stderr.write(`${kills} kills, ${restarts} restarts; ${polls} polls saw ${versions} releases\n`)
    } finally {
      discard(account)
      await server.stop()
    }
  })
})
