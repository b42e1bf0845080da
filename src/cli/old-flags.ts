/** Flags of 1.0.0 that have another name now. They work until 2.0.0, which takes this file away, and say what to write. */
import { valueOf } from "../console/given-flags.ts"

const reading = ["plan", "sync", "backfill"]
const logging = ["sync", "backfill", "listen", "publish", "fleet worker", "rebuild", "backup"]

/** By flag, with the commands that had it: what stands in its place, `…` for its value. */
const renamed: ReadonlyArray<readonly [flag: string, commands: ReadonlyArray<string>, now: string]> = [
  ["--lists", reading, "--except details"],
  ["--full", [...reading, "fleet enqueue"], "--again lists"],
  ["--each", reading, "--again all"],
  ["--systemd", ["schedule print"], "--as systemd"],
  ["--cron", ["schedule print"], "--as cron"],
  ["--launchd", ["schedule print"], "--as launchd"],
  ["--into", ["schedule print"], "--to=…"],
  ["--html", ["dictionary"], "--as html"],
  ["--nagios", ["check"], "--as nagios"],
  ["--file", ["report"], "--to=…"],
  ["--raw", ["mcp"], "--profile raw"],
  ["--formats", ["init"], "--format=…"],
  ["--bundle", ["ledger verify"], "…"],
  ["--port", ["listen", "explore"], "--listen=…"],
  ["--host", ["listen"], "--listen=…"],
  // These are there, hidden.
  ["--log-level", logging, "--quiet or --verbose"],
  ["--queries", ["explore"], "them into the folder queries of the output folder"]
]
const isHidden = (flag: string) => /^--(log-level|queries)$/.test(flag)

/** A flag that says nothing beside another one. */
const saidBy: Readonly<Record<string, string>> = { "--full": "--each", "--port": "--host" }

/** The command line with the flags of this version, and one sentence for each that had another name. */
export const withNewFlags = (typed: ReadonlyArray<string>, path: ReadonlyArray<string>) => {
  const warnings = new Set<string>()
  const args: Array<string> = []
  const isGiven = (flag: string | undefined) => typed.some((arg) => arg === flag || arg.startsWith(`${flag}=`))
  for (let index = 0; index < typed.length; index++) {
    const arg = typed[index]!
    const [, flag = arg, value] = /^(--[a-z-]+)=(.*)$/s.exec(arg) ?? []
    const now = renamed.find(([name, commands]) => name === flag && commands.includes(path.join(" ")))?.[2]
    if (now !== undefined)
      warnings.add(`${flag} ends with 2.0.0: write ${now.replace(/^…$/, "the folder alone").replace("=…", "")}.`)
    const isSaid = isGiven(saidBy[flag])
    if (now === undefined || isHidden(flag)) args.push(arg)
    else if (now.includes("…")) {
      const given = value ?? typed[++index] ?? ""
      const whole = flag === "--host" ? addressOf(given, valueOf("--port", typed)) : given
      if (!isSaid) args.push(now.replace("…", () => whole))
    } else if (!isSaid && value !== "false") args.push(...now.split(" "))
  }
  return { args, warnings: [...warnings] }
}

const addressOf = (host: string, port: string | undefined): string =>
  `${host.includes(":") ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`
