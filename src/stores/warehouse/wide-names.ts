/**
 * Names the columns of wide views. A column shows one field of a location, and the same field of others: that with the same
 * key, name and type. Of several fields that would have one name, the one that has it keeps it, then the one that was made
 * first; the others get an end from their id. So the names do not depend on what was read when.
 */
import { hash } from "node:crypto"
import { snakeCase } from "../../catalog/fields.ts"
import { TotalMap } from "../../catalog/present.ts"

/** A field of a location, with what its definition says, if it has one. */
export interface Field {
  readonly location: string
  readonly field: string
  readonly key: string | undefined
  readonly name: string | undefined
  readonly dataType: string | undefined
  /** When it was made, epoch milliseconds. */
  readonly madeAt: number | undefined
  /** The stored name of its column. */
  readonly known: string | undefined
}

/** The limit of PostgreSQL, in bytes: no program that reads the tables permits fewer. */
const bytesMax = 63

/** The column of each field. `fields`: those with a stored name first, in the order in which they were named. `fixed`: other columns. */
export const nameColumns = (
  fields: ReadonlyArray<Field>,
  prefix: string,
  fixed: ReadonlySet<string>
): TotalMap<Field, string> => {
  const names = new TotalMap<Field, string>()
  const shown = new Map<string, Array<Field>>()
  const take = (field: Field, column: string, isSame: (other: Field) => boolean): boolean => {
    const others = shown.get(column) ?? []
    if (fixed.has(column) || others.some((other) => other.location === field.location || !isSame(other))) return false
    shown.set(column, [...others, field])
    names.set(field, column)
    return true
  }
  const isKept = (field: Field) =>
    field.known !== undefined &&
    !isProvisional(field, field.known, prefix) &&
    take(field, field.known, ({ dataType }) => dataType === field.dataType)
  const unnamed = fields.filter((field) => !isKept(field))
  const columnsOf = Map.groupBy(names.keys(), identityOf)
  for (const field of unnamed.toSorted((one, other) => (one.madeAt ?? Infinity) - (other.madeAt ?? Infinity) || 0)) {
    const identity = identityOf(field)
    const same = columnsOf.get(identity) ?? []
    for (const column of namesOf(
      field,
      prefix,
      same.map((other) => names.of(other))
    ))
      if (take(field, column, (other) => identityOf(other) === identity)) break
    columnsOf.set(identity, [...same, field])
  }
  return names
}

/** Fields of two locations with the same identity are the same field. One without a definition has only its id. */
const identityOf = ({ dataType, field, key, name }: Field): string =>
  JSON.stringify(key === undefined ? [field] : [key, name, dataType])

/** The column was named after the id, before the field had a definition. Earlier versions counted columns of one name. */
const isProvisional = ({ field, key }: Field, known: string, prefix: string): boolean =>
  key !== undefined && [known, known.replace(/_\d+$/, "")].includes(fitted(prefix + wordsOf(field)))

/** Names for the column of a field, the best first: those of the same field elsewhere, its own, and its own with an end. */
function* namesOf(
  { field, key, location, name }: Field,
  prefix: string,
  same: ReadonlyArray<string>
): Generator<string> {
  yield* same
  const own = prefix + wordsOf((key ?? name ?? field).replace(/^(contact|opportunity)\./, ""))
  yield fitted(own)
  yield fitted(
    own,
    `_${field
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, "")
      .slice(-6)}`
  )
  for (let n = 0; ; n++) yield fitted(own, `_${hash("sha256", JSON.stringify([field, location, n])).slice(0, 12)}`)
}

/**
 * The letters and digits of any script in lower case, with "_" between: databases, files and BI tools take them all, and most
 * scripts have no certain spelling in another one. Latin letters lose their accents.
 */
const wordsOf = (key: string): string =>
  snakeCase(key.normalize("NFKD"))
    .replaceAll(/(?<=[a-z])\p{M}+|\p{Me}|\p{Variation_Selector}/gu, "")
    .normalize("NFC")
    .match(/(?:[\p{L}\p{N}]\p{M}*)+/gu)
    ?.join("_") ?? "field"

/** The name of a view after the key of what it shows. */
export const nameAfter = (key: string, prefix: string): string => fitted(prefix + wordsOf(key))

/** Whole characters of the name, and its end. */
const fitted = (name: string, end = ""): string => {
  const characters = Array.from(name)
  while (Buffer.byteLength(characters.join("") + end) > bytesMax) characters.pop()
  return characters.join("").replace(/_$/, "") + end
}
