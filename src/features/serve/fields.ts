/** The fields of the page's forms, made of the settings and of the flags of commands. */
import * as Schema from "effect/Schema"
import type { FlagDescriptor } from "effect/cli/Completions"
import { detailsName } from "../../command/selection.ts"
import { type Setting, date } from "../../values/setting.ts"

/** The page knows the choices of locations and tables. */
type Kind =
  | "text"
  | "number"
  | "flag"
  | "choice"
  | "several"
  | "list"
  | "date"
  | "email"
  | "location"
  | "table"
  | "tables"

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly description: string
  readonly choices?: ReadonlyArray<string>
  readonly required?: boolean
}

/** `name`: as the request names it. */
export const fieldOf = (name: string, { description: text, schema, ...setting }: Setting): Field => {
  const description = text.replace("./sluice serve", "this page").replace(/; in the variable, [^.]*/, "")
  const isDate = schema.ast === date.schema.ast
  const { enum: choices, items, type } = Schema.toJsonSchemaDocument(schema).schema as JsonSchema
  const field = { name, description }
  if (type === "boolean") return { ...field, kind: "flag" }
  if (type === "array")
    return items?.enum ? { ...field, kind: "several", choices: items.enum } : { ...field, kind: "list" }
  if (choices) return { ...field, kind: "choice", choices }
  if (type === "number" || type === "integer") return { ...field, kind: "number" }
  return {
    ...field,
    kind: isDate ? "date" : "text",
    description: setting.secret ? `${description} Write env:NAME or file:PATH.` : description
  }
}

interface JsonSchema {
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
  readonly items?: { readonly enum?: ReadonlyArray<string> }
}

/** What a flag is, where its type says less than its name: each name means the same in every command. */
const kindByName: Readonly<Record<string, Kind>> = {
  location: "location",
  only: "tables",
  except: "tables",
  from: "date",
  to: "date",
  email: "email"
}

/** Where the page has the choices, an example says nothing. */
const textByKind: Partial<Readonly<Record<Kind, (text: string) => string>>> = {
  location: () => "Without a choice, all of them.",
  tables: (text) => text.replace(/: [^.]*\./, ".").replace(/ A name of both .*/, "")
}

export const fieldOfFlag = ({
  description = "",
  name,
  type
}: Pick<FlagDescriptor, "description" | "name" | "type">): Field => ({
  name,
  kind: type._tag === "Boolean" ? "flag" : type._tag === "Choice" ? "choice" : (kindByName[name] ?? "text"),
  ...(type._tag === "Choice" && { choices: type.values }),
  ...(description.includes(`${detailsName}:`) && { choices: [detailsName] }),
  description: (textByKind[kindByName[name] ?? "text"] ?? inPage)(description)
})

/** Variables, and the way in which a terminal takes several, are for terminals; a flag is a field here. */
const inPage = (text: string): string =>
  text
    .replace(/ \[[^\]]*\]$/, "")
    .replace(/; the flag and the variable take several, separated by commas/, "")
    .replace(/; may be repeated/, "; several are separated by commas")
    .replaceAll(
      /--([a-z])([a-z-]*)/g,
      (_, first: string, rest: string) => `${first.toUpperCase()}${rest.replaceAll("-", " ")}`
    )
