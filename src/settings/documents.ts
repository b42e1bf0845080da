/** Generates config/example.toml, its JSON Schema, the tables of docs/configuration.md and docs/alarms.md, and the help of flags from the settings. */
import { wrapped } from "../values/text.ts"
import * as Schema from "effect/Schema"
import { alarms } from "../alarms/alarms.ts"
import { type Section, type Setting, type SettingFlags, flagText } from "../values/setting.ts"
import { allSettings, listNames, listOf, sections } from "./sections.ts"

export const schemaFile = "sluice.schema.json"

/** The settings of an account, in the form of the example. */
interface Filled {
  /** The path of the schema from the file. */
  readonly schema: string
  /** By `section.key`. */
  readonly values: Readonly<Record<string, unknown>>
}

const precedence = "A flag overrides the environment, and the environment overrides this file."

/** Every setting with its description; only the required ones, or those with a value, are not commented out. */
export const exampleToml = (filled?: Filled): string =>
  [
    `#:schema ${filled?.schema ?? `./${schemaFile}`}`,
    filled ? `# ${precedence}` : `# Copy this file to config/sluice.toml. ${precedence}`,
    ...Object.entries<Section>(sections).flatMap(([section, settings]) => [
      "",
      `[${section}]`,
      ...Object.entries(settings).flatMap(([key, setting]) =>
        exampleLines(key, setting, filled?.values[`${section}.${key}`])
      )
    ]),
    ...listNames.flatMap((list) => [
      "",
      `# ${listOf(list).description}`,
      `# ${listOf(list).isNamed ? `[${list}.contacts]` : `[[${list}]]`}`,
      ...Object.entries(listOf(list).settings).flatMap(([key, setting]) => exampleLines(key, setting))
    ]),
    ""
  ].join("\n")

const exampleLines = (key: string, setting: Setting, value?: unknown): ReadonlyArray<string> => [
  `# ${setting.description}${placesOf(setting)}${setting.default === undefined ? "" : ` Default: ${tomlOf(setting.default)}.`}`,
  `${mustBeSet.has(setting) || value !== undefined ? "" : setting.alternative ? "# # " : "# "}${key} = ${tomlOf(value ?? setting.example ?? setting.default)}`
]

const mustBeSet: ReadonlySet<Setting> = new Set([
  sections.account.base_url,
  sections.account.location_id,
  sections.account.token
])

const placesOf = ({ environment, flag }: Setting): string => {
  const places = [environment, flag && flagText(flag)].filter(Boolean)
  return places.length === 0 ? "" : ` ${places.join(", ")}.`
}

const tomlOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(
    ([key, one]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${tomlOf(one)}`
  )
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`
}

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

/** The list of docs/configuration.md. */
export const settingsList = (): string =>
  markdownList([
    ...allSettings.map(({ path, environment, flag, default: otherwise, description }) => {
      const places = [environment, flag && flagText(flag)].flatMap((place) => (place ? [`\`${place}\``] : []))
      const notes = [...places, ...(otherwise === undefined ? [] : [`by default \`${tomlOf(otherwise)}\``])]
      return [path, `${notes.length === 0 ? "" : `(${notes.join(", ")}) `}${description}`] as const
    }),
    ...listNames.flatMap((list) =>
      Object.entries(listOf(list).settings).map(
        ([key, { description }]) => [`${list}.${listOf(list).isNamed ? "NAME." : ""}${key}`, description] as const
      )
    )
  ])

/** The list of docs/alarms.md. */
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

/** The help of a flag: description, and in brackets the environment variable and the default. */
export const flagDescription = (flag: keyof SettingFlags): string => {
  const { description, environment, default: otherwise } = allSettings.find((setting) => setting.flag === flag)!
  const notes = [environment, otherwise !== undefined && `default: ${String(otherwise)}`].filter(Boolean)
  return [description, notes.length > 0 && `[${notes.join(", ")}]`].filter(Boolean).join(" ")
}
