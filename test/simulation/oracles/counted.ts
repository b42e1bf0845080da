/** The pages and records that the runs have counted are those in the vault. */
import { join } from "node:path"
import type { Stage } from "../run.ts"
import { keptIn } from "./requests.ts"
import type { State } from "./state.ts"

/** Call this when everything in the vault is loaded. */
export const pagesAreCounted = ({ machine }: Stage, { meta }: State): ReadonlyArray<string> => {
  const { pages } = keptIn(join(machine.folder, "vault"))
  const nameOf = (location: unknown, label: unknown) => `${String(location)} ${String(label)}`
  const kept = Map.groupBy(pages, ({ label, location }) => nameOf(location, label))
  const counted = Map.groupBy(meta.run_resources, (row) => nameOf(row["location_id"], row["resource"]))
  return [...new Set([...kept.keys(), ...counted.keys()])].flatMap((name) => {
    const sum = (count: string) => (counted.get(name) ?? []).reduce((all, row) => all + Number(row[count]), 0)
    const inVault = kept.get(name) ?? []
    const records = inVault.reduce((all, page) => all + page.records, 0)
    return [
      ...(sum("pages") === inVault.length
        ? []
        : [`${name}: ${inVault.length} pages in the vault, counted ${sum("pages")}`]),
      ...(sum("records") === records ? [] : [`${name}: ${records} records in the vault, counted ${sum("records")}`])
    ]
  })
}
