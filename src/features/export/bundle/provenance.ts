/** `prov.json`: which program made the files, in which runs and from which account, as PROV-JSON (W3C PROV-DM). */
import { sluiceVersion } from "../../../values/version.ts"
import type { TableFile } from "./payload.ts"
import type { RunLedger } from "./runs.ts"
import type { Release } from "./source.ts"

const agent = "sluice:software"
const account = "sluice:account"

export const provenanceOf = (
  { run, writtenAt }: Pick<Release, "run" | "writtenAt">,
  locations: ReadonlyArray<string>,
  ledger: RunLedger,
  files: ReadonlyArray<TableFile>
): object => {
  const release = `sluice:release-${run}`
  const activities = ledger.runs.map((one) => [`sluice:run-${String(one["run_id"])}`, one] as const)
  const fileIds = files.map((file) => [`sluice:${file.path.replaceAll(/[^A-Za-z0-9_-]/g, "-")}`, file] as const)
  return {
    prefix: { sluice: "urn:sluice:" },
    agent: { [agent]: { "prov:type": qualified("prov:SoftwareAgent"), "prov:label": `sluice ${sluiceVersion}` } },
    entity: {
      [account]: { "prov:label": "Account on the Account Platform", "sluice:location": locations },
      [release]: { "prov:label": `Release of run ${run}`, "sluice:writtenAt": instant(writtenAt) },
      ...Object.fromEntries(
        fileIds.map(([id, { path, table, rows, sha256 }]) => [
          id,
          { "prov:label": path, "sluice:table": table, "sluice:rows": rows, "sluice:sha256": sha256 }
        ])
      )
    },
    activity: Object.fromEntries(
      activities.map(([id, one]) => [
        id,
        {
          "prov:label": String(one["command"]),
          ...(one["started_at"] !== null && { "prov:startTime": one["started_at"] }),
          ...(one["finished_at"] !== null && { "prov:endTime": one["finished_at"] }),
          "sluice:status": String(one["status"] ?? "interrupted")
        }
      ])
    ),
    used: relations("u", activities, ([id]) => ({ "prov:activity": id, "prov:entity": account })),
    wasAssociatedWith: relations("a", activities, ([id]) => ({ "prov:activity": id, "prov:agent": agent })),
    wasGeneratedBy: relations("g", activities, ([id]) => ({ "prov:entity": release, "prov:activity": id })),
    wasDerivedFrom: relations("d", fileIds, ([id]) => ({ "prov:generatedEntity": id, "prov:usedEntity": release }))
  }
}

const relations = <A>(prefix: string, items: ReadonlyArray<A>, relation: (item: A) => object): object =>
  Object.fromEntries(items.map((item, index) => [`_:${prefix}${index + 1}`, relation(item)]))

const qualified = (value: string) => ({ $: value, type: "prov:QUALIFIED_NAME" })
const instant = (value: string) => ({ $: value, type: "xsd:dateTime" })
