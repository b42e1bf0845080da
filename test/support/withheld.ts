/** The catalogue with what settings keep out, and what is wrong with them. */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as Redacted from "effect/Redacted"
import { discover } from "../../src/catalog/discover.ts"
import type { PseudonymKey } from "../../src/settings/masking.ts"
import { type WithheldSettings, withholding } from "../../src/settings/withheld.ts"

export const catalogue = await discover()
export const key: PseudonymKey = { id: "k1", master: Redacted.make(Buffer.alloc(32, 7)) }

export type Settings = Partial<NonNullable<WithheldSettings["withheld"]>["personalData"]> & {
  readonly tables?: NonNullable<WithheldSettings["withheld"]>["tables"]
}
const withSettings = ({ tables = [], ...personalData }: Settings, all = catalogue) => {
  const defaults = { customFields: {}, excludeClasses: [], excludeCustomFields: [] }
  return withholding(
    {
      withheld: {
        tables,
        personalData: { ...defaults, ...personalData },
        placeOf: (path) => path,
        key: () => Result.succeed(key)
      }
    },
    all
  )
}
export const resourcesWith = (settings: Settings) => {
  const { catalogue, problems } = withSettings(settings)
  assert.deepStrictEqual(problems, [])
  return catalogue.resources
}
export const problemsOf = (settings: Settings, all = catalogue) =>
  withSettings(settings, all).problems.map(({ what }) => what)

export const excluding = (name: string, ...exclude: ReadonlyArray<string>): Settings => ({
  tables: [{ name, exclude }]
})
