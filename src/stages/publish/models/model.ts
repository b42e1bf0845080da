/**
 * A model: a SELECT in a file, as in a dbt project. Of dbt's templates, it may contain comments and
 *
 *     {{ ref('stg_contacts') }}           another model
 *     {{ source('crm', 'contacts') }}     a table of the schema crm, crm_history or meta
 */
import { basename } from "node:path"
import { type Finding, wrong } from "../../../values/finding.ts"

/** A table that a model reads. */
export interface Source {
  readonly schema: string
  readonly table: string
}

export interface Model {
  readonly name: string
  readonly file: string
  /** One that costs little where it is read is a view in the DuckDB file; the others are stored. */
  readonly isView: boolean
  /** A view of the rows of a table that exist: it has no files of its own. */
  readonly isStaging: boolean
  /** The SQL, and between its pieces what the templates stand for. */
  readonly pieces: ReadonlyArray<string | Reference>
  readonly description: string | undefined
  readonly columns: Readonly<Record<string, ModelColumn>>
  /** Columns that together identify a row, according to a dbt test; empty without one. */
  readonly key: ReadonlyArray<string>
  /** Columns whose values another model has, according to dbt tests. */
  readonly references: ReadonlyArray<ModelReference>
}

export interface ModelReference {
  readonly column: string
  readonly to: { readonly model: string; readonly column: string }
}

/** What dbt's property files say about a column. */
export interface ModelColumn {
  readonly description: string | undefined
  /** Its class of personal data, from `config.meta.personal_data` of the model. */
  readonly personalData: string | undefined
  /** From `config.meta.numbers`. */
  readonly number?: ModelNumber | undefined
}

/** What a sum of a column says; `unit: currency` is that of its row. */
export interface ModelNumber {
  readonly sum: "additive" | "semi_additive" | "non_additive"
  /** The column over which it does not add up, if it is semi-additive. */
  readonly not_over?: string
  readonly unit?: string
}

/** As the end of the sentence of a column. */
export const numberText = ({ not_over: over, sum, unit }: ModelNumber): string =>
  [
    unit === undefined || unit === "currency" ? "" : `; unit: ${unit}`,
    sum === "non_additive" ? "; does not add up" : "; adds up",
    sum !== "non_additive" && unit === "currency" ? " within one currency" : "",
    over === undefined ? "" : `, but not over ${over}`
  ].join("")

export type Reference = { readonly ref: string } | { readonly source: Source }

/**
 * `where`: the name of the model that is not built, or its file if another model has the name. `what` begins with the place:
 * `my-models/won.sql:3: …`.
 */
export type ModelProblem = Finding<"wrong">

export interface ModelText {
  readonly file: string
  readonly text: string
  readonly isView: boolean
  readonly isStaging?: boolean | undefined
  readonly description?: string | undefined
  readonly columns?: Readonly<Record<string, ModelColumn>> | undefined
  readonly key?: ReadonlyArray<string> | undefined
  readonly references?: ReadonlyArray<ModelReference> | undefined
}

export const modelOf = ({
  file,
  text,
  isView,
  isStaging = false,
  description,
  columns = {},
  key = [],
  references = []
}: ModelText): Model | ModelProblem => {
  const name = basename(file, ".sql")
  const problem = (at: number, what: string): ModelProblem =>
    wrong(name, `${file}:${text.slice(0, at).split("\n").length}: ${what}`)
  if (!/^[a-z_][a-z0-9_]*$/.test(name))
    return problem(0, "the name of a model has lower-case letters, digits and underscores only")
  const pieces: Array<string | Reference> = []
  let end = 0
  for (const { 0: template, index } of text.matchAll(/\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}/gs)) {
    pieces.push(text.slice(end, index))
    end = index + template.length
    if (template.startsWith("{#")) continue
    const reference = referenceOf(template)
    if (reference === undefined)
      return problem(
        index,
        `${template}: sluice understands only {{ ref('model') }} and {{ source('schema', 'table') }}`
      )
    pieces.push(reference)
  }
  pieces.push(text.slice(end).replace(/[\s;]+$/, ""))
  return { name, file, isView, isStaging, pieces, description, columns, key, references }
}

const quoted = String.raw`\s*(?:'([^']*)'|"([^"]*)")\s*`
const refTemplate = new RegExp(String.raw`^\{\{\s*ref\(${quoted}\)\s*\}\}$`)
const sourceTemplate = new RegExp(String.raw`^\{\{\s*source\(${quoted},${quoted}\)\s*\}\}$`)

const referenceOf = (template: string): Reference | undefined => {
  const [, ref = undefined, sameRef = undefined] = refTemplate.exec(template) ?? []
  const target = ref ?? sameRef
  if (target !== undefined) return { ref: target }
  const [isSource, schema, sameSchema = "", table, sameTable = ""] = sourceTemplate.exec(template) ?? []
  if (isSource === undefined) return undefined
  return { source: { schema: schema ?? sameSchema, table: table ?? sameTable } }
}

export const isProblem = (one: Model | ModelProblem): one is ModelProblem => "level" in one

export const refsOf = ({ pieces }: Model): ReadonlyArray<string> =>
  pieces.flatMap((piece) => (typeof piece === "object" && "ref" in piece ? [piece.ref] : []))

export const sourcesOf = ({ pieces }: Model): ReadonlyArray<Source> =>
  pieces.flatMap((piece) => (typeof piece === "object" && "source" in piece ? [piece.source] : []))

/** The SELECT, with names for what it refers to. */
export const sqlOf = ({ pieces }: Model, nameOf: (reference: Reference) => string): string =>
  pieces.map((piece) => (typeof piece === "string" ? piece : nameOf(piece))).join("")
