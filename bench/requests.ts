/**
 * Requests of a full sync, compared with the minimum, and of a nightly sync and a sync without changes, compared with the
 * full sync; then those of seven lists of 600 contacts: alone, whole, in full after nine contacts were deleted, and of a night.
 * Fails if a table differs from the service.
 *
 *     node_modules/.bin/node bench/requests.ts [contacts]
 */
import { openAccount } from "../test/support/account.ts"
import { lowerBound } from "../test/support/lower-bound.ts"
import { dataOf } from "./measure.ts"

const account = await openAccount("--contacts", process.argv[2] ?? "1500")
const { service } = account

const sync = async () => {
  await service.post("stats/reset", {})
  const { code, stdout, stderr } = await account.sync("--json")
  if (code !== 0) throw new Error(stderr)
  const differences = await account.differences()
  if (differences.length > 0) throw new Error(`Not what the service holds:\n${differences.join("\n")}`)
  const { requests, requestsByOperation } = await service.stats()
  const resources = dataOf<"sync">(stdout).resources.filter((one) => one.requests > 0)
  return { requests, requestsByOperation, resources }
}

try {
  const full = await sync()
  const bounds = await lowerBound(service)
  const least = bounds.reduce((sum, { requests }) => sum + requests, 0)
  // The bound is unknown for some small lists.
  const bounded = bounds.reduce((sum, { operation }) => sum + (full.requestsByOperation[operation] ?? 0), 0)
  console.log(
    `full             ${full.requests}; where a bound is known ${bounded}, the bound ${least}: x ${(bounded / least).toFixed(4)}`
  )

  const share = ({ requests }: typeof full) => `${((requests / full.requests) * 100).toFixed(2)} % of the full run`
  // An invoice whose list entry does not change is read again after 60 days, so it would differ until then.
  await service.post("change", { contacts: 0.01, opportunities: 0.01, conversations: 0.02, invoices: 0 })
  const night = await sync()
  console.log(`night            ${night.requests}: ${share(night)}`)

  const unchanged = await sync()
  const { length } = unchanged.resources
  console.log(
    `nothing changed  ${unchanged.requests}: ${share(unchanged)}; ` +
      `x ${(unchanged.requests / length).toFixed(2)} of one for each of the ${length} resources that have to be requested`
  )

  console.log("\nresource                 night  unchanged")
  for (const { resource, requests } of night.resources) {
    const then = unchanged.resources.find((one) => one.resource === resource)?.requests ?? 0
    console.log(`${resource.padEnd(24)} ${String(requests).padStart(5)} ${String(then).padStart(10)}`)
  }
} finally {
  service.stop()
}

const lists = await openAccount("--contacts", "600")
const listNames = ["contacts", "custom_fields", "opportunities", "conversations", "invoices", "orders", "users"]
const tables = listNames.map((name) => `table:${name}`).join(",")

const requestsOf = async (flag?: string, only = tables) => {
  await lists.service.post("stats/reset", {})
  const { code, stderr } = await lists.sync("--only", only, ...(flag === undefined ? [] : [flag]))
  if (code !== 0) throw new Error(stderr)
  return (await lists.service.stats()).requests
}

try {
  console.log("\nseven lists of 600 contacts")
  console.log(`lists alone (--except=details)              ${await requestsOf("--except=details")}`)
  console.log(`a sync after it: the single reads  ${await requestsOf()}`)
  console.log(`a quiet night                      ${await requestsOf()}`)
  console.log(`a night of contacts alone          ${await requestsOf(undefined, "table:contacts")}`)
  const gone = (await lists.service.records("contacts")).slice(0, 9)
  for (const { id } of gone) await lists.service.call("DELETE", `/contacts/${String(id)}`)
  console.log(`--again=lists, nine contacts deleted      ${await requestsOf("--again=lists")}`)
  console.log(`--again=all                             ${await requestsOf("--again=all")}`)
} finally {
  lists.service.stop()
}
