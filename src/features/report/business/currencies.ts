/** Amounts of several currencies, which are never added: one is shown at a time, that of the most rows first. */
import { money, moneyBrief } from "../format.ts"
import { type Content, type Html, html } from "../../../pages/html.ts"
import { ownName } from "../mask.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import type { Tile } from "../section.ts"
import type { Metric } from "../../../stages/publish/models/metrics.ts"

/** Currencies that are shown. */
const currenciesMax = 4

interface InCurrency {
  /** `undefined`: not stated. */
  readonly currency: string | undefined
}

export interface Amount extends InCurrency {
  readonly amount: number
}

/** Reads a currency. */
export const currency = (cell: unknown): string | undefined =>
  cell === null || cell === "" ? undefined : ownName(cell)

/** SQL: the rows of a currency. One that is masked is not one to compare with. */
export const isIn = (code: string | undefined): string =>
  code === undefined ? "coalesce(currency, '') = ''" : `currency = ${literal(code)}`

/** Amounts in a sentence: those that are not zero, or else the first. */
export const statedAll = (amounts: ReadonlyArray<Amount>): string => {
  const some = amounts.filter(({ amount }) => amount !== 0)
  return (some.length > 0 ? some : amounts.slice(0, 1))
    .slice(0, currenciesMax)
    .map(
      ({ amount, currency }) => `${money(amount, currency)}${currency === undefined ? " (currency not stated)" : ""}`
    )
    .join(" and ")
}

/** Makes what stands at the top of the part. */
export type MakeTile = (of: Metric, value: Content, note: string, ...conditions: ReadonlyArray<string>) => Tile

/** `conditions`: SQL, which of the rows of its currency. */
export const amountTile = (
  { tile }: { readonly tile: MakeTile },
  of: Metric,
  { amount, currency }: Amount,
  note: string,
  ...conditions: ReadonlyArray<string>
): Tile => {
  const noted = `${note}${currency === undefined ? ", currency not stated" : ""}`
  return tile(of, moneyBrief(amount, currency), noted, ...conditions, isIn(currency))
}

/** The first currency, and the others folded. `summary`: what a reader sees of these. */
export const oneAtATime = <One extends InCurrency>(
  found: ReadonlyArray<One>,
  summary: (one: One) => string,
  content: (one: One, suffix: string) => Html
): Html =>
  html`${found.slice(0, 1).map((one) => content(one, ""))}
  ${found.slice(1, currenciesMax).map(
    (one, index) =>
      html`<details>
        <summary>${one.currency ?? "Currency not stated"}: ${summary(one)}</summary>
        ${content(one, `-${index + 2}`)}
      </details>`
  )}`

export const moreOf = (found: ReadonlyArray<InCurrency>): string =>
  found.length > currenciesMax
    ? ` The ${currenciesMax} of ${found.length} currencies with the most rows are shown.`
    : ""
