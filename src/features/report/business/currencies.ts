/** Amounts of several currencies, which are never added: one is shown at a time, that of the most rows first. */
import type { Row } from "../../../stores/warehouse/warehouse.ts"
import { money } from "../format.ts"
import { type Html, html } from "../../../values/html.ts"
import { ownName } from "../mask.ts"

/** Currencies that are shown. */
const currenciesMax = 4

interface InCurrency {
  /** `undefined`: not stated. */
  readonly currency: string | undefined
}

export const currencyOf = (row: Row): string | undefined =>
  row["currency"] === null || row["currency"] === "" ? undefined : ownName(String(row["currency"]))

/** An amount that stands alone. */
export const stated = (amount: number, currency: string | undefined): string =>
  currency === undefined ? `${money(amount, currency)} (currency not stated)` : money(amount, currency)

/** Amounts in a sentence. */
export const statedAll = (amounts: ReadonlyArray<InCurrency & { readonly amount: number }>): string =>
  amounts
    .slice(0, currenciesMax)
    .map(({ amount, currency }) => stated(amount, currency))
    .join(" and ")

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
