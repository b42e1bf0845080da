/** Syncs the contacts of an account, and prints how many came from each source. */
import { SluiceError, openWarehouse, plan, sync } from "sluice"

const output = "output"

try {
  const { data: estimate } = await plan({ output, only: ["contacts"] })
  console.log(`The sync needs at least ${estimate.requests?.min ?? 0} requests.`)

  const { data, exitCode } = await sync({ output, only: ["contacts"], onMessage: (line) => console.error(line) })
  const incomplete = data.resources.filter(({ status }) => status === "incomplete")
  for (const { resource, warnings } of incomplete) console.error(`${resource} is incomplete: ${warnings.join("; ")}`)

  await using warehouse = await openWarehouse({ output })
  const rows = await warehouse.query(`
    SELECT coalesce(source, 'unknown') AS source, count(*)::INTEGER AS contacts
    FROM crm.contacts
    GROUP BY ALL
    ORDER BY contacts DESC, source
    LIMIT 5`)
  console.log(JSON.stringify(rows))
  process.exitCode = exitCode
} catch (error) {
  // Nothing was read: the settings are wrong, the service is down, or another run is working.
  if (!(error instanceof SluiceError)) throw error
  console.error(`${error.message}\nNext: ${error.next ?? "see the messages above"}`)
  process.exitCode = error.exitCode
}
