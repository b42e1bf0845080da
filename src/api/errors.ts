/** How a request can fail for good, told apart by what has to happen next. Retries are over when one of these is seen. */
import { Schema } from "effect"

/** No more requests for now: the day's are used up, or the service has us wait longer than a run does. It saves and ends. */
export class BudgetExhausted extends Schema.TaggedError<BudgetExhausted>()("BudgetExhausted", {
  message: Schema.String,
  /** Epoch milliseconds. */
  resumeAt: Schema.Number
}) {}

/** The token is not accepted at all. The run ends. */
export class BadCredentials extends Schema.TaggedError<BadCredentials>()("BadCredentials", {
  kind: Schema.Literals(["private", "oauth"]),
  message: Schema.String
}) {}

/** The token may not enter this location. The location ends. */
export class WrongLocation extends Schema.TaggedError<WrongLocation>()("WrongLocation", {
  message: Schema.String
}) {}

/** The token lacks a scope, or the operation is closed to it. The resource ends. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  message: Schema.String
}) {}

/** The record is not there, or no longer. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  message: Schema.String
}) {}

/** The service understood the request and will not have it: another way of asking may do. */
export class RequestRejected extends Schema.TaggedError<RequestRejected>()("RequestRejected", {
  status: Schema.Number,
  message: Schema.String
}) {}

/** No usable answer after every retry. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  message: Schema.String,
  /** Of everything, for now: nothing at the address ever answered, or the account is paused. */
  later: Schema.Boolean
}) {}

/** One exchange that came to no answer. Never leaves the client: another attempt follows, or Unavailable. */
export class TransportError extends Schema.TaggedError<TransportError>()("TransportError", {
  message: Schema.String,
  /** No connection came about, so the service counted nothing. */
  unsent: Schema.Boolean
}) {}

export type ApiError =
  | BudgetExhausted
  | BadCredentials
  | WrongLocation
  | Forbidden
  | NotFound
  | RequestRejected
  | Unavailable
