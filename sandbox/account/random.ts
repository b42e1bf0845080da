/**
 * A small deterministic generator (sfc32). Seed, stream and index are separate words of its state, so two records never
 * share a sequence, and each record can be built again alone and in any order.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #d = 1

  constructor(seed: number, stream: number, index: number) {
    this.#a = seed | 0
    this.#b = stream | 0
    this.#c = index | 0
    for (let round = 0; round < 12; round++) this.word()
  }

  /** 32 bits, unsigned. */
  word(): number {
    const sum = (this.#a + this.#b + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** A number from 0 to 1, without 1. */
  unit(): number {
    return this.word() / 4294967296
  }

  /** An integer from 0 to `below`, without `below`. */
  int(below: number): number {
    return Math.floor(this.unit() * below)
  }

  between(low: number, high: number): number {
    return low + this.int(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  pick<T>(choices: ReadonlyArray<T>): T {
    return choices[this.int(choices.length)] as T
  }

  /** Each choice with the given probability, in order, at most `maximum` of them. */
  some<T>(choices: ReadonlyArray<T>, maximum: number, probability: number): Array<T> {
    const found: Array<T> = []
    for (let tries = 0; tries < maximum; tries++) {
      const choice = this.pick(choices)
      if (this.chance(probability) && !found.includes(choice)) found.push(choice)
    }
    return found
  }

  /** An opaque identifier of 20 letters and digits. */
  id(): string {
    const codes: Array<number> = []
    for (let group = 0; group < 4; group++) {
      let word = this.word()
      for (let place = 0; place < 5; place++) {
        codes.push(alphabet.charCodeAt(word % 62))
        word = Math.floor(word / 62)
      }
    }
    return String.fromCharCode(...codes)
  }

  /** An id of 24 hexadecimal digits, of which the first 8 are the second of creation, like those of records with `_id`. */
  hexId(created: number): string {
    const digits = [Math.floor(created / 1000), this.word(), this.word()]
    return digits.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
  }
}

/** A stream for each kind of record; the numbers only have to be different. */
export const streams = {
  person: 1,
  contact: 2,
  note: 3,
  opportunity: 4,
  conversation: 5,
  message: 6,
  order: 7,
  submission: 8,
  task: 9,
  user: 10,
  setup: 11,
  shape: 12,
  change: 13,
  fault: 14,
  latency: 15,
  token: 16,
  malformed: 17,
  live: 18,
  template: 60,
  recurringTask: 61,
  workflow: 62,
  calendar: 63,
  appointment: 64,
  objectField: 65,
  email: 66,
  transcript: 67,
  provider: 68,
  churn: 69,
  delivery: 70,
  file: 71
} as const

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
