import { type FaultRule, readRules } from "./http/faults.ts"
import type { Limits, Variants, SandboxOptions } from "./options.ts"

/** All flags, with the sentences of `--help`. */
export const flags = {
  port: { type: "string", description: "port to listen on (default: any free port)" },
  host: { type: "string", description: "address to listen on (default 127.0.0.1)" },
  seed: { type: "string", description: "the same seed makes the same account (default 1)" },
  contacts: { type: "string", description: "number of contacts (default 2000); the other counts follow it" },
  locations: { type: "string", description: "number of locations of an agency, each of this size (default 1)" },
  opportunities: { type: "string", description: "default 0.4 per contact" },
  conversations: { type: "string", description: "default 0.6 per contact" },
  messages: { type: "string", description: "default 6 per conversation" },
  orders: { type: "string", description: "default 0.25 per contact" },
  submissions: { type: "string", description: "default 0.3 per contact" },
  tasks: { type: "string", description: "default 0.3 per contact" },
  appointments: { type: "string", description: "default 0.2 per contact" },
  "minimum-scale": {
    type: "string",
    description: "share of the least number of rare records, such as funnels (default 1)"
  },
  users: { type: "string", description: "default 8 and one more per 100 contacts, at most 400" },
  "notes-per-contact": { type: "string", description: "mean number of notes (default 0.8)" },
  tags: { type: "string", description: "exact number of tags on every contact" },
  "custom-values": { type: "string", description: "exact number of custom field values on every contact" },
  warm: { type: "boolean", description: "serialise every record before listening, for benchmarks" },
  limits: { type: "string", description: "off, or burst/intervalMs/daily (default 100/10000/200000)" },
  "window-kind": { type: "string", description: "sliding (default) or fixed" },
  "retry-after": { type: "string", description: "seconds in Retry-After on a 429 (default: no such header)" },
  foreign: { type: "string", description: "number of requests that another client spends in every interval" },
  latency: { type: "string", description: "milliseconds before every response: a number, or a range such as 0-300" },
  "no-compression": { type: "boolean", description: "ignore Accept-Encoding" },
  world: { type: "string", description: "realistic (default), nasty, or live: answers as recorded in July 2026" },
  now: {
    type: "string",
    description: "time at which the seeded history ends, ISO 8601 (default: the start of this hour)"
  },
  "token-lifetime": { type: "string", description: "lifetime of an access token in seconds (default 86399)" },
  faults: {
    type: "string",
    description: "a probability such as 0.02, rules such as 500:0.1,reset-after:0.05, or rules as JSON"
  },
  "cut-limit": {
    type: "string",
    description: "the longest page of every list, whatever limit a request names (default: that limit)"
  },
  webhooks: { type: "string", description: "loopback (default) or any: where workflows may send webhooks" },
  files: { type: "boolean", description: "links lead to a second host, which serves the files behind them" },
  "file-mb": { type: "string", description: "size of the largest file in MB, such as 300 (default: no such file)" },
  "file-trouble": {
    type: "string",
    description: "share of links that are expired, deleted, slow or hostile (default 0)"
  },
  "file-contents": { type: "string", description: "distinct contents that links share (default: a quarter as many)" },
  "file-bytes": { type: "string", description: "exact size of every other file, for benchmarks" },
  "messages-with-files": { type: "string", description: "share of messages with attachments (default 0.1)" },
  "no-duplicate-contacts": {
    type: "boolean",
    description: "the account forbids contacts with the same e-mail or phone"
  },
  quirk: {
    type: "string",
    multiple: true,
    description: "variant of the service as name=value, see options.ts; may be repeated"
  },
  help: { type: "boolean", description: "show this help" }
} as const

export type Flags = { [name in keyof typeof flags]?: string | boolean | Array<string> }

/** Converts flags to options. Throws an Error with one sentence for an invalid value. */
export const readOptions = (values: Flags): SandboxOptions => {
  const text = (name: keyof Flags) => values[name] as string | undefined
  const options: Record<string, unknown> = {}
  for (const name of counts) {
    const sent = text(name)
    if (sent === undefined) continue
    if (!/^\d+(\.\d+)?$/.test(sent)) throw new Error(`--${name} takes a number, not "${sent}".`)
    options[name.replace(/-./g, (dash) => dash[1]!.toUpperCase())] = Number(sent)
  }
  if (text("host") !== undefined) options["host"] = text("host")
  if (values.warm === true) options["warm"] = true
  if (values["no-compression"] === true) options["compress"] = false
  if (values.files === true) options["files"] = true
  const choice = (name: keyof Flags, option: string, choices: ReadonlyArray<string>): void => {
    const sent = text(name)
    if (sent !== undefined && !choices.includes(sent)) throw new Error(`--${name} is one of ${choices.join(", ")}.`)
    if (sent !== undefined) options[option] = sent
  }
  if (values["no-duplicate-contacts"] === true) options["allowDuplicateContact"] = false
  for (const name of ["fileTrouble", "messagesWithFiles"]) {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    if (Number(options[name] ?? 0) > 1) throw new Error(`--${flag} is a share from 0 to 1.`)
  }
  if (Number(options["fileContents"] ?? 1) < 1) throw new Error("--file-contents is at least 1.")
  choice("webhooks", "webhooks", ["loopback", "any"])
  choice("world", "world", ["realistic", "nasty", "live"])
  choice("window-kind", "windowKind", ["sliding", "fixed"])
  if (text("limits") !== undefined) options["limits"] = readLimits(text("limits")!)
  if (text("latency") !== undefined) options["latencyMs"] = readLatency(text("latency")!)
  if (text("now") !== undefined) options["now"] = readNow(text("now")!)
  if (text("faults") !== undefined) options["faults"] = readFaults(text("faults")!)
  const cut = text("cut-limit")
  if (values.quirk !== undefined || cut !== undefined)
    options["variants"] = {
      ...readQuirks((values.quirk ?? []) as Array<string>),
      ...(cut !== undefined && { pageCut: readLength(cut) })
    }
  return options as SandboxOptions
}

