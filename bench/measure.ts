/** Runs sluice and other programs against a sandbox, each in its own process, and measures time, CPU and memory. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { CommandResult } from "../src/console/result.ts"
import type { Service } from "../test/support/service.ts"

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** What a sandbox prints when it listens. */
export type Account = Pick<
  Service,
  "url" | "token" | "locationId" | "companyId" | "clientId" | "clientSecret" | "refreshToken"
>

export interface Sandbox {
  readonly url: string
  readonly account: Account
  readonly environment: Readonly<Record<string, string>>
  readonly stats: () => Promise<{
    readonly requests: number
    readonly requestsByOperation: Readonly<Record<string, number>>
    readonly fullestWindow: number
    readonly refused429: number
    /** Arrival of each request, in epoch milliseconds. */
    readonly arrivals: ReadonlyArray<number>
  }>
  readonly stop: () => void
}

export const startSandbox = async (...flags: ReadonlyArray<string>): Promise<Sandbox> => {
  const child = spawn(process.execPath, [at("sandbox/main.ts"), ...flags], { stdio: ["ignore", "pipe", "ignore"] })
  const line = await new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve))
  const account = JSON.parse(line) as Account
  const { url, token, locationId } = account
  return {
    url,
    account,
    environment: { SLUICE_BASE_URL: url, SLUICE_TOKEN: token, SLUICE_LOCATION_ID: locationId },
    stats: async () => (await fetch(`${url}/__sandbox/stats?arrivals=1`)).json() as ReturnType<Sandbox["stats"]>,
    stop: () => child.kill()
  }
}

/** An account without limits that consists almost only of contacts: about 1 kB each, with 2 tags and 5 custom values. */
export const startContacts = (contacts: number, ...flags: ReadonlyArray<string>): Promise<Sandbox> =>
  startSandbox(
    ..."--limits off --no-compression --tags 2 --custom-values 5 --opportunities 10 --conversations 10".split(" "),
    ..."--messages 10 --orders 10 --submissions 10 --tasks 10 --users 3".split(" "),
    "--contacts",
    String(contacts),
    ...flags
  )

export interface Measured {
  readonly seconds: number
  /** Peak resident memory of its largest process, on Linux. */
  readonly peakMb: number
  readonly cpuSeconds: number
  readonly stdout: string
  readonly code: number
}

const folders: Array<string> = []
process.on("exit", () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

export const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"))
  folders.push(folder)
  return folder
}

/** The data of a result that a command has printed as JSON. */
export const dataOf = <Name extends "sync" | "rebuild">(stdout: string): CommandResult<Name>["data"] =>
  (JSON.parse(stdout) as CommandResult<Name>).data

/** `accepted`: exit codes of a command that has done its work; `any` where the caller judges. */
export const run = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  accepted: ReadonlyArray<number> | "any" = [0]
): Promise<Measured> => runProgram(at("sluice"), args, environment, accepted)

/** Counts the CPU of a program and of all processes that it waits for, once it has ended. */
const withTimes = 'exec 3>"$0"; "$@"; code=$?; times >&3; exit $code'

/** Measures every program alike: from outside, its memory every 50 ms, with all processes that it starts. */
export const runProgram = async (
  program: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  accepted: ReadonlyArray<number> | "any" = [0]
): Promise<Measured> => {
  const start = performance.now()
  const times = join(newFolder(), "times")
  const child = spawn("/bin/sh", ["-c", withTimes, times, program, ...args], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let stdout = ""
  child.stdout.on("data", (chunk) => (stdout += chunk))
  let peakMb = 0
  const watch = setInterval(() => {
    try {
      const members = family(child.pid!)
      peakMb = Math.max(peakMb, ...members.map(peakOf))
    } catch {
      // Not Linux, or the process has ended.
    }
  }, 50)
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("close", resolve).once("error", reject)
  ).finally(() => clearInterval(watch))
  if (code === null || (accepted !== "any" && !accepted.includes(code)))
    throw new Error(`${program} ${args.join(" ")} ended with ${String(code)}`)
  const seconds = (performance.now() - start) / 1000
  return { seconds, peakMb, cpuSeconds: cpuIn(readFileSync(times, "utf8")), stdout, code }
}

/** A process and its descendants. */
const family = (pid: number): ReadonlyArray<number> => {
  const children = readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8"))
    .flatMap((line) => line.split(" ").filter((child) => child !== ""))
  return [pid, ...children.flatMap((child) => family(Number(child)))]
}

const peakOf = (pid: number) => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** The second line of `times` is that of the children: `0m1.234s 0m0.567s`. */
const cpuIn = (times: string) =>
  (times.split("\n")[1] ?? "")
    .split(" ")
    .reduce((sum, text) => sum + Number(text.split("m")[0]) * 60 + Number.parseFloat(text.split("m")[1] ?? ""), 0)

export const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** Seconds of CPU of a process, of its children, and of those of them that have ended. */
export const cpuOf = (pid: number): number => {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean)
  )
  return [pid, ...children].reduce<number>((sum, one, index) => {
    try {
      const fields = readFileSync(`/proc/${one}/stat`, "utf8").split(") ")[1]!.split(" ").map(Number)
      return sum + (fields[11]! + fields[12]! + (index === 0 ? fields[13]! + fields[14]! : 0)) / 100
    } catch {
      return sum // It has ended.
    }
  }, 0)
}
