/** Makes a settings file, such as config/example.toml, and the help of flags from the settings. */
import { type Section, type Setting, type SettingFlags, flagText } from "../values/setting.ts"
import { allSettings, listNames, listOf, sections } from "./sections.ts"

export const schemaFile = "sluice.schema.json"

/** A first settings file: what was answered, by `section.key`. `folder`: that of the schema and the example, from the file. */
export const firstToml = (folder: string, values: Readonly<Record<string, unknown>>): string => {
  const bySection = Map.groupBy(Object.entries(values), ([path]) => path.split(".")[0])
  return [
    `#:schema ${folder}/${schemaFile}`,
    `# Every setting, with its default: ${folder}/example.toml. "./sluice serve" shows and changes them as a page.`,
    ...[...bySection].flatMap(([section, own], index) => [
      ...(index === 0 ? [] : [""]),
      `[${section}]`,
      ...own.map(([path, value]) => `${path.slice(path.indexOf(".") + 1)} = ${tomlOf(value)}`)
    ]),
    ""
  ].join("\n")
}

/** Every setting with its description. All but the required ones are comments. */
export const exampleToml = (): string =>
  [
    `#:schema ./${schemaFile}`,
    "# Copy this file to config/sluice.toml. A flag overrides the environment, and the environment overrides this file.",
    ...Object.entries<Section>(sections).flatMap(([section, settings]) => [
      "",
      `[${section}]`,
      ...Object.entries(settings).flatMap(([key, setting]) =>
        exampleLines(key, setting, mustBeSet.has(setting) ? setting.example : undefined)
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
  `${value !== undefined ? "" : setting.alternative ? "# # " : "# "}${key} = ${tomlOf(value ?? setting.example ?? setting.default)}`
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

export const tomlOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(
    ([key, one]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${tomlOf(one)}`
  )
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`
}

/** The help of a flag: description, and in brackets the environment variable and the default. */
export const flagDescription = (flag: keyof SettingFlags): string => {
  const { description, environment, default: otherwise } = allSettings.find((setting) => setting.flag === flag)!
  const notes = [environment, otherwise !== undefined && `default: ${String(otherwise)}`].filter(Boolean)
  return [description, notes.length > 0 && `[${notes.join(", ")}]`].filter(Boolean).join(" ")
}