const counts = (
  "port seed contacts locations opportunities conversations messages orders submissions tasks appointments users " +
  "minimum-scale notes-per-contact tags " +
  "custom-values retry-after foreign token-lifetime file-mb file-trouble file-contents file-bytes messages-with-files"
).split(" ") as Array<keyof Flags>

const readLimits = (sent: string): Limits | "off" => {
  if (sent === "off") return "off"
  const [burst, intervalMs, daily] = sent.split("/").map(Number)
  if (!burst || !intervalMs || !daily) throw new Error("--limits is off, or three numbers such as 100/10000/200000.")
  return { burst, intervalMs, daily }
}

const readLength = (sent: string): number => {
  if (!/^[1-9]\d*$/.test(sent)) throw new Error(`--cut-limit takes a number of records from 1 on, not "${sent}".`)
  return Number(sent)
}

const readLatency = (sent: string): number | [number, number] => {
  const [, low, high] = /^(\d+)(?:-(\d+))?$/.exec(sent) ?? []
  if (low === undefined || Number(high ?? low) < Number(low)) {
    throw new Error("--latency takes milliseconds such as 50, or a range such as 0-300.")
  }
  return high === undefined ? Number(low) : [Number(low), Number(high)]
}

const readNow = (sent: string): number => {
  const now = Date.parse(sent)
  if (Number.isNaN(now)) throw new Error("--now takes a time such as 2026-11-20T00:00:00Z.")
  return now
}

const readFaults = (sent: string): number | ReadonlyArray<FaultRule> => {
  if (/^[01]?(\.\d+)?$/.test(sent)) return Number(sent)
  try {
    return readRules(sent.startsWith("[") ? JSON.parse(sent) : sent.split(",").map(shortRule))
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Error("--faults starts like JSON and is not valid JSON.", { cause: error })
    throw new Error(`--faults: ${(error as Error).message}`, { cause: error })
  }
}

const shortRule = (part: string): FaultRule => {
  const [kind, rate, match] = part.split(":")
  return { kind: kind as FaultRule["kind"], rate: Number(rate ?? 1), ...(match !== undefined && { match }) }
}

/** The values of every variant; the type ensures that none is missing. */
const variants: Record<keyof Variants, ReadonlyArray<string | number | boolean>> = {
  contactPaging: ["searchAfter", "page", "none"],
  contactDateFilter: ["iso", "epoch", "refused"],
  contactSort: ["honoured", "created", "email"],
  contactShape: ["full", "reduced"],
  contactDateUpdated: ["always", "once changed"],
  opportunityFilters: ["honoured", "ignored", "refused"],
  opportunityPostLimitMax: [100, 500],
  messageDateUpdated: [true, false],
  exportLimitMax: [1000, 500],
  exportDates: ["honoured", "ignored"],
  conversationDates: ["iso", "epoch"],
  missingScopeStatus: [403, 401],
  missingLocationStatus: [422, 403],
  unknownContactStatus: [404, 400],
  unsupportedVersionStatus: [400, 401],
  noteTouchesContact: [false, true],
  dailyResetHeader: [true, false],
  redirectShape: ["array", "object"],
  taskSearch: ["all", "open"],
  userReads: ["found", "missing"],
  furtherLists: ["offered", "empty", "missing", "other form"],
  deletedReasons: ["only", "also"],
  refusedRecords: ["none", "business", "custom_objects.boats"],
  objectFilters: ["honoured", "ignored", "refused"],
  pageCut: [0, 20, 33]
}

const readQuirks = (sent: ReadonlyArray<string>): Variants => {
  const read = sent.map((part) => {
    const [name, text] = part.split("=")
    const choices = variants[name as keyof Variants] as (typeof variants)[keyof Variants] | undefined
    if (choices === undefined)
      throw new Error(`--quirk ${name} is unknown. The variants are ${Object.keys(variants).join(", ")}.`)
    const value = choices.find((choice) => String(choice) === text)
    if (value === undefined) throw new Error(`--quirk ${name} is one of ${choices.join(", ")}.`)
    return [name, value]
  })
  return Object.fromEntries(read)
}
