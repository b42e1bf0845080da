/** What a value must be: checked by the router when it is sent, and written into the OpenAPI description. */
export interface Field {
  readonly type: "string" | "number" | "integer" | "boolean" | "array" | "object" | "any"
  readonly required?: boolean
  /** Refused with 422 when it is sent at all: known elsewhere, not accepted here. */
  readonly forbidden?: boolean
  readonly choices?: ReadonlyArray<string>
  readonly format?: "email" | "phone" | "date-time" | "date" | "time" | "uri"
  readonly minimum?: number
  readonly maximum?: number
  /** The greatest length of a text, and the least length of a list. */
  readonly maxLength?: number
  readonly minItems?: number
  /** Accepted, but in no document: left out of the description. */
  readonly undocumented?: boolean
  /** What the items of a list are. */
  readonly items?: Field
  /** The members of an object; others are let through. */
  readonly fields?: Shape
  /** The name of a resource: a `$ref` in the description, an object to the checks. */
  readonly record?: string
  readonly description?: string
}

/** Members by name. One that is absent, null or (in a query) empty is missing: 422 where it is required. */
export type Shape = Readonly<Record<string, Field>>

export const text: Field = { type: "string" }
export const email: Field = { type: "string", format: "email" }
/** E.164 with its leading plus. */
export const phone: Field = { type: "string", format: "phone" }
/** ISO 8601. */
export const timestamp: Field = { type: "string", format: "date-time" }
export const number: Field = { type: "number" }
/** In a query, digits; in a body, a number. */
export const integer: Field = { type: "integer" }
export const flag: Field = { type: "boolean" }
export const anything: Field = { type: "any" }
export const forbidden: Field = { type: "any", forbidden: true }

export const choice = (...choices: ReadonlyArray<string>): Field => ({ type: "string", choices })

export const list = (items: Field, minItems = 0): Field => ({ type: "array", items, ...(minItems > 0 && { minItems }) })

export const object = (fields: Shape = {}): Field => ({ type: "object", fields })

/** The only type of account there is (A 2.1); goes with `altId`. */
export const altType: Field = { type: "string", choices: ["location"], required: true }

/** A whole resource, by its name in the description. */
export const record = (name: string): Field => ({ type: "object", record: name })

export const required = (field: Field): Field => ({ ...field, required: true })

export const between = (field: Field, minimum: number, maximum?: number): Field => ({
  ...field,
  minimum,
  ...(maximum !== undefined && { maximum })
})

export const described = (field: Field, description: string): Field => ({ ...field, description })

export const undocumented = (field: Field): Field => ({ ...field, undocumented: true })
