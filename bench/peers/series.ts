/** What is measured of each tool: runs on accounts of a sandbox, with the rows compared after each. */
import { spawn } from "node:child_process"
import { setTimeout as wait } from "node:timers/promises"
import { type Measured, newFolder, runProgram, type Sandbox, startSandbox } from "../measure.ts"
import { judge, type Judgement, lists, recordsOf } from "./judge.ts"
import type { Tool } from "./tools.ts"

export interface Result extends Judgement, Pick<Measured, "code" | "seconds" | "cpuSeconds" | "peakMb"> {
  readonly requests: number
  readonly refused: number
  /** The number of lists of which it holds rows. */
  readonly lists: number
}

/** `repeated`: what both runs requested beyond an undisturbed one. */
export interface Killed extends Result {
  readonly repeated: number
  /** The requests before the kill. */
  readonly made: number
  readonly undisturbed: number
}

export interface Measurements {
  readonly first: Result
  readonly changes: Result
  readonly deletions: Result
  /** Of the rows that existed all the time, because the others are as the reading met them. */
  readonly moving: Result
  readonly killed: Killed
  /** By the list of which a page was spoilt. */
  readonly errorBody: ReadonlyArray<readonly [list: string, Result]>
  readonly repeatedPage: ReadonlyArray<readonly [list: string, Result]>
}

