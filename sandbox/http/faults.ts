import { Random, streams } from "../account/random.ts"
import { errorAnswers } from "./error-answers.ts"

export const faultKinds = [
  "500",
  "502html",
  "503",
  "reset-before",
  "reset-after",
  "reset-within",
  "truncate",
  "hang",
  "slow",
  "429",
  "429-storm",
  // Sends the previous response of the same path again, like a list that repeats a page.
  "repeat",
  // Sends an error with the status 200, in the form that the rule names.
  "200"
] as const

export type FaultKind = (typeof faultKinds)[number]

/** The fault of one request. */
export interface Fault {
  readonly kind: FaultKind
  readonly ms: number
  /** The form of an error with the status 200. */
  readonly form?: string
}

export interface FaultRule {
  /** A part of the path, or the whole path with `*` for its parameters. Default: every path. */
  match?: string
  /** The form of an error with the status 200. Default: `success`. */
  form?: string
  kind: FaultKind
  /** The probability that the rule applies to a matching request. Default: 1. */
  rate?: number
  /** How many times the rule applies. Default: without limit. */
  count?: number
  /** How many matching requests it lets through before. Default: 0. */
  after?: number
  /** Milliseconds by which a `slow` response is delayed (default 2,000) and that a `429-storm` lasts (default 10,000). */
  ms?: number
}

/** The members of a rule. */
const members: Readonly<Record<keyof FaultRule, (value: unknown) => boolean>> = {
  match: (value) => typeof value === "string",
  form: (value) => typeof value === "string" && errorAnswers.includes(value),
  kind: (value) => faultKinds.some((kind) => kind === value),
  rate: (value) => typeof value === "number" && value >= 0 && value <= 1,
  count: (value) => Number.isInteger(value) && (value as number) >= 0,
  after: (value) => Number.isInteger(value) && (value as number) >= 0,
  ms: (value) => typeof value === "number" && value >= 0
}

/** Reads rules that were sent or given as a flag. Throws an Error with one sentence for a rule that is not valid. */
export const readRules = (sent: unknown): ReadonlyArray<FaultRule> => {
  if (!Array.isArray(sent)) throw new Error("Fault rules are an array.")
  for (const rule of sent as ReadonlyArray<unknown>) {
    if (typeof rule !== "object" || rule === null || !members.kind((rule as FaultRule).kind))
      throw new Error(`A fault rule has a kind, one of: ${faultKinds.join(", ")}.`)
    for (const [name, value] of Object.entries(rule)) {
      const isValid = Object.hasOwn(members, name) ? members[name as keyof FaultRule] : undefined
      if (isValid === undefined)
        throw new Error(`A fault rule has no member ${name}; its members are ${Object.keys(members).join(", ")}.`)
      if (!isValid(value)) throw new Error(`${name} of a fault rule cannot be ${JSON.stringify(value)}.`)
    }
  }
  return sent as ReadonlyArray<FaultRule>
}

/** Selects the fault of each request. The choice depends only on the seed, the rules and the order of the requests. */
export class Faults {
  #rules: Array<FaultRule> = []
  #appliedCounts: Array<number> = []
  #letThrough: Array<number> = []
  readonly #random: Random
  #stormUntil = 0
  readonly #lastBodies = new Map<string, string | Uint8Array>()

  constructor(faults: number | ReadonlyArray<FaultRule>, seed: number) {
    this.#random = new Random(seed, streams.fault, 0)
    this.set(typeof faults === "number" ? mixture(faults) : faults)
  }

  set(rules: ReadonlyArray<FaultRule>): void {
    this.#rules = [...rules]
    this.#appliedCounts = rules.map(() => 0)
    this.#letThrough = rules.map(() => 0)
    this.#stormUntil = 0
    this.#lastBodies.clear()
  }

  /** The body to send. For the fault `repeat`, it is the previous one of the same path, if there is one. */
  repeated(kind: FaultKind | undefined, path: string, body: string | Uint8Array): string | Uint8Array {
    if (!this.#rules.some((rule) => rule.kind === "repeat")) return body
    const sent = kind === "repeat" ? (this.#lastBodies.get(path) ?? body) : body
    this.#lastBodies.set(path, sent)
    return sent
  }

  get rules(): ReadonlyArray<FaultRule> {
    return this.#rules
  }

  next(path: string, now: number): Fault | undefined {
    if (now < this.#stormUntil) return { kind: "429", ms: 0 }
    for (const [index, rule] of this.#rules.entries()) {
      if (rule.match !== undefined && !isMatch(rule.match, path)) continue
      if (this.#appliedCounts[index]! >= (rule.count ?? Infinity)) continue
      if (this.#letThrough[index]! < (rule.after ?? 0)) {
        this.#letThrough[index]!++
        continue
      }
      if (!this.#random.chance(rule.rate ?? 1)) continue
      this.#appliedCounts[index]!++
      if (rule.kind === "429-storm") this.#stormUntil = now + (rule.ms ?? 10_000)
      return { kind: rule.kind, ms: rule.ms ?? 2000, ...(rule.kind === "200" && { form: rule.form ?? "success" }) }
    }
    return undefined
  }
}

const isMatch = (match: string, path: string): boolean => {
  if (!match.includes("*")) return path.includes(match)
  const [expected, segments] = [match.split("/"), path.split("/")]
  return (
    expected.length === segments.length &&
    segments.every((segment, index) => (expected[index] === "*" ? segment !== "" : segment === expected[index]))
  )
}

const onlyByRule = new Set<FaultKind>(["hang", "429-storm", "slow", "repeat", "200"])

/** Rules that together apply to about this share of requests. They exclude hang, 429-storm, slow, repeat and 200. */
export const mixture = (probability: number): Array<FaultRule> => {
  const kinds = faultKinds.filter((kind) => !onlyByRule.has(kind))
  return probability === 0 ? [] : kinds.map((kind) => ({ kind, rate: probability / kinds.length }))
}
