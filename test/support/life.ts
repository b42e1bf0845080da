/** What tests of whole syncs share: an account, a service whose answers a test may change, and questions to the tables. */
import { assert } from "@effect/vitest"
import type { Context } from "effect"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { type Account, discard } from "./account.ts"
import { query } from "./compare.ts"
import { type Alter, alteredService } from "./proxy.ts"
import { type Service } from "./service.ts"
import { type Ran, sluice } from "./sluice.ts"

type Row = Readonly<Record<string, unknown>>
type Environment = Readonly<Record<string, string>>

export interface Life {
  readonly account: Account
  readonly service: Service
  /** What becomes of the answers of the service, as long as it is set. */
  alter: Alter | undefined
  /** The clock of all commands. */
  clock: Context.Context<never> | undefined
  /** Runs a command; a sync without `--only` reads the tables of the account. */
  readonly run: (args: ReadonlyArray<string>, environment?: Environment) => Promise<Ran>
  /** Syncs with flags that spaces separate, and expects the exit code. */
  readonly sync: (flags?: string, code?: number, environment?: Environment) => Promise<Ran>
  readonly ask: (sql: string) => Promise<ReadonlyArray<Row>>
  /** Changes the warehouse, as an earlier version or a long time would have. */
  readonly change: (sql: string) => Promise<unknown>
  readonly ids: (sql: string) => Promise<Array<string>>
  /** The ids of the rows that are marked deleted. */
  readonly deleted: (table: string) => Promise<Array<string>>
  /** What the last run says about a resource. */
  readonly reading: (resource: string) => Promise<Row | undefined>
  readonly edit: (collection: string, id: unknown, fields: Row) => Promise<unknown>
  /** Compares every table with the service. */
  readonly equalsService: () => Promise<void>
}

/** The life of an account in one test. */
export const begin = async (opening: Promise<Account>): Promise<Life> => {
  const { life, end } = await opened({} as Life, opening)
  onTestFinished(end)
  return life
}

/** The life of an account that all tests of a group share; `first` is what happens before them. */
export const beginForAll = (open: () => Promise<Account>, first?: (life: Life) => Promise<unknown>): Life => {
  const life = {} as Life
  let end = () => {}
  beforeAll(async () => {
    end = (await opened(life, open())).end
    await first?.(life)
  })
  afterAll(() => end())
  return life
}

const opened = async (life: Life, opening: Promise<Account>) => {
  const account = await opening
  const { environment, selection, service, warehouse } = account
  const altered = await alteredService(service, (request, answer) => life.alter?.(request, answer) ?? answer)
  const ask = (sql: string) => query(warehouse, sql)
  const ids = async (sql: string) => (await ask(sql)).map((row) => String(row["id"]))
  const run: Life["run"] = ([command, ...args], more) =>
    sluice(
      [command!, ...args, ...(command === "sync" && !args.includes("--only") ? selection : [])],
      { ...environment, ...(life.alter && { SLUICE_BASE_URL: altered.url }), ...more },
      life.clock && { overrides: life.clock }
    )
  Object.assign(life, {
    account,
    service,
    run,
    ask,
    ids,
    sync: async (flags = "", code = 0, more) => {
      const ran = await run(["sync", ...flags.split(" ").filter((flag) => flag !== "")], more)
      assert.strictEqual(ran.code, code, `sync ${flags}: ${ran.stderr}`)
      return ran
    },
    change: (sql) => query(warehouse, sql, "READ_WRITE"),
    deleted: (table) => ids(`SELECT id FROM crm.${table} WHERE _deleted_at IS NOT NULL ORDER BY id`),
    reading: async (resource) =>
      (await ask(`FROM meta.run_resources WHERE resource = '${resource}' ORDER BY run_id DESC LIMIT 1`))[0],
    edit: (collection, id, fields) => service.post("edit", { collection, id, fields }),
    equalsService: async () => assert.deepStrictEqual(await account.differences(), [])
  } satisfies Partial<Life>)
  return {
    life,
    end: () => {
      altered.close()
      discard(account)
    }
  }
}

/** A page of contacts without some of them, and a total that agrees. */
export const contactsWithout = (answer: unknown, ids: ReadonlyArray<string>) => {
  const { contacts, total } = answer as { readonly contacts: ReadonlyArray<{ readonly id: string }>; total: number }
  const left = contacts.filter(({ id }) => !ids.includes(id))
  return { contacts: left, total: total - (contacts.length - left.length) }
}
