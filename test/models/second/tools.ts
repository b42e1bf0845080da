/** What the parts of a drawn account are drawn with. */
import type { Sent } from "./world.ts"

export const day = 86_400_000
export const hour = 3_600_000

/** What draws the records of a location. */
export interface Tools {
  readonly nights: ReadonlyArray<number>
  readonly end: number
  readonly below: (n: number) => number
  readonly pick: <A>(all: ReadonlyArray<A>) => A
  readonly chance: (share: number) => boolean
  readonly maybe: <A>(value: A, share?: number) => A | undefined
  readonly moment: (from?: number) => number
  readonly instant: (at: number) => string
  readonly date: (at: number) => string
  readonly time: (share?: number) => string | undefined
  /** One of `often`, or any that is known, in whatever spelling. */
  readonly state: (thing: string, often: string) => string
  readonly amount: () => number | undefined
  readonly currency: () => string | undefined
  readonly ids: (prefix: string, n: number) => ReadonlyArray<string>
  readonly link: (prefix: string, n?: number) => string | undefined
  readonly add: (list: string, sent: Sent, changed?: Sent) => void
}

export const currencies = ["USD", "usd", "EUR", " Eur", "JPY", "", undefined]
