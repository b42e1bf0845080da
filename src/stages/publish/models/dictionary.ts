/** Models in the data dictionary. */
import { type Described, grainSentence, markdownOf } from "../../../catalog/dictionary.ts"
import type { ContractTable } from "../contracts/contract.ts"
import type { DescribedModel } from "./described.ts"

/** The family of the models, which is their schema. */
export const modelFamily = "bi"

export const modelDescribed = ({ columns, description, name, reads, ...model }: DescribedModel): Described => ({
  name: `${modelFamily}.${name}`,
  family: modelFamily,
  description,
  key: model.key,
  source: [...(model.key.length === 0 ? [] : [`- ${grainSentence(model)}`]), ...model.states, ...model.figures].join(
    "\n"
  ),
  reads,
  columns: columns.map(({ copyOf, from, ...column }) => ({
    ...column,
    relation: copyOf === undefined ? "from" : "is",
    origins: copyOf === undefined ? from : [copyOf]
  }))
})

/** What readers of a model may rely on. */
export const modelContract = (model: DescribedModel): ContractTable => ({
  ...modelDescribed(model),
  columns: model.columns.map((column) => ({ ...column, isRequired: model.key.includes(column.name) }))
})

/** The part of the whole dictionary about models. */
export const modelSections = (models: ReadonlyArray<DescribedModel>): string =>
  [
    `## ${modelFamily}`,
    "The [models](models.md), which every release contains. The last column has the columns of tables from which a value is made, as " +
      "far as the SQL says it; `is` means that it is the same value.",
    ...models.map((model) => markdownOf(modelDescribed(model)))
  ].join("\n\n")
