/** Why a bundle cannot be written, in words. */
import * as Schema from "effect/Schema"

export class BundleError extends Schema.TaggedError<BundleError>()("BundleError", {
  message: Schema.String,
  /** A command to type, or something to do. */
  next: Schema.String
}) {}
