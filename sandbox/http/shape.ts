/** The valid values of a parameter or member. The router checks requests against it, and openapi.ts describes it. */
export interface Field {
  readonly type: "string" | "number" | "integer" | "boolean" | "array" | "object" | "any"
  readonly required?: boolean
  /** Any value is a 422: other operations accept this member, but not this one. */
  readonly forbidden?: boolean
  readonly choices?: ReadonlyArray<string>
  readonly format?: "email" | "phone" | "date-time" | "date"
  readonly minimum?: number
  readonly maximum?: number
  /** Characters of a text. */
  readonly maxLength?: number
  /** The sandbox accepts it, but the OpenAPI description omits it, as the documents do. */
  readonly undocumented?: boolean
  /** The items of a list. */
  readonly items?: Field
  /** The members of an object; others are ignored. */
  readonly fields?: Shape
  /** The name of a resource: a `$ref` in the OpenAPI description; the checks accept any object. */
  readonly record?: string
  readonly description?: string
}

/** Members by name. A required one that is absent, null or (in a query) empty is a 422. */
export type Shape = Readonly<Record<string, Field>>

export const text: Field = { type: "string" }
export const email: Field = { type: "string", format: "email" }
/** E.164 with its leading plus. */
export const phone: Field = { type: "string", format: "phone" }
/** YYYY-MM-DD. */
export const day: Field = { type: "string", format: "date" }
/** ISO 8601. */
export const timestamp: Field = { type: "string", format: "date-time" }
export const number: Field = { type: "number" }
/** Digits in a query, a number in a body. */
export const integer: Field = { type: "integer" }
export const flag: Field = { type: "boolean" }
export const anything: Field = { type: "any" }
export const forbidden: Field = { type: "any", forbidden: true }

export const choice = (...choices: ReadonlyArray<string>): Field => ({ type: "string", choices })

export const list = (items: Field): Field => ({ type: "array", items })

export const object = (fields: Shape = {}): Field => ({ type: "object", fields })

/** The only type of account (A 2.1); requests with `altId` require it. */
export const altType: Field = { type: "string", choices: ["location"], required: true }

/** A resource, by its name in the OpenAPI description. */
export const record = (name: string): Field => ({ type: "object", record: name })

export const required = (field: Field): Field => ({ ...field, required: true })

export const between = (field: Field, minimum: number, maximum?: number): Field => ({
  ...field,
  minimum,
  ...(maximum !== undefined && { maximum })
})

export const described = (field: Field, description: string): Field => ({ ...field, description })

export const undocumented = (field: Field): Field => ({ ...field, undocumented: true })
