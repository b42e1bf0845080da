/** `sluice demo --fleet`: an agency of made-up locations, three workers of which one is killed, and one query over all. */
import { Effect, Redacted } from "effect"
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { postgresPrograms, startPostgres } from "./demo-postgres.ts"
import { enqueue } from "../jobs.ts"
import { addLocations, statusOfFleet } from "./roster.ts"
import { startSandbox } from "../../../../sandbox/server.ts"
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import { demoFolder } from "../../../output/paths.ts"
import { fileNameOf } from "../../../output/names.ts"
import { removeBelow } from "../../../output/remove.ts"
import { outputSettings } from "../../../settings/settings.ts"
import { freshDemoFleet } from "../../../command/demo-folder.ts"
import { startProcess, thisProgram } from "../../../run/process.ts"
import { Environment } from "../../../values/environment.ts"
import { exceptFromProxies } from "../../../network/proxy.ts"
import { failedError } from "../../../console/errors.ts"
import { commandLayer, unavailable } from "./fleet-database.ts"
import { Output, table } from "../../../console/streams.ts"
import { messageOf } from "../../../values/thrown.ts"

const [locations, workers] = [20, 3]

export const demoFleet = Effect.fn("command.demoFleet")(function* (flags: { readonly output: string | undefined }) {
  const { print, say } = yield* Output
  const environment = yield* Environment
  const programs = postgresPrograms(environment["PATH"])
  if (programs === undefined)
    return yield* failedError(
      "The demo of a fleet needs PostgreSQL, and its programs initdb and postgres are not on this machine.",
      "Install it (Debian: apt-get install postgresql, macOS: brew install postgresql@17), then ./sluice demo --fleet."
    )
  const { folder } = yield* outputSettings({ output: flags.output ?? demoFolder, noFile: true }, {})
  const state = join(folder, "fleet")
  const sandbox = yield* Effect.acquireRelease(
    Effect.promise(() => startSandbox({ locations, contacts: 10, minimumScale: 0.2 })),
    (running) => Effect.promise(() => running.close())
  )
  exceptFromProxies(sandbox.url)
  const listed = (yield* Effect.promise(async () =>
    (await fetch(`${sandbox.url}/__sandbox/locations`)).json()
  )) as ReadonlyArray<{ readonly locationId: string; readonly token: string }>
  yield* freshDemoFleet(state, { service: sandbox.url, locations: listed.map(({ locationId }) => locationId) })
  const temporary = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-demo-"))),
    (path) => Effect.promise(() => removeBelow(tmpdir(), path))
  )
  yield* Effect.promise(() => writeTokens(join(temporary, "tokens"), listed))
  // Only the user of the server needs to pass through the folder.
  yield* Effect.promise(() => chmod(temporary, 0o711))
  const database = yield* Effect.acquireRelease(
    attempt("PostgreSQL could not be started", () => startPostgres(programs, join(temporary, "database"))),
    ({ stop }) => Effect.promise(stop)
  )
  // In the temporary folder there is no settings file: it could name folders to publish into.
  const worker = startProcess(thisProgram(), ["fleet", "worker"], {
    cwd: temporary,
    environment: {
      PATH: environment["PATH"],
      SLUICE_BASE_URL: sandbox.url,
      SLUICE_FLEET_DATABASE: database.url,
      SLUICE_FLEET_PARALLEL: "3",
      SLUICE_FLEET_STATE: state,
      SLUICE_FLEET_TOKEN: `file:${temporary}/tokens/{location}`,
      SLUICE_FORMATS: "parquet",
      SLUICE_MODELS: "false"
    },
    output: "ignore",
    forceKillAfter: "10 seconds"
  })
  const started = yield* Effect.mapError(Effect.all(Array.from({ length: workers }, () => worker)), ({ message }) =>
    failed(`The workers could not be started: ${message}`)
  )
  say(`1. ${locations} made-up locations answer on this machine, each with a limit of 100 requests in 10 seconds.`)
  say(`2. PostgreSQL and ${workers} workers have started. A run of each location is queued:\n`)
  yield* Effect.gen(function* () {
    yield* addLocations(listed.map(({ locationId }) => ({ location: locationId })))
    yield* enqueue(undefined, { kind: "sync" })
    yield* watch(say, () => started[0]!.stop("SIGKILL"))
  }).pipe(Effect.provide(commandLayer(Redacted.make(database.url))), unavailable)
  say(`\n3. One query over all locations:\n\n  ${contactsByLocation(state).replaceAll("\n", "\n  ")}\n`)
  for (const line of yield* attempt("The files could not be read", () => rowsOf(contactsByLocation(state)))) print(line)
  say(`\nThe folder of each location is in ${state}.\nNext: docs/many-locations.md says how to run your own.`)
  return 0
}, Effect.scoped)

const attempt = <A>(problem: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => failed(`${problem}: ${messageOf(cause)}`) })

const failed = (message: string) => failedError(message.replace(/\.?$/, "."), "./sluice demo --fleet")

const [everyMs, killAfter] = [3000, 4]

/** Says how far the fleet is, and kills a worker on the way. */
const watch = (say: (line: string) => void, kill: () => void) => {
  let time = 0
  return Effect.gen(function* () {
    const rows = yield* statusOfFleet(undefined)
    const count = (wanted: string) => rows.filter(({ state }) => state === wanted).length
    const owners = new Set(rows.flatMap(({ owner }) => owner ?? []))
    const open = count("queued") + count("waiting")
    say(`   ${count("done")} done, ${count("running")} running on ${owners.size} workers, ${open} queued`)
    if (++time === killAfter) {
      kill()
      say("   One worker is killed. The others take over its locations when nothing was heard of it for 10 seconds.")
    }
    const ended = rows.find(({ state }) => state === "failed")
    if (ended !== undefined) return yield* failed(`${ended.location}: ${ended.message}`)
    return count("done") === rows.length
  }).pipe(Effect.delay(everyMs), Effect.repeat({ until: Boolean }), Effect.asVoid)
}

const contactsByLocation = (
  state: string
) => `SELECT location_id, count(*) AS contacts, max(date_updated) AS last_change
FROM read_parquet('${state}/*/published/parquet/contacts/*.parquet')
WHERE _deleted_at IS NULL
GROUP BY ALL ORDER BY location_id LIMIT 5`

const rowsOf = (sql: string): Promise<ReadonlyArray<string>> =>
  inMemory(async (connection) =>
    table(
      ["location_id", "contacts", "last_change"],
      (await connection.runAndReadAll(sql))
        .getRowsJson()
        .map(([location, contacts, change]) => [String(location), Number(contacts), String(change)])
    )
  )

const writeTokens = async (
  folder: string,
  listed: ReadonlyArray<{ readonly locationId: string; readonly token: string }>
) => {
  await mkdir(folder)
  for (const { locationId, token } of listed)
    await writeFile(join(folder, fileNameOf(locationId)), token, { mode: 0o600 })
}