const post = async (sandbox: Sandbox, path: string, body: unknown) => {
  const answer = await fetch(`${sandbox.url}/__sandbox/${path}`, { method: "POST", body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
}

const script = (tool: Tool) => ["-c", `set -o pipefail; cd "$FOLDER"; { ${tool.command}; } 2>>log`]

const environmentOf = ({ account, environment }: Sandbox, folder: string) => ({
  ...environment,
  SLUICE_OUTPUT: folder,
  SLUICE_FORMATS: "none",
  URL: account.url,
  TOKEN: account.token,
  LOCATION: account.locationId,
  COMPANY: account.companyId,
  FOLDER: folder,
  HOME: folder
})

const folderFor = (tool: Tool, sandbox: Sandbox) => {
  const folder = newFolder()
  tool.prepare?.(sandbox.account, folder)
  return folder
}

/** Runs a tool once, and compares what it holds afterwards with what the account holds. */
const runOnce = async (tool: Tool, sandbox: Sandbox, folder: string): Promise<Result> => {
  await post(sandbox, "stats/reset", {})
  const { code, cpuSeconds, peakMb, seconds } = await runProgram(
    "/bin/bash",
    script(tool),
    environmentOf(sandbox, folder),
    "any"
  )
  const { refused429: refused, requests } = await sandbox.stats()
  const rows = await tool.rows(folder)
  const judged = judge(await recordsOf(sandbox.url, tool.lists), rows)
  return { code, seconds, cpuSeconds, peakMb, requests, refused, lists: Object.keys(rows).length, ...judged }
}

/** Within the limits of the service, a run begins with a window of its own. */
const windowMs = 11_000

const withSandbox = async <A>(flags: ReadonlyArray<string>, use: (sandbox: Sandbox) => Promise<A>): Promise<A> => {
  const sandbox = await startSandbox(...flags)
  try {
    return await use(sandbox)
  } finally {
    sandbox.stop()
  }
}

const nights = (tool: Tool, contacts: number) =>
  withSandbox(["--contacts", String(contacts)], async (sandbox) => {
    const folder = folderFor(tool, sandbox)
    const first = await runOnce(tool, sandbox, folder)
    await post(sandbox, "change", {})
    await wait(windowMs)
    const changes = await runOnce(tool, sandbox, folder)
    await removeSome(sandbox, contacts)
    await wait(windowMs)
    return { first, changes, deletions: await runOnce(tool, sandbox, folder) }
  })

/** A hundredth of the contacts, and one record of each other list. */
const removeSome = async (sandbox: Sandbox, contacts: number) => {
  const removed = { contacts: Math.ceil(contacts / 100), opportunities: 1, conversations: 1, invoices: 1, orders: 1 }
  const records = await recordsOf(sandbox.url, Object.keys(removed))
  for (const [collection, count] of Object.entries(removed)) {
    const present = records[collection]!.filter((record) => record["deleted"] !== true)
    // From the middle, so that neither a first nor a last page is special.
    const start = Math.floor(present.length / 2)
    for (const record of present.slice(start, start + count))
      await post(sandbox, "remove", { collection, id: record["id"] ?? record["_id"] })
  }
}

/** With every request, two records of the account change or come, or one of the newest of a list is removed. */
const moving = (tool: Tool, contacts: number) =>
  withSandbox([...withoutLimits(contacts), "--latency", "100"], async (sandbox) => {
    const folder = folderFor(tool, sandbox)
    const before = await recordsOf(sandbox.url, tool.lists)
    await post(sandbox, "churn", { perRequest: 2, deletes: 0.05, removes: 0.4 })
    const result = await runOnce(tool, sandbox, folder)
    const after = await recordsOf(sandbox.url, tool.lists)
    const stayed = Object.entries(after).map(([list, records]) => {
      const ids = new Set(before[list]!.map((record) => record[lists[list]!.id]))
      return [list, records.filter((record) => ids.has(record[lists[list]!.id]))] as const
    })
    return { ...result, ...judge(Object.fromEntries(stayed), await tool.rows(folder)) }
  })

const withoutLimits = (contacts: number) => ["--contacts", String(contacts), "--limits", "off"]

/** Each run has an account of its own, because some tools use up their token. */
const killed = async (tool: Tool, contacts: number): Promise<Killed> => {
  const flags = [...withoutLimits(contacts), "--latency", "100"]
  const { requests: undisturbed } = await withSandbox(flags, (sandbox) =>
    runOnce(tool, sandbox, folderFor(tool, sandbox))
  )
  return withSandbox(flags, async (sandbox) => {
    const folder = folderFor(tool, sandbox)
    const made = await killAt(undisturbed / 2, tool, sandbox, folder)
    const again = await runOnce(tool, sandbox, folder)
    return { ...again, undisturbed, made, repeated: made + again.requests - undisturbed }
  })
}

/** Kills the program and its processes when half of the requests have arrived. */
const killAt = async (requests: number, tool: Tool, sandbox: Sandbox, folder: string): Promise<number> => {
  const child = spawn("/bin/bash", script(tool), {
    env: { PATH: process.env["PATH"], ...environmentOf(sandbox, folder) },
    stdio: "ignore",
    detached: true
  })
  const ended = new Promise((resolve) => child.once("close", resolve))
  while (child.exitCode === null && (await sandbox.stats()).requests < requests) await wait(10)
  if (child.exitCode !== null) throw new Error(`${tool.name} ended before it could be killed`)
  process.kill(-child.pid!, "SIGKILL")
  await ended
  // What was under way arrives yet.
  await wait(300)
  return (await sandbox.stats()).requests
}

/** A list with a cursor, and one with offsets. */
const disturbedLists = { contacts: "/contacts/search", invoices: "/invoices/" }

/** In each run, the second request of one list is answered with a fault, once. */
const disturbed = async (tool: Tool, contacts: number, kind: "200" | "repeat") => {
  const results: Array<readonly [list: string, Result]> = []
  for (const [list, match] of Object.entries(disturbedLists)) {
    if (!tool.lists.includes(list)) continue
    const result = await withSandbox(withoutLimits(contacts), async (sandbox) => {
      await post(sandbox, "faults", { rules: [{ kind, match, after: 1, count: 1 }] })
      return runOnce(tool, sandbox, folderFor(tool, sandbox))
    })
    results.push([list, result])
  }
  return results
}

export const measure = async (tool: Tool, contacts: number): Promise<Measurements> => ({
  ...(await nights(tool, contacts)),
  moving: await moving(tool, contacts),
  killed: await killed(tool, contacts),
  errorBody: await disturbed(tool, contacts, "200"),
  repeatedPage: await disturbed(tool, contacts, "repeat")
})
