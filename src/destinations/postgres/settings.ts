/** A PostgreSQL database: the tables in one schema, the models in another. */
import type { DestinationKind, DestinationPlace } from "../../settings/destination.ts"
import { type ItemOf, type Secret, pattern, setting, text } from "../../values/setting.ts"

/** Why an address cannot be read: what follows a % is the code of a character. */
export const percentProblem = (address: string): string | undefined => {
  try {
    if (/^\w+:\/\//.test(address)) decodeURIComponent(address)
    return undefined
  } catch {
    return "a % in its address begins no code of a character, such as %40; write a % of the password as %25"
  }
}

const settings = {
  postgres: setting(text, {
    secret: true,
    alternative: true,
    description:
      "Instead of a folder, a PostgreSQL database: its address, or a reference to it. See docs/destinations.md.",
    example: "env:CRM_DATABASE_URL"
  }),
  schema: setting(pattern("up to 50 lower-case letters, digits and underscores", /^[a-z_][a-z0-9_]{0,49}$/), {
    alternative: true,
    description: "Schema of that database, by default crm; the models are in the schema of this name with _bi.",
    example: "crm"
  })
} as const

export interface PostgresDestination extends DestinationPlace {
  readonly kind: "postgres"
  /** Reads the reference when it is needed, because it may run a command. */
  readonly url: Secret
  readonly schema: string
}

export const postgres = {
  gets: "tables",
  cannot: { formats: "a database has tables instead of files" },
  settings,
  named: "postgres",
  unused: "only a PostgreSQL database has schemas",
  isNamedBy: ({ postgres }) => postgres !== undefined,
  read: ({ postgres, schema = "crm" }, { name, secretOf }) => ({
    kind: "postgres",
    place: `postgres://${name}/${schema}`,
    secrets: [],
    url: secretOf("postgres", postgres!),
    schema
  }),
  problems: ({ postgres }, textOf) => {
    const why = percentProblem(textOf("postgres", postgres!) ?? "")
    return why === undefined ? [] : [{ key: "postgres", value: "set", why }]
  },
  paths: () => []
} as const satisfies DestinationKind<ItemOf<typeof settings>, PostgresDestination>
