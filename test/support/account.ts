/** An account to sync, and the comparison of its tables with the service. */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { differing, inDatabase, tableByCollection } from "./compare.ts"
import { newOutput } from "./fixtures.ts"
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
const coreTables =
  "locations,users,contacts,contact_notes,tasks,pipelines,opportunities,conversations,messages,orders,form_submissions"
/** The flags that read some tables only: `conversations` is also the name of a family. */
const selectionOf = (tables: string) => ["--only", tables, "--except", "emails,recordings,transcript_sentences"]
export const coreFlags = selectionOf(coreTables)

/** Takes the flags of `sluice sandbox`; without a rate limit by default. */
export const openAccount = (...flags: ReadonlyArray<string>): Promise<Account> => open(undefined, flags)

/** As `openAccount`, but reads and compares these tables only; without any, the core tables. */
export const openTables = (tables: string = coreTables, ...flags: ReadonlyArray<string>): Promise<Account> =>
  open(tables, flags)

/** As `openTables`, and commands know no other tables. */
export const openAlone = (tables: string, ...flags: ReadonlyArray<string>) => openAmong(tables, tables, ...flags)

/** As `openAlone` with the core tables. */
export const openCore = (...flags: ReadonlyArray<string>) => openAlone(coreTables, ...flags)

/** As `openTables`, and commands know these tables and those that can be about a person. */
export const openPeople = (tables: string, ...flags: ReadonlyArray<string>) =>
  openAmong(tables, `${tables},${ofPeople}`, ...flags)

const openAmong = async (tables: string, known: string, ...flags: ReadonlyArray<string>): Promise<Account> => {
  const service = await startService(...usual, ...flags)
  const account = accountIn(newFolder(), service, tables)
  const environment = { ...account.environment, ...knowing(known) }
  const selection = ["--only", tables]
  return { ...account, environment, selection, sync: (...more) => sluice(["sync", ...selection, ...more], environment) }
}

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
const usual = ["--limits", "off", "--contacts", "120"]

/** The account of an output folder, with the service of its syncs. */
export const accountIn = (output: string, service: Service, tables?: string): Account => {
  const environment = environmentOf(service, output)
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
