import { Random, streams } from "../account/random.ts"

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
  // Sends the previous answer of the same path again: a page that repeats.
  "repeat"
] as const

export type FaultKind = (typeof faultKinds)[number]

export interface FaultRule {
  /** A part of the path; the rule matches every operation when left out. */
  match?: string
  kind: FaultKind
  /** The probability that the rule applies to a matching request; 1 when left out. */
  rate?: number
  /** How many times the rule applies; without limit when left out. */
  count?: number
  /** How long a `slow` answer waits (default 2,000) and a `429-storm` lasts (default 10,000). */
  ms?: number
}

/** Decides which fault each request meets, from the seed and the order of arrival alone. */
export class Faults {
  #rules: Array<FaultRule> = []
  #struck: Array<number> = []
  readonly #random: Random
  #stormUntil = 0
  readonly #answers = new Map<string, string | Uint8Array>()

  constructor(faults: number | ReadonlyArray<FaultRule>, seed: number) {
    this.#random = new Random(seed, streams.fault, 0)
    this.set(typeof faults === "number" ? mixture(faults) : faults)
  }

  set(rules: ReadonlyArray<FaultRule>): void {
    this.#rules = [...rules]
    this.#struck = rules.map(() => 0)
    this.#stormUntil = 0
    this.#answers.clear()
  }

  /** The body to send: the one before of the same path for a `repeat`, which needs one to have been sent. */
  repeated(kind: FaultKind | undefined, path: string, body: string | Uint8Array): string | Uint8Array {
    if (!this.#rules.some((rule) => rule.kind === "repeat")) return body
    const sent = kind === "repeat" ? (this.#answers.get(path) ?? body) : body
    this.#answers.set(path, sent)
    return sent
  }

  get rules(): ReadonlyArray<FaultRule> {
    return this.#rules
  }

  next(path: string, now: number): { kind: FaultKind; ms: number } | undefined {
    if (now < this.#stormUntil) return { kind: "429", ms: 0 }
    for (const [index, rule] of this.#rules.entries()) {
      if (rule.match !== undefined && !path.includes(rule.match)) continue
      if (this.#struck[index]! >= (rule.count ?? Infinity)) continue
      if (!this.#random.chance(rule.rate ?? 1)) continue
      this.#struck[index]!++
      if (rule.kind === "429-storm") this.#stormUntil = now + (rule.ms ?? 10_000)
      return { kind: rule.kind, ms: rule.ms ?? 2000 }
    }
    return undefined
  }
}

const onlyByRule = new Set<FaultKind>(["hang", "429-storm", "slow", "repeat"])

/** Rules for a probability of any fault, except those that only a rule of their own selects: hang, 429-storm, slow, repeat. */
export const mixture = (probability: number): Array<FaultRule> => {
  const kinds = faultKinds.filter((kind) => !onlyByRule.has(kind))
  return probability === 0 ? [] : kinds.map((kind) => ({ kind, rate: probability / kinds.length }))
}
