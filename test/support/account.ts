/** An account to sync, and the comparison of every table with it. */
import { join } from "node:path"
import { differences, tableByCollection } from "./compare.ts"
import { type Service, startService } from "./service.ts"
import { type Ran, environmentOf, newFolder, sluice } from "./sluice.ts"

export interface Account {
  readonly service: Service
  readonly output: string
  readonly environment: Readonly<Record<string, string>>
  readonly sync: (...flags: ReadonlyArray<string>) => Promise<Ran>
  readonly warehouse: string
  /** Empty when every table equals the service. */
  readonly differences: () => Promise<ReadonlyArray<string>>
}

/** Takes the flags of `sluice sandbox`; without limits unless they say so. */
export const openAccount = async (...flags: ReadonlyArray<string>): Promise<Account> => {
  const service = await startService("--limits", "off", "--contacts", "300", ...flags)
  const output = newFolder()
  const environment = environmentOf(service, output)
  const warehouse = join(output, "warehouse.duckdb")
  return {
    service,
    output,
    environment,
    warehouse,
    sync: (...syncFlags) => sluice(["sync", ...syncFlags], environment),
    differences: async () => {
      const found = await Promise.all(
        Object.entries(tableByCollection).map(async ([collection, table]) =>
          differences(warehouse, table, (await service.records(collection)).filter(exported))
        )
      )
      return found.flat().filter(notDocumented).slice(0, 20)
    }
  }
}

/** Group chats and review requests are not in the export (A 4.9). */
const exported = (record: Readonly<Record<string, unknown>>) =>
  !["TYPE_GROUP_SMS", "TYPE_SMS_REVIEW_REQUEST"].includes(String(record["messageType"]))

/** A conversation's type is a word in the list and a number in a single read, as documented (A 2.12). */
const notDocumented = (difference: string) => !/^conversations \w+\.type: \d+ became "TYPE_/.test(difference)
