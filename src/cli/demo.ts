/** `sluice demo`: everything once, on a made-up account in this process, at the service's real limits. */
import { Effect } from "effect"
import { relative } from "node:path"
import type { SandboxOptions } from "../../sandbox/options.ts"
import { startSandbox } from "../../sandbox/server.ts"
import { demoFolder, outputPaths } from "../output/paths.ts"
import { outputSettings } from "../settings/settings.ts"
import { query } from "../stores/warehouse/query.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { freshDemoFolder } from "../command/demo-folder.ts"
import { Environment } from "../values/environment.ts"
import { exceptFromProxies } from "../network/proxy.ts"
import { Output, table } from "../console/streams.ts"
import { printSynced } from "./sync.ts"
import { syncOnce } from "../run/sync.ts"

/**
 * Much of what costs a request for a hundred records, and little of what costs one each: contacts (their notes), orders,
 * invoices, calls and emails.
 */
export const demoAccount = {
  busyYear: true,
  contacts: 40,
  opportunities: 240,
  conversations: 30,
  messages: 300,
  invoices: 20,
  orders: 4,
  subscriptions: 16,
  appointments: 90,
  tasks: 60,
  submissions: 60,
  minimumScale: 0.1,
  latencyMs: [5, 40]
} satisfies SandboxOptions

export const demo = Effect.fn("command.demo")(function* (flags: { readonly output: string | undefined }) {
  const { print, say } = yield* Output
  // The settings of an account are not for a made-up one: it would be published into their targets.
  const output = yield* outputSettings({ output: flags.output ?? demoFolder, noFile: true }, {})
  const account = yield* Effect.acquireRelease(
    Effect.promise(() => startSandbox(demoAccount)),
    (sandbox) => Effect.promise(() => sandbox.close())
  )
  exceptFromProxies(account.url)
  yield* freshDemoFolder(output.folder, { service: account.url, locations: [account.locationId] })
  const environment = {
    SLUICE_BASE_URL: account.url,
    SLUICE_TOKEN: account.token,
    SLUICE_LOCATION_ID: account.locationId,
    SLUICE_OUTPUT: output.folder
  }
  const sync = syncOnce({ noFile: true }).pipe(
    Effect.provideService(Environment, environment),
    Effect.tap(printSynced),
    Effect.map(({ data }) => data)
  )
  say("1. A made-up account answers on this machine, with the limits of the real one: 100 requests in 10 seconds.\n")
  const first = yield* sync

  yield* Effect.promise(() =>
    fetch(`${account.url}/__sandbox/change`, {
      method: "POST",
      body: '{"contacts":0.05,"opportunities":0.1,"conversations":0.1}'
    })
  )
  say("\n2. Some contacts, deals and conversations changed. The second sync reads what changed:\n")
  const second = yield* sync

  say(`\n3. Published. Deals by stage, in plain SQL:\n\n${dealsByStageSql}\n`)
  for (const line of yield* dealsByStage(outputPaths(output.folder).warehouse, output)) print(line)
  const near = relative(process.cwd(), output.folder)
  const folder = near.startsWith("..") ? output.folder : near
  say(`
${first.requests} requests for everything, ${second.requests} for the changes. Look at:
  ${folder}/published/crm.duckdb      for any DuckDB client, while syncs go on
  ${folder}/published/parquet/        one folder a table
  ${folder}/published/csv/            one file a table
  ${folder}/published/manifest.json   rows and checksum of every file
  ${folder}/published/report/         index.html: completeness, changes and figures
Next: ./sluice explore --open --output ${folder}`)
  return 0
}, Effect.scoped)

const dealsByStageSql = `  SELECT p.name AS pipeline, s.name AS stage, count(*) AS deals, sum(o.monetary_value)::BIGINT AS value
  FROM crm.opportunities AS o
  JOIN crm.pipelines AS p ON p.id = o.pipeline_id
  JOIN crm.pipeline_stages AS s ON s.id = o.pipeline_stage_id
  WHERE o._deleted_at IS NULL
  GROUP BY ALL ORDER BY pipeline, min(s.position) LIMIT 8`

const dealsByStage = (path: string, options: { readonly memoryMb: number }) =>
  Effect.gen(function* () {
    const columns = { pipeline: String, stage: String, deals: Number, value: Number }
    const rows = yield* query(columns, dealsByStageSql)
    return table(
      Object.keys(columns),
      rows.map((row) => Object.values(row))
    )
  }).pipe(Effect.provide(Warehouse.layer(path, { ...options, access: "read" })))
