/** An account to sync, and the comparison of its tables with the service. */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { differing, inDatabase, tableByCollection } from "./compare.ts"
import { copyOf, fixture, newOutput, prepareIn } from "./fixtures.ts"
import { type Service, startService } from "./service.ts"
import { type Ran, environmentOf, knowing, newFolder, ofPeople, sluice } from "./sluice.ts"

export interface Account {
  readonly service: Service
  readonly output: string
  readonly environment: Readonly<Record<string, string>>
  /** The flags of a sync that select the tables of the account. */
  readonly selection: ReadonlyArray<string>
  readonly sync: (...flags: ReadonlyArray<string>) => Promise<Ran>
  readonly warehouse: string
  /** Empty if every table equals the service. */
  readonly differences: () => Promise<ReadonlyArray<string>>
}

/** Tables with every kind of paging and of change detection: enough to test variants of the service. */
export const coreTables =
  "locations,users,contacts,contact_notes,tasks,pipelines,opportunities,conversations,messages,orders,form_submissions"
/** The flags that read some tables only: `conversations` is also the name of a family. */
export const selectionOf = (tables: string) => ["--only", tables, "--except", "emails,recordings,transcript_sentences"]

/** Takes the flags of `sluice sandbox`; without a rate limit by default. */
export const openAccount = (...flags: ReadonlyArray<string>): Promise<Account> => open(undefined, flags)

/** As `openAccount`, but reads and compares these tables only; without any, the core tables. */
export const openTables = (tables: string = coreTables, ...flags: ReadonlyArray<string>): Promise<Account> =>
  open(tables, flags)

/** As `openTables`, and commands know no other tables. */
export const openAlone = (tables: string = coreTables, ...flags: ReadonlyArray<string>) =>
  openAmong(tables, tables, ...flags)

/** As `openAlone` with the core tables. */
export const openCore = (...flags: ReadonlyArray<string>) => openAlone(undefined, ...flags)

/** As `openTables`, and commands know these tables and those that can be about a person. */
export const openPeople = (tables: string, ...flags: ReadonlyArray<string>) =>
  openAmong(tables, `${tables},${ofPeople}`, ...flags)

/** As `openTables`, and commands know `known` only. */
export const openAmong = async (tables: string, known: string, ...flags: ReadonlyArray<string>): Promise<Account> => {
  const service = await startService(...usual, ...flags)
  return knowingOnly(accountIn(newFolder(), service, tables), tables, known)
}

/** The account with commands that know `known` only. */
export const knowingOnly = (account: Account, tables: string, known = tables): Account => {
  const environment = { ...account.environment, ...knowing(known) }
  const selection = ["--only", tables]
  return { ...account, environment, selection, sync: (...more) => sluice(["sync", ...selection, ...more], environment) }
}

/** What decides the first sync of an account. */
interface First {
  /** Without it, all tables. */
  readonly tables?: string
  /** Flags of `sluice sandbox` that decide its records. */
  readonly flags?: ReadonlyArray<string>
  /** What the syncs publish. */
  readonly formats?: string
  /** Commands know these tables only, and the warehouse has no others. A release is without models then. */
  readonly isAlone?: boolean
}

/**
 * An account after its first sync. The sync is made once: each account with the same tables, flags and formats has a copy of
 * its output folder, and a service of its own with the same records.
 */
export const openSynced = async ({
  tables,
  flags = [],
  formats = "none",
  isAlone = false
}: First): Promise<Account> => {
  const at = hourOf(new Date())
  const given = createHash("sha256").update(JSON.stringify([at, tables, flags, formats, isAlone]))
  const open = (output: string, service: Service) => {
    const account = accountIn(output, service, tables, formats)
    if (!isAlone) return account
    const environment = { ...account.environment, SLUICE_MODELS: "false" }
    return knowingOnly({ ...account, environment }, tables!)
  }
  const kept = await fixture(`account-${given.digest("hex").slice(0, 16)}`, async (folder) => {
    writeFileSync(join(folder, "now"), at)
    const output = join(folder, "output")
    mkdirSync(output)
    if (!isAlone) await prepareIn(output)
    const account = open(output, await serviceOf(folder, flags))
    const ran = await account.sync()
    account.service.stop()
    if (ran.code !== 0) throw new Error(ran.stderr)
  })
  return open(copyOf(join(kept, "output")), await serviceOf(kept, flags))
}

/** The history of an account ends at the start of an hour, so that a fixture is used for an hour at most. */
const hourOf = (now: Date): string => new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000).toISOString()

/** The same flags and the same time give a service with the same records. */
export const serviceOf = (kept: string, flags: ReadonlyArray<string> = []): Promise<Service> =>
  startService(...usual, "--now", readFileSync(join(kept, "now"), "utf8"), ...flags)

/** Stops the services of accounts and removes their output folders. */
export const discard = (...accounts: ReadonlyArray<Account>): void => {
  for (const { service, output } of accounts) {
    service.stop()
    rmSync(output, { recursive: true })
  }
}

const open = async (tables: string | undefined, flags: ReadonlyArray<string>): Promise<Account> => {
  const service = await startService(...usual, ...flags)
  return accountIn(await newOutput(), service, tables)
}
/** Few of the records that an account has however few contacts it has: each costs a request or a part of a page. */
const usual = ["--limits", "off", "--contacts", "120", "--minimum-scale", "0.3"]
/** As many of them as an account usually has, for tests about them. */
export const usualScale = ["--minimum-scale", "1"]

/** The account of an output folder, with the service of its syncs. */
export const accountIn = (output: string, service: Service, tables?: string, formats?: string): Account => {
  const environment = { ...environmentOf(service, output), ...(formats && { SLUICE_FORMATS: formats }) }
  const warehouse = join(output, "warehouse.duckdb")
  const selection = tables === undefined ? [] : selectionOf(tables)
  return {
    service,
    selection,
    output,
    environment,
    warehouse,
    sync: (...syncFlags) => sluice(["sync", ...selection, ...syncFlags], environment),
    differences: async () => {
      const found: Array<string> = []
      await inDatabase(warehouse, async (ask) => {
        for (const [collection, table] of Object.entries(tableByCollection))
          if (tables === undefined || tables.split(",").includes(table))
            found.push(...differing(table, await ask(`SELECT * FROM crm.${table}`), await service.records(collection)))
      })
      return found.filter(isUnexpected).slice(0, 20)
    }
  }
}

/** The type of a conversation is a text in the list and a number in a single read, as documented (A 2.12). */
const isUnexpected = (difference: string) => !/^conversations \w+\.type: \d+ became "TYPE_/.test(difference)
