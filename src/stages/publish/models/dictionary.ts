/** Models in the data dictionary. */
import type { ContractTable } from "../contracts/contract.ts"
import type { DescribedModel, ModelColumn } from "./described.ts"

/** The family of the models, which is their schema. */
export const modelFamily = "bi"

/** Which rows a model has, and of what it is made, as lines of Markdown. */
export const modelSource = ({ key, reads }: DescribedModel): string =>
  [
    ...(key.length === 0 ? [] : [`- One row per ${key.map((column) => `\`${column}\``).join(", ")}.`]),
    ...(reads.length === 0 ? [] : [`- Made of ${reads.map((table) => `\`${table}\``).join(", ")}.`])
  ].join("\n")

/** From which columns of tables a column is made. */
export const originText = ({ copyOf, from }: ModelColumn): string =>
  copyOf === undefined ? from.join(", ") : `is ${copyOf}`

/** A model as a section of Markdown. */
export const modelSection = (model: DescribedModel): string =>
  [
    `### ${modelFamily}.${model.name}`,
    model.description,
    modelSource(model),
    [
      "| column | type | meaning | personal data | made of |",
      "|---|---|---|---|---|",
      ...model.columns.map((column) => {
        const { name, type, description, personal } = column
        return `| ${name} | ${type} | ${description.replaceAll("|", "\\|")} | ${personal} | ${originText(column)} |`
      })
    ].join("\n")
  ]
    .filter((part) => part !== "")
    .join("\n\n")

/** What readers of a model may rely on. */
export const modelContract = ({ columns, description, key, name }: DescribedModel): ContractTable => ({
  name: `${modelFamily}.${name}`,
  family: modelFamily,
  description,
  key,
  columns: columns.map(({ description, name, personal, type }) => ({
    name,
    type,
    description,
    personal,
    isRequired: key.includes(name)
  }))
})

/** The part of the whole dictionary about models. */
export const modelSections = (models: ReadonlyArray<DescribedModel>): string =>
  [
    `## ${modelFamily}`,
    "The [models](models.md), which every release contains. The last column has the columns of tables from which a value is made, as " +
      "far as the SQL says it; `is` means that it is the same value.",
    ...models.map(modelSection)
  ].join("\n\n")
