/** The errors of a request after all retries, distinguished by how the run continues. */
import { Schema } from "effect"
import { Detail, SingleReason } from "../../values/reason.ts"

/**
 * The requests of the day are used up, the service requires a longer wait than a run allows, or the deadline of the run
 * has passed. The run is paused.
 */
export class BudgetExhausted extends Schema.TaggedError<BudgetExhausted>()("BudgetExhausted", {
  message: Schema.String,
  /** When requests may succeed again, epoch milliseconds. Absent after a deadline. */
  resumeAt: Schema.optionalKey(Schema.Number)
}) {}

/** The service rejects the token, for this request and for a control. The run ends. */
export class BadCredentials extends Schema.TaggedError<BadCredentials>()("BadCredentials", {
  kind: Schema.Literals(["private", "oauth"]),
  ...Detail.fields
}) {}

/** The token has no access to this location. The reading of the location ends. */
export class WrongLocation extends Schema.TaggedError<WrongLocation>()("WrongLocation", {
  ...Detail.fields
}) {}

/** The service refused the request twice, and answers others with the same token. The reading of the resource ends. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  ...Detail.fields
}) {}

/** The service rejects the request, or its response cannot be used. Another strategy may work. */
export class RequestRejected extends Schema.TaggedError<RequestRejected>()("RequestRejected", {
  status: Schema.Number,
  ...Detail.fields,
  /** If no way to read a list works: why each does not. */
  reasons: Schema.optionalKey(Schema.Array(SingleReason)),
  /** The error of the service itself, to be compared with others; see author.ts. Absent for an error of anything else. */
  refusal: Schema.optionalKey(Schema.String),
  /** The response was refused because of its size: a smaller part of the list may fit. */
  isTooLarge: Schema.optionalKey(Schema.Boolean),
  /** The request was not sent, because it was out of date when its turn came. */
  unsent: Schema.optionalKey(Schema.Boolean)
}) {}

/** No attempt had a usable response. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  ...Detail.fields,
  /** Whether all requests fail for now, because the service has never responded in this run or the account is paused. */
  later: Schema.Boolean,
  /** Whether something else answered in place of the service, the last time. */
  isBetween: Schema.optionalKey(Schema.Boolean)
}) {}

/** One attempt had no usable response. Internal to the client, which retries or fails with Unavailable. */
export class TransportError extends Schema.TaggedError<TransportError>()("TransportError", {
  message: Schema.String,
  /** Whether there was no connection, so that the service cannot have counted the request. */
  unsent: Schema.Boolean
}) {}

export type ApiError = BudgetExhausted | BadCredentials | WrongLocation | Forbidden | RequestRejected | Unavailable

/** What a request failed with: for another error, or as a reason of a reading. */
export const detailOf = ({ answered, message }: Detail): Detail => ({
  message,
  ...(answered !== undefined && { answered })
})

/** Why a list could not be read. */
export const reasonsIn = (
  error: Detail & { readonly reasons?: ReadonlyArray<SingleReason> }
): ReadonlyArray<SingleReason> => error.reasons ?? [{ _tag: "RequestFailed", detail: detailOf(error) }]
