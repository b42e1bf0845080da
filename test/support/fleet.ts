/** A fleet: the sandbox of an agency, a database, and a folder of state, in which tests start workers. */
import { assert } from "@effect/vitest"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { coreTables } from "./account.ts"
import { differing, inDatabase, tableByCollection } from "./compare.ts"
import { type Postgres, openDatabase } from "./postgres.ts"
import { type Running, knowingApart, start } from "./process.ts"
import { type Service, startService } from "./service.ts"
import { newFolder, sluice } from "./sluice.ts"

export interface LocationCounts {
  readonly locationId: string
  readonly token: string
  readonly refreshToken: string
  readonly requests: number
  readonly fullestWindow: number
  readonly refused429: number
}

export interface FleetStatus {
  readonly counts: Readonly<Record<string, number>>
  readonly locations: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly location: string }>
}

export interface Fleet {
  readonly service: Service
  readonly postgres: Postgres
  readonly state: string
  /** The folder of the tokens, each in a file that is named after its location; refresh tokens in `refresh-<location>`. */
  readonly secrets: string
  readonly environment: Readonly<Record<string, string>>
  readonly worker: (environment?: Readonly<Record<string, string>>, ...flags: ReadonlyArray<string>) => Running
  readonly run: (...args: ReadonlyArray<string>) => Promise<{ code: number | null; stdout: string; stderr: string }>
  readonly status: () => Promise<FleetStatus>
  /** Resolves when all locations are in one of the states; rejects with the last status otherwise. */
  readonly reached: (states: ReadonlyArray<string>, withinMs: number) => Promise<FleetStatus>
  readonly counts: () => Promise<ReadonlyArray<LocationCounts>>
  /** The differences between the tables of a location, in the folder of a worker, and its records in the service. */
  readonly differences: (location: string, folder?: string) => Promise<ReadonlyArray<string>>
  readonly stop: () => Promise<void>
}

const tables = new Set(coreTables.split(","))

export const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000))

/** Takes the flags of `sluice sandbox`. Its commands know the core tables only: the claims of a fleet are about its runs. */
export const startFleet = async (...flags: ReadonlyArray<string>): Promise<Fleet> =>
  startFleetIn(await openDatabase(), ...flags)

/** As `startFleet`, in this database, which it stops at its end. */
export const startFleetIn = async (postgres: Postgres, ...flags: ReadonlyArray<string>): Promise<Fleet> => {
  const [service, known] = await Promise.all([startService(...flags), knowingApart(coreTables)])
  const folder = newFolder()
  const [state, secrets] = [join(folder, "state"), join(folder, "secrets")]
  mkdirSync(secrets)
  const control = async (path: string) => (await fetch(`${service.url}/__sandbox/${path}`)).text()
  const counts = async () => JSON.parse(await control("locations")) as ReadonlyArray<LocationCounts>
  for (const { locationId, refreshToken, token } of await counts()) {
    writeFileSync(join(secrets, locationId), token)
    writeFileSync(join(secrets, `refresh-${locationId}`), refreshToken)
  }
  const environment = {
    SLUICE_BASE_URL: service.url,
    SLUICE_FLEET_DATABASE: postgres.url,
    SLUICE_FLEET_STATE: state,
    SLUICE_FLEET_TOKEN: `file:${secrets}/{location}`,
    SLUICE_FLEET_AGENCY_TOKEN: service.agencyToken!,
    SLUICE_FORMATS: "none",
    ...known
  }
  const workers: Array<Running> = []
  const expected = new Set<Running>()
  const run: Fleet["run"] = (...args) => start(["fleet", ...args], environment).ended
  const status = async () => {
    // In this process: it is read every second, and each start of a process would take that from the workers.
    const { code, stderr, stdout } = await sluice(["fleet", "status", "--json"], environment)
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout).data as FleetStatus
  }
  return {
    service,
    postgres,
    state,
    secrets,
    environment,
    run,
    status,
    counts,
    worker: (more = {}, ...given) => {
      const worker = start(["fleet", "worker", ...given], { ...environment, ...more })
      workers.push(worker)
      return {
        ...worker,
        kill: (signal) => {
          if (signal === "SIGKILL") expected.add(worker)
          worker.kill(signal)
        }
      }
    },
    reached: async (states, withinMs) => {
      const until = Date.now() + withinMs
      for (;;) {
        const now = await status()
        if (now.locations.every(({ state }) => states.includes(String(state)))) return now
        if (Date.now() > until) throw new Error(JSON.stringify(now.counts) + JSON.stringify(now.locations))
        await seconds(1)
      }
    },
    differences: async (location, folder = state) => {
      const found: Array<string> = []
      await inDatabase(join(folder, location, "warehouse.duckdb"), async (ask) => {
        for (const [collection, table] of Object.entries(tableByCollection)) {
          if (!tables.has(table)) continue
          const place = `${collection}${collection.includes("?") ? "&" : "?"}location=${location}`
          const lines = (await control(`records/${place}`)).split("\n")
          const records = lines.filter((line) => line !== "").map((line) => JSON.parse(line))
          found.push(...differing(table, await ask(`SELECT * FROM crm.${table}`), records))
        }
      })
      return found.filter((difference) => !/^conversations \w+\.type: \d+ became "TYPE_/.test(difference)).slice(0, 5)
    },
    stop: async () => {
      for (const worker of workers) worker.kill("SIGCONT")
      for (const worker of workers) worker.kill("SIGTERM")
      const late = setTimeout(() => workers.forEach((worker) => worker.kill("SIGKILL")), 30_000)
      const ended = await Promise.all(workers.map((worker) => worker.ended))
      clearTimeout(late)
      service.stop()
      await postgres.stop()
      rmSync(folder, { recursive: true })
      const killed = ended.filter(({ code }, index) => code !== 143 && !expected.has(workers[index]!))
      if (killed.length > 0)
        throw new Error(`A worker ended with ${killed[0]!.code}: ${killed[0]!.stderr.slice(-3000)}`)
    }
  }
}

/** So few requests that a run takes half a minute, and the kills interrupt it. */
export const limit = 20
export const limited = ["--limits", `${limit}/10000/200000`]

/** Every location equals the service, and the service never counted more than its limit. */
export const assertComplete = async (fleet: Fleet, folder?: string) => {
  for (const { fullestWindow, locationId, refused429 } of await fleet.counts()) {
    assert.deepStrictEqual(await fleet.differences(locationId, folder), [], locationId)
    assert.isAtMost(fullestWindow, limit, locationId)
    assert.strictEqual(refused429, 0, locationId)
  }
}
