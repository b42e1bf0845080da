/** Shapes that several resources send. */
import { alias, json, object, ref, text } from "./fields.ts"

/**
 * Who did something: the id of a user or program, or an object that holds it. The id is `<column>_id`; the object stays
 * as JSON beside it.
 */
export const actor = (column: string, description: string) =>
  object(
    {
      id: text(`${description}: id of the user or program`, { column: `${column}_id`, personal: "quasi" }),
      _id: alias("id"),
      userId: alias("id"),
      sourceId: alias("id"),
      source: text(`${description}: kind of user or program`, { column: `${column}_source` }),
      channel: text(`${description}: by which way`, { column: `${column}_channel` })
    },
    { whole: json(`${description}, as sent`, { column, personal: "quasi" }), plain: "id" }
  )

/** A product on a line; the object stays as JSON beside it. */
export const lineProduct = object(
  {
    _id: ref("products", "The product", { column: "product_id" }),
    name: text("Name of the product", { column: "product_name" })
  },
  { whole: json("The product, as sent", { column: "product" }), plain: "_id" }
)
