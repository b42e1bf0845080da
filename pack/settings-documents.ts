/** Generates the JSON Schema of the settings, and the list of docs/every-night.md. */
import { wrapped } from "../src/values/text.ts"
import * as Schema from "effect/Schema"
import { alarms } from "../src/alarms/alarms.ts"
import type { Section } from "../src/values/setting.ts"
import { listNames, listOf, sections } from "../src/settings/sections.ts"

/** The JSON Schema by which editors complete, describe and check settings. */
export const jsonSchema = (): string =>
  `${JSON.stringify(
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Settings of sluice",
      ...objectOf({
        ...Object.fromEntries(
          Object.entries<Section>(sections).map(([section, settings]) => [section, objectOf(propertiesOf(settings))])
        ),
        ...Object.fromEntries(
          listNames.map((list) => {
            const { isNamed, settings, required, description } = listOf(list)
            const item = { ...objectOf(propertiesOf(settings)), required }
            return [
              list,
              isNamed
                ? { type: "object", description, additionalProperties: item }
                : { type: "array", description, items: item }
            ]
          })
        )
      })
    },
    null,
    2
  )}\n`

const objectOf = (properties: object) => ({ type: "object", additionalProperties: false, properties })

const propertiesOf = (settings: Section) =>
  Object.fromEntries(
    Object.entries(settings).map(([key, { schema, description, default: otherwise, example }]) => [
      key,
      {
        description,
        ...Schema.toJsonSchemaDocument(schema).schema,
        ...(otherwise !== undefined && { default: otherwise }),
        ...(example !== undefined && { examples: [example] })
      }
    ])
  )

/** The list of docs/every-night.md. */
export const alarmsList = (): string =>
  markdownList(
    Object.entries(alarms).map(([kind, { when, settings }]) => {
      const names = Object.keys(settings).map((key) => `\`alarms.${key}\``)
      return [kind, names.length === 0 ? when : `${when} Settings: ${names.join(", ")}.`] as const
    })
  )

/** An item for each name with what it means, in lines of at most 120 characters. */
export const markdownList = (items: ReadonlyArray<readonly [name: string, meaning: string]>): string =>
  items.flatMap(([name, meaning]) => wrapped(meaning, { width: 120, first: `- \`${name}\`: `, indent: 2 })).join("\n")
